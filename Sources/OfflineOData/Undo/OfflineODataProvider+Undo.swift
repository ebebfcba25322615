import GRDB
import ODataModel
import ODataQuery
import ODataService
import ODataStore

extension OfflineODataProvider {
    /// Takes back every change of some entities that the service does not have yet: a changed entity is again what
    /// the last download brought, a created one is gone, a deleted one is back. Changes of other entities that
    /// waited for one of theirs, such as the lines of a created order, are taken back too.
    ///
    /// ```swift
    /// try await store.undo([ODataURL(parsing: "Orders(10248)")])
    /// ```
    /// - Parameter entities: entities by key, relative to the service root; those deleted here are found too, and
    ///   those that had another key before.
    /// - Returns: how many of them had changes.
    /// - Throws: ``OfflineError/alreadySent(request:)`` when a change is on its way (rule 7), and then nothing is
    ///   undone; ``OfflineError/unknown(kind:name:)`` for what is not an entity of a set; `QueryError`.
    @discardableResult
    public func undo(_ entities: [ODataURL]) async throws -> Int {
        let addressed = try entities.map { url in
            let steps = try Binder(model: model).bind(url).resource.steps
            if steps.count == 1, case .singleton(let singleton, _)? = steps.first {
                return (set: singleton.name, key: EntityKey([]))
            }
            guard steps.count == 2, case .entitySet(let set, _) = steps[0], case .key(let key) = steps[1] else {
                throw OfflineError.unknown(kind: "entity", name: url.description)
            }
            return (set: set.name, key: key)
        }
        return try await takingBack { [mapping] database, before in
            try addressed.compactMap { entity in
                guard let table = mapping.tables[entity.set] else { return nil }
                guard !entity.key.parts.isEmpty else { return ChangedRow(set: entity.set, rowID: 1) }
                let loader = try BulkLoader(set: entity.set, mapping: mapping, in: database)
                let rowID =
                    try loader.find(entity.key)
                    ?? before.rowID(set: entity.set, key: entity.key, shape: table.shape, in: database)
                    ?? Aliases(mapping: mapping).rowID(set: entity.set, key: entity.key, in: database)
                return rowID.map { ChangedRow(set: entity.set, rowID: $0) }
            }
        }
    }

    /// Takes back every change that the service does not have yet, those in the error archive included.
    ///
    /// - Returns: how many entities had changes.
    /// - Throws: ``OfflineError/alreadySent(request:)`` when a change is on its way, and then nothing is undone.
    @discardableResult
    public func undoAll() async throws -> Int {
        try await takingBack { [queue, mapping] database, before in
            let undo = Undo(mapping: mapping, queue: queue, before: before)
            for request in try queue.requests(in: database) where !request.kind.isOfRow {
                guard try queue.request(request.id, in: database) != nil else { continue }
                guard request.state != .sending else { throw OfflineError.alreadySent(request: request.id) }
                try undo.undoBesideRows(request, in: database)
            }
            return try queue.requests(in: database).map { ChangedRow(set: $0.entitySet, rowID: $0.rowID) }
        }
    }

    private func takingBack(
        _ rows: @escaping @Sendable (Database, BeforeImages) throws -> [ChangedRow]
    ) async throws -> Int {
        let environment = options.environment
        return try await database.write { [queue, mapping] database in
            let before = BeforeImages(snapshots: queue.snapshots)
            let undo = Undo(mapping: mapping, queue: queue, before: before)
            var undone: Set<ChangedRow> = []
            for row in try rows(database, before) where !undone.contains(row) {
                let requests = try queue.requests(set: row.set, rowID: row.rowID, in: database)
                guard let first = requests.first else { continue }
                if let sent = requests.first(where: { $0.state == .sending }) {
                    throw OfflineError.alreadySent(request: sent.id)
                }
                try undo.undo(set: row.set, rowID: row.rowID, in: database)
                undone.insert(row)
                try Events.add("undone", first.entityText, environment, in: database)
            }
            return undone.count
        }
    }
}

/// A row by its internal id.
private struct ChangedRow: Hashable, Sendable {
    let set: String
    let rowID: Int64
}
