import GRDB
import ODataSQL

/// Relations that a link table holds, and the requests that wait to make them or to take them away.
///
/// What the link tables show is what the service has, with what each request does on top, in their order; each knows what
/// it took the place of. So all of it can be taken off again, down to what the service has.
struct Relations {
    let mapping: StorageMapping

    /// The two rows that a queued request relates, or takes apart; `nil` for any other request.
    func pair(of request: QueuedRequest) -> RelatedRows? {
        guard case .relation(let relation) = request.subject else { return nil }
        return mapping.relatedRows(
            request.entitySet, relation.navigation, from: relation.sourceRow, to: relation.targetRow)
    }

    /// What a queued request took the place of.
    private func replaced(by request: QueuedRequest) -> [RelatedRows] {
        guard let relation = request.relation else { return [] }
        return (relation.replaced ?? []).compactMap {
            mapping.relatedRows(request.entitySet, relation.navigation, from: $0.source, to: $0.target)
        }
    }

    // MARK: Below and on top

    /// Does something to what the service has, or to what waits, and puts what waits then on top again.
    ///
    /// - Parameter pair: the only relation that it is about; without one, everything that waits is taken off meanwhile.
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

    /// Takes a request out of the queue with what it did; what waits on top of it stays there.
    func remove(_ request: QueuedRequest, _ queue: QueueTable, in database: Database) throws {
        guard let pair = pair(of: request) else { return try queue.remove(request.id, in: database) }
        try beneathWaiting(around: pair, queue, in: database) { try queue.remove(request.id, in: database) }
    }

    /// Takes off what a request did: the last one of those that are on top of each other.
    func takeOff(_ request: QueuedRequest, in database: Database) throws {
        guard let pair = pair(of: request) else { return }
        guard request.kind == .link else { return try giveBack(pair, in: database) }
        try takeOff(pair, givingBack: replaced(by: request), in: database)
    }

    /// Takes a relation away that took the place of others.
    func takeOff(_ pair: RelatedRows, givingBack replaced: [RelatedRows], in database: Database) throws {
        try mapping.unrelate(pair, in: database)
        for other in replaced { try giveBack(other, in: database) }
    }

    /// Restores a relation, where both its rows are still there and nothing has taken its place for good.
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

    /// Whether the rows at both ends are there.
    private func isPossible(_ pair: RelatedRows, in database: Database) throws -> Bool {
        try pair.rows.allSatisfy { column, row in
            guard let set = mapping.linkEnds[pair.table]?[column]?.set, let table = mapping.tables[set] else {
                return false
            }
            return try Rows.owner(table, rowID: row, in: database) != nil
        }
    }

    /// The requests that neither are about a relation, nor about one that cannot be with it, nor about one that cannot be
    /// with those, and so on.
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
