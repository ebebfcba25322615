import GRDB
import ODataSQL

/// Relations in link tables, and the pending requests that add or remove them.
///
/// A link table shows the server state with the effects of the pending requests on top, in their order. Each
/// request stores the relations that it replaced, so that the effects can be removed down to the server state.
struct Relations {
    let mapping: StorageMapping

    /// The two rows of a queued request for a relation; `nil` for any other request.
    func pair(of request: QueuedRequest) -> RelatedRows? {
        guard case .relation(let relation) = request.subject else { return nil }
        return mapping.relatedRows(
            request.entitySet, relation.navigation, from: relation.sourceRow, to: relation.targetRow)
    }

    /// The relations that a queued request replaced.
    private func replaced(by request: QueuedRequest) -> [RelatedRows] {
        guard let relation = request.relation else { return [] }
        return (relation.replaced ?? []).compactMap {
            mapping.relatedRows(request.entitySet, relation.navigation, from: $0.source, to: $0.target)
        }
    }

    // MARK: Below and on top

    /// Changes the server state or the pending requests, and then applies the pending requests on top again.
    ///
    /// - Parameter pair: the only relation that is affected. Without one, the effects of all pending requests are
    ///   removed meanwhile.
    func beneathWaiting<Value>(
        around pair: RelatedRows? = nil, _ queue: QueueTable, in database: Database, _ body: () throws -> Value
    ) throws -> Value {
        let waiting = try queue.relations(in: database)
        let others = pair.map { unconcerned(waiting, with: $0) } ?? []
        for request in waiting.reversed() where !others.contains(request.id) { try takeOff(request, in: database) }
        let value = try body()
        for request in try queue.relations(in: database) where !others.contains(request.id) {
            try putOn(request, queue, in: database)
        }
        return value
    }

    /// Removes a request with its effects from the queue. The effects of later requests stay.
    func remove(_ request: QueuedRequest, _ queue: QueueTable, in database: Database) throws {
        guard let pair = pair(of: request) else { return try queue.remove(request.id, in: database) }
        try beneathWaiting(around: pair, queue, in: database) { try queue.remove(request.id, in: database) }
    }

    /// Removes the effects of a request, which must be the last one on top.
    func takeOff(_ request: QueuedRequest, in database: Database) throws {
        guard let pair = pair(of: request) else { return }
        guard request.kind == .link else { return try giveBack(pair, in: database) }
        try takeOff(pair, givingBack: replaced(by: request), in: database)
    }

    /// Removes a relation and restores the relations that it replaced.
    func takeOff(_ pair: RelatedRows, givingBack replaced: [RelatedRows], in database: Database) throws {
        try mapping.unrelate(pair, in: database)
        for other in replaced { try giveBack(other, in: database) }
    }

    /// Restores a relation, if both its rows still exist and no final relation has replaced it.
    private func giveBack(_ pair: RelatedRows, in database: Database) throws {
        guard try isPossible(pair, in: database), try mapping.relations(inPlaceOf: pair, in: database).isEmpty else {
            return
        }
        try mapping.relate(pair, in: database)
    }

    private func putOn(_ request: QueuedRequest, _ queue: QueueTable, in database: Database) throws {
        guard let pair = pair(of: request) else { return }
        guard request.kind == .link else { return try mapping.unrelate(pair, in: database) }
        guard try isPossible(pair, in: database), var relation = request.relation,
            case .link(_, _, let source, let target)? =
                mapping.tables[request.entitySet]?.navigation[relation.navigation]
        else { return }
        let replaced = try mapping.relate(pair, in: database).compactMap { other in
            other.rows[source].flatMap { from in
                other.rows[target].map { QueuedRequest.RelatedPair(source: from, target: $0) }
            }
        }
        relation.replaced = replaced.isEmpty ? nil : replaced
        if relation.seen == nil { relation.seen = replaced }
        if relation != request.relation { try queue.setSubject(.relation(relation), of: request.id, in: database) }
    }

    /// Whether the rows at both ends exist.
    private func isPossible(_ pair: RelatedRows, in database: Database) throws -> Bool {
        try pair.rows.allSatisfy { column, row in
            guard let set = mapping.linkEnds[pair.table]?[column]?.set, let table = mapping.tables[set] else {
                return false
            }
            return try Rows.owner(table, rowID: row, in: database) != nil
        }
    }

    /// The requests that are independent of a relation: they neither concern it, nor exclude it, nor exclude a
    /// request that does, and so on.
    private func unconcerned(_ waiting: [QueuedRequest], with pair: RelatedRows) -> Set<Int64> {
        var near = [pair]
        var rest: [(id: Int64, pairs: [RelatedRows])] = waiting.map { request in
            (request.id, (self.pair(of: request).map { [$0] } ?? []) + replaced(by: request))
        }
        while true {
            let reached = near
            let isNear = { (pairs: [RelatedRows]) -> Bool in
                pairs.contains { one in reached.contains { $0 == one || mapping.excludes($0, one) } }
            }
            let found = rest.filter { isNear($0.pairs) }
            guard !found.isEmpty else { return Set(rest.map { $0.id }) }
            near = found.flatMap { $0.pairs }
            rest.removeAll { isNear($0.pairs) }
        }
    }
}
