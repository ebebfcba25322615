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
    /// Why the pending changes are held; `nil` if the next upload sends them (``OfflineStore/queueHold()``).
    public let hold: QueueHold?
    /// Changes in the error archive.
    public let failed: [QueuedRequest]
    /// Values that the service sent and that could not be read: the properties are not loaded.
    public let unreadable: [UnreadableProperty]
    /// What is to be known of the files, one sentence each: a log that was kept aside, an older format.
    public let notes: [String]
}

extension OfflineStore {
    /// What the store holds and what waits in it.
    ///
    /// - Throws: `StoreError`.
    public func status() async throws -> StoreStatus {
        let (queries, requests, unreadable) = try await database.read { [mapping, queue] database in
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
        let hold = try await queueHold()
        return StoreStatus(
            serviceRoot: serviceRoot, queries: queries,
            pending: requests.filter { $0.state == .pending || $0.state == .sending }, hold: hold,
            failed: requests.filter { $0.state == .refused || $0.state == .inDoubt }, unreadable: unreadable,
            notes: StoreFiles.notes(in: directory))
    }

    /// The newest events of the store, newest first.
    ///
    /// - Parameter count: how many at most, 1 or more.
    public func events(newest count: Int = 100) async throws -> [SyncEvent] {
        try await database.read { try Events.newest(count, in: $0) }
    }

    /// Puts requests of the error archive back into the queue; the next upload sends them as new requests.
    ///
    /// After a conflict, the retried change is based on the version that the service reported.
    /// - Parameter ids: the requests; all archived ones when empty.
    /// - Returns: how many were put back.
    /// - Throws: ``OfflineError/unknown(kind:name:)`` for a request that is not in the archive;
    ///   ``OfflineError/withoutPlace(request:)`` for a given one that the service's model has no place for.
    @discardableResult
    public func retry(_ ids: [Int64] = []) async throws -> Int {
        let instant = options.environment.instant.description
        return try await database.write { [queue, mapping] database in
            let before = BeforeImages(snapshots: queue.snapshots)
            let chosen = try queue.completingChangeSets(of: Self.archived(ids, queue, in: database), in: database)
                .filter { $0.state == .refused || $0.state == .inDoubt }
                .filter { request in
                    guard request.isWithoutPlace else { return true }
                    if ids.contains(request.id) { throw OfflineError.withoutPlace(request: request.id) }
                    return false
                }
            for request in chosen {
                // On top of the newest version known, which the failure or a later download brought; a stream on top of the
                // one that the failure told of.
                if request.failure?.theirs != nil, request.kind != .create, request.kind != .stream,
                    let table = mapping.tables[request.entitySet],
                    let theirs = try before.image(
                        set: request.entitySet, rowID: request.rowID, shape: table.shape, in: database)?.entity
                {
                    try queue.setETag(theirs.control.etag, of: request.id, in: database)
                    let base = request.kind == .delete ? theirs : theirs.only(where: { request.changes[$0] != nil })
                    try queue.rewrite(
                        request.id, key: ODataEntity(shape: base.shape, key: request.key), changes: request.changes,
                        base: base, in: database)
                }
                try queue.renew(request.id, at: instant, in: database)
            }
            return chosen.count
        }
    }

    /// Treats requests in doubt as having acted: they leave the archive, and what waits for them goes on.
    ///
    /// An entity that was created so is brought by the next download under the key that the service gave it.
    /// Where other changes wait for that key, it must be given.
    /// - Parameters:
    ///   - ids: the requests; all that are in doubt when empty.
    ///   - keys: by request, the key under which the service has the created entity.
    /// - Returns: how many were accepted.
    /// - Throws: ``OfflineError/unknown(kind:name:)`` for a request that is not in doubt;
    ///   ``OfflineError/keyNeeded(request:)``.
    @discardableResult
    public func accept(_ ids: [Int64] = [], keys: [Int64: EntityKey] = [:]) async throws -> Int {
        let outcomes = UploadOutcomes(mapping: mapping, environment: options.environment)
        return try await database.write { [queue, incarnation] database in
            let chosen = try Self.archived(ids, queue, in: database)
            if !ids.isEmpty, let refused = chosen.first(where: { $0.state != .inDoubt }) {
                throw OfflineError.unknown(kind: "request in doubt", name: String(refused.id))
            }
            let doubtful = chosen.filter { $0.state == .inDoubt }
            for request in doubtful {
                // One accepted before may have given this one another key.
                guard let current = try queue.request(request.id, in: database) else { continue }
                try outcomes.accept(inDoubt: current, key: keys[request.id], in: database)
            }
            try incarnation.settle(in: database)
            return doubtful.count
        }
    }

    /// Gives archived changes up: each row becomes what the service has, all its other queued changes go too, and
    /// so do changes of other rows that waited for them, such as the lines of an order that will not be; a row that waited
    /// to get a foreign key which they give up does not get that, and keeps its other changes. What was to be
    /// made together is given up together: the service has refused all of it, or would be asked for a part.
    ///
    /// - Parameter ids: the requests; all archived ones when empty.
    /// - Returns: how many rows were restored.
    /// - Throws: ``OfflineError/unknown(kind:name:)`` for a request that is not in the archive.
    @discardableResult
    public func discard(_ ids: [Int64] = []) async throws -> Int {
        try await database.write { [self] in try discard(ids, withAllOthers: false, in: $0) }
    }

    /// The same within a transaction.
    ///
    /// - Parameter withAllOthers: whether all archived changes are given up with the chosen ones.
    @discardableResult
    func discard(_ ids: [Int64], withAllOthers: Bool, in database: Database) throws -> Int {
        var archived = try Self.archived(ids, queue, in: database)
        if withAllOthers { archived = try Self.archived([], queue, in: database) }
        // What was to be done together is given up together.
        let chosen = try queue.completingChangeSets(of: archived, in: database)
        let undo = Undo(mapping: mapping, queue: queue, environment: options.environment)
        var restored = 0
        func note(_ request: QueuedRequest) throws {
            restored += 1
            guard request.isOfRow else { return }
            try Events.add(
                "discarded",
                "\(request.kind.rawValue) "
                    + KeyURL.url(set: request.entitySet, key: request.key, mapping).description,
                environment: options.environment,
                in: database)
        }
        // A row may have changes that were made together with others: those go too.
        let others = try WholeChangeSets(cancelling: Cancelling(undo: undo)).keep(takingOthers: true, in: database) {
            for request in chosen {
                // A row may have several archived requests: the first one's undo takes them all.
                guard try queue.request(request.id, in: database) != nil else { continue }
                if request.isOfRow {
                    try Self.checkUnsent(request, queue, in: database)
                    try undo.undo(set: request.entitySet, rowID: request.rowID, in: database)
                } else {
                    try undo.undoBesideRows(request, in: database)
                }
                try note(request)
            }
        }
        for request in others { try note(request) }
        try incarnation.settle(in: database)
        return restored
    }

    private static func checkUnsent(_ request: QueuedRequest, _ queue: QueueTable, in database: Database) throws {
        for other in try queue.requests(set: request.entitySet, rowID: request.rowID, in: database)
        where other.state == .sending {
            throw OfflineError.alreadySent(request: other.id)
        }
    }

    private static func archived(
        _ ids: [Int64], _ queue: QueueTable, in database: Database
    ) throws -> [QueuedRequest] {
        let all = try queue.requests([.refused, .inDoubt], in: database)
        guard !ids.isEmpty else { return all }
        return try ids.map { id in
            guard let request = all.first(where: { $0.id == id }) else {
                throw OfflineError.unknown(kind: "refused request", name: String(id))
            }
            return request
        }
    }
}
