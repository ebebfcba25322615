import GRDB
import ODataModel
import ODataSQL
import ODataService

/// What a store holds and what waits in it.
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
        /// How many rows of the entity set that it reads the query has brought here. Rows that were created here, and what the
        /// query expands, do not count.
        public let rows: Int
        /// Whether its rows stay when another user takes the store over (``DefiningQuery/isShared``).
        public let isShared: Bool
    }

    /// The service's root.
    public let serviceRoot: String
    /// The defining queries.
    public let queries: [Query]
    /// Changes that wait to be sent, those on their way included.
    public let pending: [QueuedRequest]
    /// Changes that the app has not submitted yet (``ChangeOptions/isHeld``).
    public let held: [QueuedRequest]
    /// Why the pending changes are held; `nil` if the next upload sends them (``OfflineStore/Changes/hold()``).
    public let hold: QueueHold?
    /// Changes in the error archive.
    public let failed: [QueuedRequest]
    /// Values that the service sent and that could not be read: the properties are not loaded.
    public let unreadable: [UnreadableProperty]
    /// What is to be known of the files, one sentence each: a log that was kept aside, an older format.
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
    /// - Parameter count: how many at most, 1 or more.
    public func events(newest count: Int = 100) async throws -> [SyncEvent] {
        try await store.database.read { try Events.newest(count, in: $0) }
    }
}
