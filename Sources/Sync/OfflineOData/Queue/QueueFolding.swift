import GRDB
import ODataModel
import ODataSQL

/// Makes fewer requests of the changes that wait, without changing what they come to. No change is moved past an action,
/// which may read and change any entity, nor past a relation of its own entity.
struct QueueFolding {
    let queue: QueueTable
    /// Only requests of these categories; `nil` for all.
    let categories: Set<String>?

    /// How many requests are looked at in one transaction: an edit that waits for it hardly notices (rule 14).
    static let requestsAtOnce = 100

    /// How far the queue has been gone through.
    struct Progress: Sendable {
        /// The last request that was looked at.
        fileprivate var id: Int64 = 0
        /// By row, the request that the next one of that row may be folded into.
        fileprivate var last: [RowReference: Int64] = [:]
    }

    /// Folds the requests of each entity that follow each other, in short transactions.
    func fold(in database: StoreDatabase) async throws {
        var progress: Progress? = Progress()
        while let current = progress {
            progress = try await database.write { try fold(current, in: $0) }
        }
    }

    /// - Returns: how far that came; `nil` at the end.
    private func fold(_ progress: Progress, in database: Database) throws -> Progress? {
        let requests = try queue.fetch(
            "WHERE id > ? ORDER BY id LIMIT \(Self.requestsAtOnce)", [progress.id], in: database)
        guard let id = requests.last?.id else { return nil }
        let dependencies = QueueDependencies(queue: queue)
        var last = progress.last
        for request in requests {
            guard request.kind.isOfRow else {
                if request.kind == .call { last = [:] } else { for end in Self.ends(of: request) { last[end] = nil } }
                continue
            }
            let row = RowReference(set: request.entitySet, rowID: request.rowID)
            guard isFoldable(request) else {
                last[row] = nil
                continue
            }
            // It may have been changed or taken back since it was looked at.
            guard let earlier = try last[row].flatMap({ try queue.request($0, in: database) }), isFoldable(earlier),
                Self.areAlike(earlier, request),
                let folded = try fold(request, into: earlier, dependencies, in: database)
            else {
                last[row] = request.id
                continue
            }
            switch folded {
            case .one(let id): last[row] = id
            case .nothing: last[row] = nil
            }
        }
        return Progress(id: id, last: last)
    }

    /// Puts an update into the create or update before it, where nothing keeps the two apart.
    ///
    /// - Returns: whether there is one request now.
    func join(_ update: QueuedRequest, into earlier: QueuedRequest, in database: Database) throws -> Bool {
        let row = RowReference(set: update.entitySet, rowID: update.rowID)
        let isKeptApart = try queue.requests(in: database).contains { request in
            request.id > earlier.id && request.id < update.id && Self.keepsOrder(request, with: row)
        }
        guard !isKeptApart, update.kind == .update, isFoldable(earlier), isFoldable(update),
            Self.areAlike(earlier, update)
        else { return false }
        return try fold(update, into: earlier, QueueDependencies(queue: queue), in: database) != nil
    }

    /// Whether two requests are sent with the same uploads, and together with the same others.
    private static func areAlike(_ one: QueuedRequest, _ other: QueuedRequest) -> Bool {
        one.options.category == other.options.category && one.options.changeSet == other.options.changeSet
    }

    /// Whether what a request does may depend on whether a change of a row is made before it or behind it: an action's
    /// effect is known to the service alone.
    private static func keepsOrder(_ request: QueuedRequest, with row: RowReference) -> Bool {
        switch request.kind {
        case .call: true
        case .link, .unlink: ends(of: request).contains(row)
        case .create, .update, .delete, .stream: false
        }
    }

    /// The rows that a request relates or takes apart.
    private static func ends(of request: QueuedRequest) -> [RowReference] {
        guard let relation = request.relation else { return [] }
        return [
            RowReference(set: request.entitySet, rowID: relation.sourceRow),
            RowReference(set: relation.targetSet, rowID: relation.targetRow),
        ]
    }

    private enum Outcome {
        case one(Int64)
        case nothing
    }

    private func isFoldable(_ request: QueuedRequest) -> Bool {
        guard request.state == .pending, request.firstSentField == nil, !request.options.isUnmodifiable,
            request.carriesPropertiesAlone
        else { return false }
        guard let categories else { return true }
        return request.options.category.map(categories.contains) ?? false
    }

    /// - Returns: `nil` when the two stay as they are.
    private func fold(
        _ later: QueuedRequest, into earlier: QueuedRequest, _ dependencies: QueueDependencies, in database: Database
    ) throws -> Outcome? {
        // Folding others may have changed them.
        let needed = try dependencies.dependencies(of: later.id, in: database).subtracting([earlier.id])
        let neededBefore = try dependencies.dependencies(of: earlier.id, in: database)
        switch (earlier.kind, later.kind) {
        case (.create, .update), (.update, .update):
            // What the later one needs may itself wait for the earlier one.
            guard try !dependencies.anyWaits(needed, for: earlier.id, in: database) else { return nil }
            let base = earlier.base.map { later.base.map(earlier.base(beneath:)) ?? $0 }
            try queue.rewrite(
                earlier.id, key: ODataEntity(shape: earlier.changes.shape, key: earlier.key),
                changes: earlier.changes.merging(later.changes), base: earlier.kind == .create ? nil : base,
                in: database)
            try dependencies.set(needed.union(neededBefore), of: earlier.id, in: database)
            try keepOptions(of: later, in: earlier, in: database)
            try dependencies.remove(later.id, replacingBy: earlier.id, in: database)
            return .one(earlier.id)
        case (.update, .delete):
            // Who was to get what the update gives up gets it from the deletion, unless that needs them.
            guard try !dependencies.anyWaits(needed, for: earlier.id, in: database) else { return nil }
            // The delete is guarded by the version that the update was made of.
            try queue.setETag(earlier.etag, of: later.id, in: database)
            if let base = later.base, earlier.base != nil {
                try queue.rewrite(
                    later.id, key: ODataEntity(shape: base.shape, key: later.key), changes: later.changes,
                    base: earlier.base(beneath: base), in: database)
            }
            try dependencies.set(needed.union(neededBefore), of: later.id, in: database)
            try dependencies.remove(earlier.id, replacingBy: later.id, in: database)
            return .one(later.id)
        case (.create, .delete):
            // A download has brought the entity meanwhile: others have made it, and it must not go with what was made here.
            let before = BeforeImages(snapshots: queue.snapshots)
            let image = try before.image(
                set: later.entitySet, rowID: later.rowID, shape: later.changes.shape, in: database)
            guard image?.entity == nil else { return nil }
            // What others refer to must be made first, whatever becomes of it.
            let dependents = try dependencies.dependents(of: [earlier.id, later.id], in: database)
            guard try dependents.allSatisfy({ try $0 == later.id || isSuccessor($0, of: later, in: database) }) else {
                return nil
            }
            try dependencies.remove(later.id, in: database)
            try dependencies.remove(earlier.id, in: database)
            try before.remove(set: later.entitySet, rowID: later.rowID, in: database)
            try database.execute(
                sql: "DELETE FROM outpost_shelf WHERE entity_set = ? AND row_id = ?",
                arguments: [later.entitySet, later.rowID])
            return .nothing
        default:
            return nil
        }
    }

    /// Whether a request waits for another one since it makes an entity under the key of what that deletes: whose creation was
    /// never sent does not have it.
    private func isSuccessor(_ id: Int64, of deletion: QueuedRequest, in database: Database) throws -> Bool {
        guard let request = try queue.request(id, in: database) else { return true }
        return request.kind == .create && request.entitySet == deletion.entitySet && request.key == deletion.key
    }

    private func keepOptions(of later: QueuedRequest, in earlier: QueuedRequest, in database: Database) throws {
        let options = earlier.options.joined(with: later.options)
        guard options != earlier.options else { return }
        try queue.setOptions(options, of: earlier.id, in: database)
    }
}

extension QueuedRequest {
    /// What a later change of the row would have been made of without this one, which is to become one with it: what this one
    /// changes has the value that it found, and is unknown where none was loaded then.
    ///
    /// - Parameter base: what the later change was made of.
    func base(beneath base: ODataEntity) -> ODataEntity {
        let others = base.only(where: { changes[$0] == nil })
        return self.base.map(others.merging) ?? others
    }
}
