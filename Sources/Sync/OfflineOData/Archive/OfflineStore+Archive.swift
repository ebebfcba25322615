import GRDB
import ODataModel
import ODataSQL

extension OfflineStore.Changes {
    /// Puts requests of the error archive back into the queue; the next upload sends them as new requests.
    ///
    /// After a conflict, the retried change is based on the version that the service reported.
    /// - Parameter ids: the requests; all archived ones when empty.
    /// - Returns: how many were put back.
    /// - Throws: ``OfflineError/unknown(kind:name:)`` for a request that is not in the archive;
    ///   ``OfflineError/withoutPlace(request:)`` for a given one that the service's model has no place for.
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
        let outcomes = UploadOutcomes(mapping: store.mapping, environment: store.environment)
        return try await store.database.write { [queue = store.queue, incarnation = store.incarnation] database in
            let chosen = try OfflineStore.archived(ids, queue, in: database)
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
        try await store.database.write { [store] in try store.discard(ids, withAllOthers: false, in: $0) }
    }
}

extension QueueTable {
    /// Puts a request of the error archive back into the queue: on top of the newest version known, which the failure or a later
    /// download brought; a stream on top of the one that the failure told of.
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
    /// Gives archived changes up within a transaction.
    ///
    /// - Parameter withAllOthers: whether all archived changes are given up with the chosen ones.
    @discardableResult
    func discard(_ ids: [Int64], withAllOthers: Bool, in database: Database) throws -> Int {
        var archived = try Self.archived(ids, queue, in: database)
        if withAllOthers { archived = try Self.archived([], queue, in: database) }
        // What was to be done together is given up together.
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
