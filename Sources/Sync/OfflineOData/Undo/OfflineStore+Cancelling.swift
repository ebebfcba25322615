import GRDB
import ODataModel
import ODataSQL
import ODataService

extension OfflineStore.Changes {
    /// Cancels single requests that were not sent, or that are in the error archive. The entity keeps its other
    /// changes. With the request that creates an entity, all changes that need the entity are cancelled. With a
    /// request that releases a foreign key, changes that give the key to another entity are cancelled.
    ///
    /// The changes of a change set (``transaction(options:_:)``, a change set of a batch, a deep insert or
    /// update) are cancelled together or not at all.
    ///
    /// - Parameters:
    ///   - ids: the numbers of requests, as in ``StoreStatus``.
    ///   - withAllOthers: whether the other requests of their change sets are cancelled too.
    /// - Returns: the number of cancelled requests, including others of change sets. A request that was cancelled
    ///   as a dependent does not count.
    /// - Throws: ``OfflineError/inChangeSet(name:others:)`` if other requests of a change set would stay, and
    ///   ``OfflineError/alreadySent(request:)``. Nothing is cancelled then. ``OfflineError/unknown(kind:name:)``
    ///   for a number that is not in the queue.
    @discardableResult
    public func cancel(_ ids: [Int64], withAllOthers: Bool = false) async throws -> Int {
        try await store.database.write { [store] in try store.cancel(ids, withAllOthers: withAllOthers, in: $0) }
    }
}

extension OfflineStore {
    /// Does the same within a transaction.
    @discardableResult
    func cancel(_ ids: [Int64], withAllOthers: Bool, in database: Database) throws -> Int {
        for id in ids where try queue.request(id, in: database) == nil {
            throw OfflineError.unknown(kind: "queued request", name: String(id))
        }
        let environment = environment
        let cancelling = Cancelling(mapping: mapping, queue: queue, environment: environment)
        var cancelled: [QueuedRequest] = []
        let others = try WholeChangeSets(cancelling: cancelling).keep(takingOthers: withAllOthers, in: database) {
            // The newest first, so that each one leaves the result of the ones before it.
            for id in Set(ids).sorted(by: >) {
                guard let request = try queue.request(id, in: database) else { continue }
                try cancelling.cancel(request, in: database)
                cancelled.append(request)
            }
        }
        cancelled += others
        for request in cancelled {
            try Events.add(
                "cancelled", "\(request.kind.rawValue) \(request.entityText)", environment: environment, in: database)
        }
        try incarnation.settle(in: database)
        return cancelled.count
    }
}

/// Removes one request from the queue, and its effect from the row.
struct Cancelling {
    private let undo: Undo

    var queue: QueueTable { undo.queue }
    private var mapping: StorageMapping { undo.mapping }

    init(undo: Undo) { self.undo = undo }

    init(mapping: StorageMapping, queue: QueueTable, environment: EngineEnvironment) {
        self.init(undo: Undo(mapping: mapping, queue: queue, environment: environment))
    }

    func cancel(_ request: QueuedRequest, in database: Database) throws {
        try undo.work(off: remove(request, in: database), in: database)
    }

    /// Removes a request.
    ///
    /// - Returns: the steps that follow.
    private func remove(_ request: QueuedRequest, in database: Database) throws -> [Undo.Step] {
        guard request.state != .sending else { throw OfflineError.alreadySent(request: request.id) }
        guard request.isOfRow else { return try undo.takeBesideRows(request, in: database) }
        guard let table = mapping.tables[request.entitySet] else { return [] }
        let rest = try others(besides: request, in: database)
        if request.kind == .create || rest.isEmpty {
            if let sent = rest.first(where: { $0.state == .sending }) {
                throw OfflineError.alreadySent(request: sent.id)
            }
            // Its relations are separate changes, unless the entity does not exist without the request.
            let row = RowReference(set: request.entitySet, rowID: request.rowID)
            return [.row(row, parent: nil, keepsRelations: request.kind != .create)]
        }
        try queue.remove(request.id, in: database)
        if let next = rest.first(where: { $0.id > request.id && $0.isAbout(sameVersionAs: request) }), next.etag == nil,
            let etag = request.etag
        {
            // It is the first change on top of the server version now.
            try queue.setETag(etag, of: next.id, in: database)
        }
        if request.kind == .update, let base = request.base {
            try put(
                base, of: request.changes.loadedProperties, into: rest.filter { $0.id > request.id }, in: database)
        }
        if request.kind == .delete {
            // An entity that got its key meanwhile must be removed before it comes back.
            try undo.undoDependents(of: [request], leaving: rest, in: database)
            try restore(request, beside: rest, table, in: database)
            return []
        }
        if request.kind == .update {
            try show(
                request.changes.loadedProperties, as: request.base, without: request, beside: rest, table, in: database)
        } else if let stream = request.stream {
            // Other streams may be pending before and behind it.
            try StreamTable.remove(stream, in: database)
        }
        return [.dependents(try undo.dependents(of: [request], leaving: rest, in: database))]
    }

    /// Removes the values of some properties from a creation or an update, and from the row. A request that is
    /// useless without them is removed: an update without other properties, and the creation of an entity that
    /// needs one of them.
    ///
    /// - Returns: the steps that follow.
    func takeOut(_ names: Set<String>, of request: QueuedRequest, in database: Database) throws -> [Undo.Step] {
        guard let table = mapping.tables[request.entitySet] else { return [] }
        let changes = request.changes
        let keys = Set(changes.shape.key.map(\.path))
        let isCreation = request.kind == .create
        let taken = names.filter { name in
            !isCreation || (!keys.contains(name) && changes.shape.property(name)?.isNullable == true)
        }
        let hasOthers =
            changes.shape.properties.contains { changes[$0.name] != nil && !taken.contains($0.name) }
            || !changes.dynamicProperties.isEmpty
        guard !taken.isEmpty, isCreation || hasOthers else { return try remove(request, in: database) }
        var former = ODataEntity(shape: changes.shape)
        for name in taken { former[name] = isCreation ? ODataValue.null : request.base?[name] }
        let rest = try others(besides: request, in: database)
        try queue.rewrite(
            request.id, key: ODataEntity(shape: changes.shape, key: request.key),
            changes: changes.only(where: { !taken.contains($0) }),
            base: request.base?.only(where: { !taken.contains($0) }), in: database)
        try put(former, of: taken, into: rest.filter { $0.id > request.id }, in: database)
        try show(taken, as: former, without: request, beside: rest, table, in: database)
        let text = "\(request.entityText): \(taken.sorted().joined(separator: ", "))"
        try Events.add("undone", text, environment: undo.environment, in: database)
        return [.takers(try undo.takers(of: taken, from: request, leaving: rest, in: database))]
    }

    /// The other requests of the row that a request changes.
    private func others(besides request: QueuedRequest, in database: Database) throws -> [QueuedRequest] {
        try queue.requests(set: request.entitySet, rowID: request.rowID, in: database).filter { $0.id != request.id }
    }

    /// Restores a row that a request was to delete: the server version, with the pending changes. The changes
    /// refused before were removed with the deletion.
    private func restore(
        _ request: QueuedRequest, beside rest: [QueuedRequest], _ table: TableStorage, in database: Database
    ) throws {
        let image = try undo.before.image(
            set: request.entitySet, rowID: request.rowID, shape: table.shape, in: database)
        let earlier = rest.filter { $0.id < request.id }
        let known = image?.entity.map { earlier.reduce($0) { $0.merging($1.changes) } }
        guard var entity = known ?? request.base else { return }
        entity.control.etag = localETag()
        try BulkLoader(set: table.set, mapping: mapping, in: database).restore(
            request.rowID, entity, owner: image?.owner ?? 0, parent: request.parentRow)
        let restored = try DeletionShelf(mapping: mapping).restore(
            set: request.entitySet, rowID: request.rowID, in: database)
        try undo.dependencies.readAgain(restored, in: database)
    }

    /// Shows the values of properties without a request: those of the request before, or the base values, if they
    /// are known. Values of later requests stay.
    private func show(
        _ names: Set<String>, as former: ODataEntity?, without request: QueuedRequest, beside rest: [QueuedRequest],
        _ table: TableStorage, in database: Database
    ) throws {
        guard try Rows.owner(table, rowID: request.rowID, in: database) != nil else { return }
        let image = try undo.before.image(
            set: request.entitySet, rowID: request.rowID, shape: table.shape, in: database)
        var patch = ODataEntity(shape: request.changes.shape)
        patch.control.etag = localETag()
        let shown = names.filter { name in !rest.contains { $0.id > request.id && $0.changes[name] != nil } }
        for name in shown {
            patch[name] =
                rest.last { $0.id < request.id && $0.changes[name] != nil }?.changes[name]
                ?? image?.entity?[name] ?? former?[name]
        }
        let loader = try BulkLoader(set: table.set, mapping: mapping, in: database)
        if !patch.dynamicProperties.isEmpty, let present = try loader.read(request.rowID) {
            let others = present.dynamicProperties.filter { !shown.contains($0.key) }
            patch.dynamicProperties.merge(others) { $1 }
        }
        try loader.update(request.rowID, patch, unloading: shown.filter { patch[$0] == nil })
    }

    /// Readers of the former row recognise the change by this ETag.
    private func localETag() -> String { "W/\"local-\(undo.environment.newGuid())\"" }

    /// Bases later requests on the base version of a removed request. Its own values never reach the service, and
    /// would look like changes by other clients. Values that were not loaded then are unknown.
    private func put(_ former: ODataEntity, of names: Set<String>, into later: [QueuedRequest], in database: Database)
        throws
    {
        var names = names
        for next in later {
            guard let base = next.base else { continue }
            let shared = next.kind == .delete ? names : names.filter { next.changes[$0] != nil }
            try queue.rewrite(
                next.id, key: ODataEntity(shape: next.changes.shape, key: next.key), changes: next.changes,
                base: base.only(where: { !shared.contains($0) }).merging(former.only(where: shared.contains)),
                in: database)
            names = names.filter { next.changes[$0] == nil }
        }
    }
}
