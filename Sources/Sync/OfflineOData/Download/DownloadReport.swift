/// The result of a download.
///
/// ```swift
/// let report = try await store.download()
/// for query in report.queries { print(query.name, query.inserted, query.updated, query.removed) }
/// ```
public struct DownloadReport: Hashable, Sendable {
    /// The way in which a query was downloaded.
    public enum Method: String, Hashable, Sendable {
        /// A first download.
        case first
        /// A delta: the changes since the service's delta link.
        case delta
        /// A refresh: a full read, since the service offers no delta link or does not accept the stored one.
        case refresh
    }

    /// The result of one query.
    public struct Query: Hashable, Sendable {
        /// The query's name.
        public var name: String
        /// The way in which it was downloaded.
        public var method: Method
        /// The number of rows in the responses, including removals.
        public var received: Int
        /// The number of rows that are new in the store.
        public var inserted: Int
        /// The number of rows that were changed in the store.
        public var updated: Int
        /// The number of rows that were removed.
        public var removed: Int
        /// Whether its rows are visible. A first download is incomplete if a parameter of its query was changed
        /// meanwhile (``OfflineStore/Queries/setParameter(_:to:keeping:)``). The next download then begins again.
        public var isComplete = true
    }

    /// The results by query, in the order of the store.
    public var queries: [Query] = []
    /// The unreadable values in rows of the store, including those of earlier downloads.
    public var unreadable: [UnreadableProperty] = []

    /// Whether the rows of all queries are visible.
    public var isComplete: Bool { queries.allSatisfy(\.isComplete) }
    /// The total number of rows in the responses.
    public var received: Int { queries.reduce(0) { $0 + $1.received } }
    /// The total number of rows that are new in the store.
    public var inserted: Int { queries.reduce(0) { $0 + $1.inserted } }
    /// The total number of rows that were changed in the store.
    public var updated: Int { queries.reduce(0) { $0 + $1.updated } }
    /// The total number of rows that were removed.
    public var removed: Int { queries.reduce(0) { $0 + $1.removed } }
}
