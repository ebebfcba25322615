import GRDB
import ODataModel
import ODataSQL
import ODataService

/// Relations in link tables. Each is a request beside those of the entities at its ends.
extension QueueHook {
    /// Queues a relation that was added or removed. If the change undoes or replaces an unsent or refused
    /// request, that request is dropped. If it repeats a refused request, or replaces its target, it mends that
    /// request.
    func didLink(_ change: LinkChange, in database: Database) throws {
        guard !isClientOnly(change.source.set) else { return }
        guard let source = mapping.tables[change.source.set], mapping.model.entitySet(source.set) != nil,
            let from = change.source.rowID, let to = change.target.rowID,
            let asked = try AskedRelation(change.navigation, of: source, from, to, mapping, in: database)
        else { throw ODataError.notImplemented("Linking \(change.navigation) offline") }
        let options = ChangeOptions(change.request)
        let relations = Relations(mapping: mapping)
        if change.isAdded {
            // The relation is added again together with its request, which records the relations that it
            // replaces.
            try relations.takeOff(asked.pair, givingBack: change.replaced, in: database)
        }
        try relations.beneathWaiting(around: asked.pair, queue, in: database) {
            let waiting = try queue.relations(in: database)
            if let last = waiting.last(where: { relations.pair(of: $0) == asked.pair }),
                (last.kind == .link) != change.isAdded, change.replaced.isEmpty, isReplaceable(last, by: options)
            {
                // One undoes the other. A refused change has no effect at the service that had to be undone.
                return try drop(last, for: nil, options, in: database)
            }
            guard change.isAdded else { return try append(.unlink, asked, options, in: database) }
            try add(asked, among: waiting, options, in: database)
        }
        try ReplayCounters.noteEdit(of: RowReference(set: source.set, rowID: from), options, in: database)
    }

    /// Queues an added relation. It replaces the pending request at an end that can have only one relation.
    private func add(
        _ asked: AskedRelation, among waiting: [QueuedRequest], _ options: ChangeOptions, in database: Database
    ) throws {
        let relations = Relations(mapping: mapping)
        var outdated = waiting.filter { request in
            guard let pair = relations.pair(of: request), isReplaceable(request, by: options) else { return false }
            return mapping.excludes(pair, asked.pair) || (pair == asked.pair && request.kind == .unlink)
        }
        let last = waiting.last { request in
            guard let pair = relations.pair(of: request) else { return false }
            return pair == asked.pair || (mapping.excludes(pair, asked.pair) && asked.startsAsDoes(request))
        }
        if let refused = last, refused.state == .refused, refused.kind == .link, isReplaceable(refused, by: options),
            try Mending(of: refused).putBack(
                joining: options, waitingFor: creations(of: asked, in: database),
                at: environment.instant.description, queue, in: database)
        {
            outdated.removeAll { $0.id == refused.id }
            if relations.pair(of: refused) != asked.pair {
                var relation = asked.relation
                (relation.seen, relation.shown) = (refused.relation?.seen, refused.relation?.shown)
                try queue.setSubject(.relation(relation), of: refused.id, in: database)
            }
            for request in outdated { try drop(request, for: asked, options, in: database) }
            return
        }
        for request in outdated { try drop(request, for: asked, options, in: database) }
        try append(.link, asked, options, in: database)
    }

    /// Removes a request for a relation from the queue. The service still has the relations that the request was
    /// to replace. It is asked to remove them, except those that the new relation excludes anyway.
    private func drop(
        _ request: QueuedRequest, for asked: AskedRelation?, _ options: ChangeOptions, in database: Database
    ) throws {
        try queue.remove(request.id, in: database)
        try queue.replaceDependency(on: request.id, by: nil, in: database)
        if request.state == .refused {
            try queue.reviveChangeSet(of: request, by: options, at: environment.instant.description, in: database)
        }
        guard request.kind == .link, let table = mapping.tables[request.entitySet],
            let relation = request.relation
        else { return }
        // The user has not seen the relations that others have added since.
        for rows in relation.seen ?? relation.replaced ?? [] {
            guard
                let replaced = try AskedRelation(
                    relation.navigation, of: table, rows.source, rows.target, mapping, in: database)
            else { continue }
            if let asked, asked.pair == replaced.pair || mapping.excludes(asked.pair, replaced.pair) { continue }
            try append(.unlink, replaced, options, in: database)
        }
    }

    /// Appends a request, which waits for requests about the same relation or an excluded one.
    private func append(
        _ kind: QueuedRequest.Kind, _ asked: AskedRelation, _ options: ChangeOptions, in database: Database
    ) throws {
        let relations = Relations(mapping: mapping)
        let earlier = try queue.relations(in: database).filter { request in
            guard let pair = relations.pair(of: request) else { return false }
            return pair == asked.pair || mapping.excludes(pair, asked.pair)
        }
        let shape = asked.source.shape
        _ = try queue.append(
            kind, set: asked.source.set, rowID: 0, key: ODataEntity(shape: shape, key: asked.key),
            changes: ODataEntity(shape: shape), base: nil, etag: nil, omitted: [],
            dependsOn: creations(of: asked, in: database).union(earlier.map(\.id)).sorted(),
            createdAt: environment.instant.description, options: options, subject: .relation(asked.relation),
            in: database)
    }

    /// The queued creations of the entities at both ends.
    private func creations(of asked: AskedRelation, in database: Database) throws -> Set<Int64> {
        let relation = asked.relation
        let ends = [(asked.source.set, relation.sourceRow), (relation.targetSet, relation.targetRow)]
        let requests = try ends.flatMap { set, row in try queue.requests(set: set, rowID: row, in: database) }
        return Set(requests.filter { $0.kind == .create }.map(\.id))
    }

    /// Whether an edit may replace a request: one that was never sent, or that the service refused. A held edit
    /// leaves submitted requests as they are.
    func isReplaceable(_ request: QueuedRequest, by options: ChangeOptions) -> Bool {
        guard !options.isUnmodifiable, !request.options.isUnmodifiable else { return false }
        return request.state == .refused || (request.isUnsent && (request.state == .held || !options.isHeld))
    }
}

/// A relation that a request is to add or remove.
private struct AskedRelation {
    let source: TableStorage
    let key: EntityKey
    let pair: RelatedRows
    let relation: QueuedRequest.RelationChange

    /// - Returns: `nil` if no link table holds it, or if one of the entities does not exist.
    init?(
        _ navigation: String, of source: TableStorage, _ from: Int64, _ to: Int64, _ mapping: StorageMapping,
        in database: Database
    ) throws {
        guard let set = source.navigation[navigation]?.target,
            let pair = mapping.relatedRows(source.set, navigation, from: from, to: to),
            let key = try BulkLoader(set: source.set, mapping: mapping, in: database).read(from)?.key,
            let target = try BulkLoader(set: set, mapping: mapping, in: database).read(to)?.key
        else { return nil }
        self.source = source
        self.key = key
        self.pair = pair
        relation = QueuedRequest.RelationChange(
            navigation: navigation, sourceRow: from, targetSet: set, targetRow: to,
            target: KeyURL.url(set: set, key: target, mapping).description)
    }

    /// Whether a request starts from the same entity by the same navigation property.
    func startsAsDoes(_ request: QueuedRequest) -> Bool {
        request.entitySet == source.set && request.relation?.sourceRow == relation.sourceRow
            && request.relation?.navigation == relation.navigation
    }
}
