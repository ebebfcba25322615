import GRDB
import ODataModel
import ODataService
import ODataStore

/// Relations that a link table holds, each a request beside those of the entities that it relates.
extension QueueHook {
    /// Queues a relation that was made or taken away. What takes back one that was not sent, or that the service refused,
    /// is not sent either; what asks again for one that it refused mends that.
    func didLink(_ change: LinkChange, in database: Database) throws {
        guard !isClientOnly(change.source.set) else { return }
        let relations = Relations(mapping: mapping)
        guard let source = mapping.tables[change.source.set], let sourceRow = change.source.rowID,
            let targetRow = change.target.rowID, mapping.model.entitySet(change.source.set) != nil,
            let key = change.source.entity.key, let targetKey = change.target.entity.key,
            let pair = relations.pair(source.set, change.navigation, from: sourceRow, to: targetRow)
        else { throw ODataError.notImplemented("Linking \(change.navigation) offline") }
        let detail = RequestDetail(
            navigation: change.navigation, sourceRow: sourceRow, targetSet: change.target.set,
            targetRow: targetRow, target: KeyURL.url(set: change.target.set, key: targetKey).description)
        let options = try ChangeOptions(change.request)
        let waiting = try queue.links(set: source.set, rowID: sourceRow, in: database)
        let same = waiting.filter { relations.pair(of: $0) == pair }
        if let last = same.last, (last.kind == .link) != change.isAdded, isReplaceable(last, by: options) {
            // One takes the other back; and what the service refused to do is not there to be undone.
            try queue.remove(last.id, in: database)
            try queue.replaceDependency(on: last.id, by: nil, in: database)
            if last.state == .refused { try queue.reviveChangeSet(of: last, in: database) }
            return
        }
        let creations = try [(source.set, sourceRow), (change.target.set, targetRow)].flatMap { set, row in
            try queue.requests(set: set, rowID: row, in: database).filter { $0.kind == .create }.map(\.id)
        }
        // Where there can be one only, another takes its place.
        let isSingle = source.shape.navigationProperty(change.navigation)?.isCollection == false
        let last = waiting.last { request in
            if relations.pair(of: request) == pair { return true }
            guard isSingle, change.isAdded, request.entitySet == source.set else { return false }
            return request.detail.sourceRow == sourceRow && request.detail.navigation == change.navigation
        }
        if let refused = last, refused.state == .refused, (refused.kind == .link) == change.isAdded,
            isReplaceable(refused, by: options),
            try Mending(of: refused).putBack(
                joining: options, referringTo: Set(creations), queue, in: database)
        {
            guard relations.pair(of: refused) != pair else { return }
            try relations.revert(refused, in: database)
            return try queue.setDetail(detail, of: refused.id, in: database)
        }
        _ = try queue.append(
            change.isAdded ? .link : .unlink, set: source.set, rowID: 0, key: Entity(shape: source.shape, key: key),
            changes: Entity(shape: source.shape), base: nil, etag: nil, omitted: [],
            dependsOn: Set(same.map(\.id) + creations).sorted(), createdAt: environment.instant.description,
            options: options, detail: detail, in: database)
    }

    /// Whether an edit may take the place of a request: one that was never sent, or that the service refused.
    func isReplaceable(_ request: QueuedRequest, by options: ChangeOptions) -> Bool {
        guard !options.isUnmodifiable, !request.options.isUnmodifiable else { return false }
        return request.state == .refused || (request.state == .pending && request.firstSent == nil)
    }
}
