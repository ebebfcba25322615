import GRDB
import ODataModel
import ODataQuery
import ODataSQL
import ODataService

extension OfflineStore.Changes {
    /// Takes back every change of some entities that the service does not have yet: a changed entity is again what
    /// the last download brought, with its streams and relations, a created one is gone, a deleted one is back. Changes
    /// of other entities that waited for one of theirs, such as the lines of a created order, are taken back too; an entity
    /// that waited to get a foreign key which one of theirs gives up does not get that, and keeps its other changes.
    ///
    /// What was made together (``transaction(options:_:)``, a change set of a batch, a deep insert or update) is taken
    /// back together or not at all.
    ///
    /// ```swift
    /// try await store.changes.undo([ODataURL(parsing: "Orders(10248)")])
    /// ```
    /// - Parameters:
    ///   - entities: entities by key, relative to the service root; those deleted here are found too, and
    ///     those that had another key before.
    ///   - withAllOthers: whether the requests of other entities that are in one change set with one of theirs are taken
    ///     back too; those entities show their other changes as before.
    /// - Returns: how many of them had changes.
    /// - Throws: ``OfflineError/inChangeSet(name:others:)`` where others of a change set would stay, and
    ///   ``OfflineError/alreadySent(request:)`` when a change is on its way, and then nothing is
    ///   undone; ``OfflineError/unknown(kind:name:)`` for what is not an entity of a set; `QueryError`.
    @discardableResult
    public func undo(_ entities: [ODataURL], withAllOthers: Bool = false) async throws -> Int {
        let addressed = try entities.map { url in
            let steps = try Binder(model: store.model).bind(url).resource.steps
            guard Containment.isAddress(steps) else {
                throw OfflineError.unknown(kind: "entity", name: url.description)
            }
            return steps
        }
        return try await store.database.write { [store] database in
            try store.takingBack(withAllOthers: withAllOthers, in: database) { undo in
                try addressed.compactMap { steps in
                    try Containment(mapping: store.mapping).row(at: steps, undo.before, store.queue, in: database)
                        .map { RowReference(set: $0.set, rowID: $0.rowID) }
                }
            }
        }
    }

    /// Takes back every change that the service does not have yet, those in the error archive included.
    ///
    /// - Returns: how many entities had changes, relations included.
    /// - Throws: ``OfflineError/alreadySent(request:)`` when a change is on its way, and then nothing is undone.
    @discardableResult
    public func undoAll() async throws -> Int {
        try await store.database.write { [store] in try store.undoAll(in: $0) }
    }
}

extension OfflineStore {
    /// Takes back every change within a transaction.
    @discardableResult
    func undoAll(in database: Database) throws -> Int {
        let relations = Relations(mapping: mapping)
        return try takingBack(withAllOthers: true, in: database) { undo in
            var rows: [RowReference] = []
            for request in try queue.requests(in: database) {
                if let source = request.relation?.sourceRow, relations.pair(of: request) != nil {
                    rows.append(RowReference(set: request.entitySet, rowID: source))
                } else if request.isOfRow {
                    rows.append(RowReference(set: request.entitySet, rowID: request.rowID))
                } else if try queue.request(request.id, in: database) != nil {
                    guard request.state != .sending else { throw OfflineError.alreadySent(request: request.id) }
                    try undo.undoBesideRows(request, in: database)
                }
            }
            return rows
        }
    }

    func takingBack(
        withAllOthers: Bool, in database: Database, _ rows: (Undo) throws -> [RowReference]
    ) throws -> Int {
        let environment = environment
        let undo = Undo(mapping: mapping, queue: queue, environment: environment)
        var undone: Set<RowReference> = []
        let others = try WholeChangeSets(cancelling: Cancelling(undo: undo)).keep(
            takingOthers: withAllOthers, in: database
        ) {
            var isDone: Bool
            repeat {
                isDone = true
                for row in try rows(undo) {
                    let requests =
                        try queue.requests(set: row.set, rowID: row.rowID, in: database)
                        + queue.links(set: row.set, rowID: row.rowID, in: database)
                    guard let first = requests.first else { continue }
                    if let sent = requests.first(where: { $0.state == .sending }) {
                        throw OfflineError.alreadySent(request: sent.id)
                    }
                    try undo.undo(set: row.set, rowID: row.rowID, in: database)
                    undone.insert(row)
                    isDone = false
                    try Events.add("undone", first.entityText, environment: environment, in: database)
                }
                // With what was deleted, the changes of what it contained come back.
            } while withAllOthers && !isDone
        }
        for request in others { try Events.add("undone", request.entityText, environment: environment, in: database) }
        try incarnation.settle(in: database)
        return undone.count
    }
}
