import GRDB

/// Local changes that an app submits or cancels together.
public enum ChangeScope: Hashable, Sendable {
    /// The changes of an entity. A submission takes the whole composite tree that the entity is in, a cancellation the
    /// entity with its parts.
    case entity(RowReference)
    /// The changes of all entities of some sets, with the trees that these are in.
    case sets(Set<String>)
    /// The changes of a category (``ChangeOptions/category``).
    case category(String)
    /// One queued call by its number.
    case call(Int64)
    /// All changes.
    case all
}

extension QueueTable {
    /// The requests of a scope in some states, in order; those of an entity itself alone.
    func requests(
        _ scope: ChangeScope, _ states: [QueuedRequest.State], in database: Database
    ) throws -> [QueuedRequest] {
        let marks = states.map { _ in "?" }.joined(separator: ",")
        let isInState = "WHERE state IN (\(marks))"
        let values = states.map { $0.rawValue as any DatabaseValueConvertible }
        switch scope {
        case .all: return try fetch("\(isInState) ORDER BY id", values, in: database)
        case .call(let id): return try fetch("\(isInState) AND id = ? AND kind = 'call'", values + [id], in: database)
        case .category(let name):
            return try fetch("\(isInState) AND category = ? ORDER BY id", values + [name], in: database)
        case .sets(let sets):
            return try fetch("\(isInState) ORDER BY id", values, in: database).filter { request in
                request.subjectRow.map { sets.contains($0.set) } ?? false
            }
        case .entity(let row): return try requests(of: [row], states, in: database)
        }
    }

    /// The requests about some rows in some states, in order: of the rows, of relations from and to them, and of calls
    /// that are bound to them.
    func requests(
        of rows: Set<RowReference>, _ states: [QueuedRequest.State], in database: Database
    ) throws -> [QueuedRequest] {
        let marks = states.map { _ in "?" }.joined(separator: ",")
        let values = states.map { $0.rawValue as any DatabaseValueConvertible }
        var found: [QueuedRequest] = []
        for (set, rows) in Dictionary(grouping: rows, by: \.set) {
            found += try fetch(
                "WHERE entity_set = ? AND row_id IN (SELECT value FROM json_each(?)) AND row_id <> 0 AND state IN (\(marks))",
                [set, CompositeGraph.list(rows.map(\.rowID))] + values, in: database)
        }
        let beside = try fetch("WHERE row_id = 0 AND state IN (\(marks))", values, in: database)
        found += beside.filter { request in request.subjectRows.contains(where: rows.contains) }
        return found.sorted { $0.id < $1.id }
    }
}

extension QueuedRequest {
    /// The row that it is about: the row that it changes, the source of a relation, or the row that a call is bound to.
    var subjectRow: RowReference? {
        if let relation { return RowReference(set: entitySet, rowID: relation.sourceRow) }
        return touchedRow
    }

    /// The same with the other end of a relation.
    fileprivate var subjectRows: [RowReference] {
        guard let relation else { return touchedRow.map { [$0] } ?? [] }
        return [
            RowReference(set: entitySet, rowID: relation.sourceRow),
            RowReference(set: relation.targetSet, rowID: relation.targetRow),
        ]
    }
}
