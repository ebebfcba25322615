import GRDB
import ODataModel
import ODataService
import ODataStore

extension OfflineODataProvider {
    /// Takes single requests back that were not sent, or that are in the error archive. The entity shows its other
    /// changes as before; with the request that creates an entity, all that was made for it goes.
    ///
    /// What was made together (``transaction(options:_:)``, a change set of a batch, a deep insert or update) is taken
    /// back together or not at all.
    ///
    /// - Parameters:
    ///   - ids: the numbers of requests, as in ``StoreStatus``.
    ///   - withAllOthers: whether the other requests of their change sets are taken back too.
    /// - Returns: how many were taken back, others included; fewer where one went with another.
    /// - Throws: ``OfflineError/inChangeSet(name:others:)`` where others of a change set would stay, and
    ///   ``OfflineError/alreadySent(request:)``, and then none is taken back;
    ///   ``OfflineError/unknown(kind:name:)`` for a number that is not in the queue.
    @discardableResult
    public func cancel(_ ids: [Int64], withAllOthers: Bool = false) async throws -> Int {
        try await database.write { [self] in try cancel(ids, withAllOthers: withAllOthers, in: $0) }
    }

    /// The same within a transaction.
    @discardableResult
    func cancel(_ ids: [Int64], withAllOthers: Bool, in database: Database) throws -> Int {
        for id in ids where try queue.request(id, in: database) == nil {
            throw OfflineError.unknown(kind: "queued request", name: String(id))
        }
        let environment = options.environment
        let cancelling = Cancelling(mapping: mapping, queue: queue, environment: environment)
        var cancelled: [QueuedRequest] = []
        let others = try WholeChangeSets(cancelling: cancelling).keep(takingOthers: withAllOthers, in: database) {
            // The newest first, so that each one leaves what the ones before it made.
            for id in Set(ids).sorted(by: >) {
                guard let request = try queue.request(id, in: database) else { continue }
                try cancelling.cancel(request, in: database)
                cancelled.append(request)
            }
        }
        cancelled += others
        for request in cancelled {
            try Events.add("cancelled", "\(request.kind.rawValue) \(request.entityText)", environment, in: database)
        }
        return cancelled.count
    }
}

/// Takes one request out of the queue, and its effect out of the row.
struct Cancelling {
    let mapping: StorageMapping
    let queue: QueueTable
    let environment: Environment

    func cancel(_ request: QueuedRequest, in database: Database) throws {
        guard request.state != .sending else { throw OfflineError.alreadySent(request: request.id) }
        guard request.isOfRow else {
            return try Undo(
                mapping: mapping, queue: queue, before: BeforeImages(snapshots: queue.snapshots)
            ).undoBesideRows(request, in: database)
        }
        guard let table = mapping.tables[request.entitySet] else { return }
        let before = BeforeImages(snapshots: queue.snapshots)
        let rest = try queue.requests(set: request.entitySet, rowID: request.rowID, in: database)
            .filter { $0.id != request.id }
        if request.kind == .create || rest.isEmpty {
            if let sent = rest.first(where: { $0.state == .sending }) {
                throw OfflineError.alreadySent(request: sent.id)
            }
            // Its relations are changes of their own, unless there is nothing that they could be of.
            return try Undo(mapping: mapping, queue: queue, before: before).undo(
                set: request.entitySet, rowID: request.rowID, keepsRelations: request.kind != .create, in: database)
        }
        let image = try before.image(
            set: request.entitySet, rowID: request.rowID, shape: table.shape, in: database)
        let loader = try BulkLoader(set: table.set, mapping: mapping, in: database)
        try queue.remove(request.id, in: database)
        try queue.replaceDependency(on: request.id, by: nil, in: database)
        if let next = rest.first(where: { $0.id > request.id && $0.isAbout(sameVersionAs: request) }), next.etag == nil,
            let etag = request.etag
        {
            // Now this is the first change of the version that the service has.
            try queue.setETag(etag, of: next.id, in: database)
        }
        // Who has read the row before sees by its ETag that it is another.
        let etag = "W/\"local-\(environment.newGuid())\""
        if request.kind == .stream {
            // Others may wait to be sent before and after it.
            guard let stream = request.detail.stream else { return }
            return try StreamTable.remove(stream, in: database)
        }
        guard request.kind == .update else {
            guard var entity = request.base else { return }
            entity.control.etag = etag
            try loader.restore(
                request.rowID, entity, owner: image?.owner ?? 0, parent: request.detail.parentRow)
            return try DeletionShelf(mapping: mapping).restore(
                set: request.entitySet, rowID: request.rowID, in: database)
        }
        var patch = Entity(shape: request.changes.shape)
        patch.control.etag = etag
        for property in request.changes.shape.properties where request.changes[property.name] != nil {
            let name = property.name
            guard !rest.contains(where: { $0.id > request.id && $0.changes[name] != nil }) else { continue }
            patch[name] =
                rest.last { $0.id < request.id && $0.changes[name] != nil }?.changes[name]
                ?? image?.entity?[name] ?? request.base?[name]
        }
        guard try Rows.owner(table, rowID: request.rowID, in: database) != nil else { return }
        try loader.update(request.rowID, patch)
    }
}
