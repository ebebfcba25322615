import ServerState

/// The comparison of a configuration with the active one, for `outpost-server plan`.
public struct ConfigurationPlan: Hashable, Sendable, Codable {
    /// A query whose feed is made, replaced or dropped.
    public struct QueryChange: Hashable, Sendable, Codable {
        /// `DESTINATION/QUERY`.
        public var name: String
        /// `added`, `removed` or `changed`.
        public var change: String
        /// The rows of the present feeds.
        public var rows: Int64
        /// The rows that are read from the back end per hour; 0 if they depend on the users.
        public var readsPerHour: Int64
    }

    /// The changed keys, as `destinations.D.url`.
    public var changedKeys: [String]
    /// The queries whose feeds change.
    public var queries: [QueryChange]
    /// The number of registrations that are affected.
    public var devices: Int
    /// Findings about the cost.
    public var remarks: [String]

    /// Whether nothing changes.
    public var isEmpty: Bool { changedKeys.isEmpty }

    /// Compares two configurations.
    ///
    /// - Parameters:
    ///   - old: The active configuration; `nil` for none.
    ///   - new: The other one.
    ///   - feeds: The feeds of the application.
    ///   - devices: The number of registrations.
    public init(
        from old: ApplicationConfiguration?, to new: ApplicationConfiguration, feeds: [FeedRecord], devices: Int
    ) {
        let former = old ?? ApplicationConfiguration()
        changedKeys = Self.changedKeys(former, new)
        var (queries, remarks): ([QueryChange], [String]) = ([], [])
        let names = Set(former.destinations.keys).union(new.destinations.keys)
        for destination in names.sorted() {
            let (before, after) = (former.destinations[destination], new.destinations[destination])
            let all = Set((before?.queries.keys).map(Array.init) ?? []).union(
                (after?.queries.keys).map(Array.init) ?? [])
            for query in all.sorted() {
                let (was, becomes) = (before?.queries[query], after?.queries[query])
                guard was != becomes || before?.url != after?.url else { continue }
                let rows = feeds.filter { $0.destination == destination && $0.query == query }
                    .reduce(0) { $0 + $1.rowCount }
                var reads: Int64 = 0
                if let becomes, becomes.visibility == .shared, becomes.tracking != "never" {
                    let seconds = max(1, becomes.refreshInterval.components.seconds)
                    reads = rows * 3600 / seconds
                }
                if let becomes, becomes.visibility == .user {
                    remarks.append(
                        "\(destination)/\(query) reads the back end for each user. With visibility partitioned, one "
                            + "read serves all users of a part.")
                }
                queries.append(
                    QueryChange(
                        name: "\(destination)/\(query)",
                        change: was == nil ? "added" : becomes == nil ? "removed" : "changed", rows: rows,
                        readsPerHour: reads))
            }
        }
        self.queries = queries
        self.remarks = remarks
        self.devices = changedKeys.isEmpty ? 0 : devices
    }

    private static func changedKeys(
        _ old: ApplicationConfiguration, _ new: ApplicationConfiguration
    ) -> [String] {
        let (before, after) = (old.leaves, new.leaves)
        return Set(before.keys).union(after.keys).filter { before[$0] != after[$0] }.sorted()
    }
}
