import GRDB
import ODataModel
import ODataQuery
import ODataSQL
import ODataService

extension OfflineStore.Changes {
    /// Undoes every change of some entities that the service has not accepted: a changed entity becomes the last
    /// downloaded version, with its streams and relations, a created one is removed, a deleted one is restored.
    /// Dependent changes of other entities, such as the lines of a created order, are undone too. A change that
    /// takes a foreign key released by one of these entities loses it, and keeps its other values.
    ///
    /// The changes of a change set (``transaction(options:_:)``, a change set of a batch, a deep insert or
    /// update) are undone together or not at all.
    ///
    /// ```swift
    /// try await store.changes.undo([ODataURL(parsing: "Orders(10248)")])
    /// ```
    /// - Parameters:
    ///   - entities: entities by key, relative to the service root. Locally deleted entities and former keys are
    ///     found too.
    ///   - withAllOthers: whether the requests of other entities in the same change sets are undone too. Those
    ///     entities keep their other changes.
    /// - Returns: the number of entities with changes.
    /// - Throws: ``OfflineError/inChangeSet(name:others:)`` if other requests of a change set would stay, and
    ///   ``OfflineError/alreadySent(request:)`` if a change was sent. Nothing is undone then.
    ///   ``OfflineError/unknown(kind:name:)`` if a URL is not an entity of a set; `QueryError`.
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

    /// Undoes every change that the service has not accepted, including the error archive.
    ///
    /// - Returns: the number of entities with changes, including relations.
    /// - Throws: ``OfflineError/alreadySent(request:)`` if a change was sent. Nothing is undone then.
    @discardableResult
    public func undoAll() async throws -> Int {
        try await store.database.write { [store] in try store.undoAll(in: $0) }
    }
}

extension OfflineStore {
    /// Undoes every change within a transaction.
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
                // With a deleted entity, the changes of its contained entities come back.
            } while withAllOthers && !isDone
        }
        for request in others { try Events.add("undone", request.entityText, environment: environment, in: database) }
        try incarnation.settle(in: database)
        return undone.count
    }
}
