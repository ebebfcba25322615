import GRDB
import ODataModel
import ODataSQL
import ODataService

/// The contents of a store: its queries, its queue and its error archive.
///
/// ```swift
/// let status = try await store.observe.status()
/// for query in status.queries { print(query.name, query.rows, query.isLoaded) }
/// print(status.pending.count, "changes wait,", status.failed.count, "were refused")
/// ```
public struct StoreStatus: Sendable {
    /// One defining query.
    public struct Query: Sendable {
        /// The name.
        public let name: String
        /// The query.
        public let text: String
        /// The entity set it reads.
        public let entitySet: String
        /// Whether its first download is complete.
        public let isLoaded: Bool
        /// Whether the service gave a delta link for it.
        public let hasDeltaLink: Bool
        /// The time of the last download; `nil` before the first one.
        public let lastDownload: ODataDateTimeOffset?
        /// The number of rows that the query has brought of its entity set. Local creations and expanded entities
        /// do not count.
        public let rows: Int
        /// Whether its rows stay after a change of the user (``DefiningQuery/isShared``).
        public let isShared: Bool
    }

    /// The service's root.
    public let serviceRoot: String
    /// The defining queries.
    public let queries: [Query]
    /// The pending changes, including sent ones.
    public let pending: [QueuedRequest]
    /// Changes that the app has not submitted yet (``ChangeOptions/isHeld``).
    public let held: [QueuedRequest]
    /// The reason for which pending changes are held; `nil` if the next upload sends them
    /// (``OfflineStore/Changes/hold()``).
    public let hold: QueueHold?
    /// Changes in the error archive.
    public let failed: [QueuedRequest]
    /// The unreadable values that the service sent. Their properties are not loaded.
    public let unreadable: [UnreadableProperty]
    /// Notes about the files, one sentence each: a log that was set aside, or an older format.
    public let notes: [String]
}

extension OfflineStore.Observation {
    /// Returns the contents of the store: its queries, its queue and its error archive.
    ///
    /// - Throws: `StoreError`.
    public func status() async throws -> StoreStatus {
        let (queries, requests, unreadable) = try await store.database.read {
            [mapping = store.mapping, queue = store.queue] database in
            let stored = try QueryTable.all(in: database)
            let counts = try QueryCounts(of: stored, mapping, in: database)
            let queries = stored.filter { $0.parent == nil }.map { query in
                StoreStatus.Query(
                    name: query.name, text: query.text, entitySet: query.entitySet, isLoaded: query.isLoaded,
                    hasDeltaLink: query.deltaLink != nil,
                    lastDownload: query.lastDownload.flatMap(ODataDateTimeOffset.init),
                    rows: counts.rows(of: query), isShared: query.isShared)
            }
            return (queries, try queue.requests(in: database), try UnreadableValues.all(mapping, in: database))
        }
        let hold = try await store.changes.hold()
        return StoreStatus(
            serviceRoot: store.serviceRoot, queries: queries,
            pending: requests.filter { QueuedRequest.State.ofQueue.contains($0.state) },
            held: requests.filter { $0.state == .held }, hold: hold,
            failed: requests.filter { QueuedRequest.State.ofArchive.contains($0.state) }, unreadable: unreadable,
            notes: StoreFiles.notes(in: store.directory))
    }

    /// Returns the newest events of the store, newest first.
    ///
    /// - Parameter count: the largest number of events, 1 or more.
    public func events(newest count: Int = 100) async throws -> [SyncEvent] {
        try await store.database.read { try Events.newest(count, in: $0) }
    }
}
