import GRDB
import ODataModel
import ODataSQL

extension OfflineStore.Changes {
    /// Puts requests of the error archive back into the queue; the next upload sends them as new requests.
    ///
    /// After a conflict, the retried change is based on the version that the service reported.
    /// - Parameter ids: the requests; if empty, all archived ones.
    /// - Returns: the number of requests put back.
    /// - Throws: ``OfflineError/unknown(kind:name:)`` for a request that is not in the archive;
    ///   ``OfflineError/withoutPlace(request:)`` for a given request without a place in the service's model.
    @discardableResult
    public func retry(_ ids: [Int64] = []) async throws -> Int {
        let instant = store.environment.instant.description
        return try await store.database.write { [queue = store.queue, mapping = store.mapping] database in
            let before = BeforeImages(snapshots: queue.snapshots)
            let chosen = try queue.completingChangeSets(
                of: OfflineStore.archived(ids, queue, in: database), in: database
            )
            .filter { QueuedRequest.State.ofArchive.contains($0.state) }
            .filter { request in
                guard request.isWithoutPlace else { return true }
                if ids.contains(request.id) { throw OfflineError.withoutPlace(request: request.id) }
                return false
            }
            for request in chosen {
                try queue.putBack(request, before: before, mapping: mapping, at: instant, in: database)
            }
            return chosen.count
        }
    }

    /// Accepts requests with an unknown outcome as successful: they leave the archive, and requests that depend
    /// on them continue.
    ///
    /// The next download brings an entity created in this way under the key that the service assigned. If other
    /// changes wait for that key, it must be given.
    /// - Parameters:
    ///   - ids: the requests; if empty, all with an unknown outcome.
    ///   - keys: the key of the created entity at the service, by request.
    /// - Returns: the number of accepted requests.
    /// - Throws: ``OfflineError/unknown(kind:name:)`` for a request without an unknown outcome;
    ///   ``OfflineError/keyNeeded(request:)``.
    @discardableResult
    public func accept(_ ids: [Int64] = [], keys: [Int64: EntityKey] = [:]) async throws -> Int {
        let outcomes = UploadOutcomes(mapping: store.mapping, environment: store.environment)
        return try await store.database.write { [queue = store.queue, incarnation = store.incarnation] database in
            let chosen = try OfflineStore.archived(ids, queue, in: database)
            if !ids.isEmpty, let refused = chosen.first(where: { $0.state != .inDoubt }) {
                throw OfflineError.unknown(kind: "request in doubt", name: String(refused.id))
            }
            let doubtful = chosen.filter { $0.state == .inDoubt }
            for request in doubtful {
                // An earlier request may have given this one another key.
                guard let current = try queue.request(request.id, in: database) else { continue }
                try outcomes.accept(inDoubt: current, key: keys[request.id], in: database)
            }
            try incarnation.settle(in: database)
            return doubtful.count
        }
    }

    /// Discards archived changes. Each row gets the server version, and its other queued changes are removed too.
    /// Changes of other rows that depend on them are also removed, such as the lines of an order that will not
    /// exist. A row that waits for a foreign key which a discarded change would have released does not get it,
    /// but keeps its other changes. The changes of a change set are discarded together: the service has refused
    /// all of them, or would be asked for only a part.
    ///
    /// - Parameter ids: the requests; if empty, all archived ones.
    /// - Returns: the number of restored rows.
    /// - Throws: ``OfflineError/unknown(kind:name:)`` for a request that is not in the archive.
    @discardableResult
    public func discard(_ ids: [Int64] = []) async throws -> Int {
        try await store.database.write { [store] in try store.discard(ids, withAllOthers: false, in: $0) }
    }
}

extension QueueTable {
    /// Puts a request of the error archive back into the queue.
    ///
    /// The request goes on top of the newest known version, from the failure or a later download. A stream goes on
    /// top of the version from the failure.
    func putBack(
        _ request: QueuedRequest, before: BeforeImages, mapping: StorageMapping, at instant: String,
        in database: Database
    ) throws {
        if request.failure?.theirs != nil, request.kind != .create, request.kind != .stream,
            let table = mapping.tables[request.entitySet],
            let theirs = try before.image(
                set: request.entitySet, rowID: request.rowID, shape: table.shape, in: database)?.entity
        {
            try setETag(theirs.control.etag, of: request.id, in: database)
            let base = request.kind == .delete ? theirs : theirs.only(where: { request.changes[$0] != nil })
            try rewrite(
                request.id, key: ODataEntity(shape: base.shape, key: request.key), changes: request.changes,
                base: base, in: database)
        }
        try renew(request.id, at: instant, in: database)
    }
}

extension OfflineStore {
    /// Discards archived changes within a transaction.
    ///
    /// - Parameter withAllOthers: whether all archived changes are discarded with the chosen ones.
    @discardableResult
    func discard(_ ids: [Int64], withAllOthers: Bool, in database: Database) throws -> Int {
        var archived = try Self.archived(ids, queue, in: database)
        if withAllOthers { archived = try Self.archived([], queue, in: database) }
        // The changes of a change set are discarded together.
        let chosen = try queue.completingChangeSets(of: archived, in: database)
        let undo = Undo(mapping: mapping, queue: queue, environment: environment)
        var restored = 0
        func note(_ request: QueuedRequest) throws {
            restored += 1
            guard request.isOfRow else { return }
            try Events.add(
                "discarded",
                "\(request.kind.rawValue) "
                    + KeyURL.url(set: request.entitySet, key: request.key, mapping).description,
                environment: environment,
                in: database)
        }
        // A row may have changes in other change sets: those are discarded too.
        let others = try WholeChangeSets(cancelling: Cancelling(undo: undo)).keep(takingOthers: true, in: database) {
            for request in chosen {
                // A row may have several archived requests: the undo of the first one includes them all.
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

    fileprivate static func archived(
        _ ids: [Int64], _ queue: QueueTable, in database: Database
    ) throws -> [QueuedRequest] {
        let all = try queue.requests(QueuedRequest.State.ofArchive, in: database)
        guard !ids.isEmpty else { return all }
        return try ids.map { id in
            guard let request = all.first(where: { $0.id == id }) else {
                throw OfflineError.unknown(kind: "refused request", name: String(id))
            }
            return request
        }
    }
}
