/// What a download brought.
///
/// ```swift
/// let report = try await store.download()
/// for query in report.queries { print(query.name, query.inserted, query.updated, query.removed) }
/// ```
public struct DownloadReport: Hashable, Sendable {
    /// How a query was downloaded.
    public enum Method: String, Hashable, Sendable {
        /// For the first time.
        case first
        /// What changed, by the service's delta link.
        case delta
        /// Everything again, since the service offers no delta link or no longer knows ours.
        case refresh
    }

    /// What one query brought.
    public struct Query: Hashable, Sendable {
        /// The query's name.
        public var name: String
        /// How it was downloaded.
        public var method: Method
        /// Rows that came over the wire, removals included.
        public var received: Int
        /// Rows that are new here.
        public var inserted: Int
        /// Rows that were changed here.
        public var updated: Int
        /// Rows that went.
        public var removed: Int
        /// Whether what it brought is seen. A first download is not complete where a parameter of its query got another value
        /// meanwhile (``OfflineStore/Queries/setParameter(_:to:keeping:)``): the next one begins again.
        public var isComplete = true
    }

    /// By query, in the order of the store.
    public var queries: [Query] = []
    /// The values of the store's rows that the service sent and that could not be read, those of earlier downloads included.
    public var unreadable: [UnreadableProperty] = []

    /// Whether what all of them brought is seen.
    public var isComplete: Bool { queries.allSatisfy(\.isComplete) }
    /// Rows that came over the wire in all.
    public var received: Int { queries.reduce(0) { $0 + $1.received } }
    /// Rows that are new here in all.
    public var inserted: Int { queries.reduce(0) { $0 + $1.inserted } }
    /// Rows that were changed here in all.
    public var updated: Int { queries.reduce(0) { $0 + $1.updated } }
    /// Rows that went in all.
    public var removed: Int { queries.reduce(0) { $0 + $1.removed } }
}
