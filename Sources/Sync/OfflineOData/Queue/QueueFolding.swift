import GRDB
import ODataModel
import ODataSQL

/// Combines pending changes into fewer requests with the same effect. No change is moved past an action, which
/// may read and change any entity, nor past a relation of its own entity.
struct QueueFolding {
    let queue: QueueTable
    /// Only requests of these categories; `nil` for all.
    let categories: Set<String>?

    /// The number of requests that one transaction examines, so that a waiting edit is hardly delayed (rule 14).
    static let requestsAtOnce = 100

    /// The progress through the queue.
    struct Progress: Sendable {
        /// The last request that was examined.
        fileprivate var id: Int64 = 0
        /// The last foldable request of each row.
        fileprivate var last: [RowReference: Int64] = [:]
    }

    /// Folds consecutive requests of each entity, in short transactions.
    func fold(in database: StoreDatabase) async throws {
        var progress: Progress? = Progress()
        while let current = progress {
            progress = try await database.write { try fold(current, in: $0) }
        }
    }

    /// - Returns: the progress; `nil` at the end.
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
            // It may have been changed or undone since it was examined.
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

    /// Puts an update into the create or update before it, if nothing keeps them apart.
    ///
    /// - Returns: whether they are one request now.
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

    /// Whether two requests belong to the same uploads and the same change set.
    private static func areAlike(_ one: QueuedRequest, _ other: QueuedRequest) -> Bool {
        one.options.category == other.options.category && one.options.changeSet == other.options.changeSet
            && (other.kind == .delete || other.options.mayJoin(one.options, one.kind))
    }

    /// Whether the order of a request and a change of a row matters: only the service knows the effect of an
    /// action.
    private static func keepsOrder(_ request: QueuedRequest, with row: RowReference) -> Bool {
        switch request.kind {
        case .call: true
        case .link, .unlink: ends(of: request).contains(row)
        case .create, .update, .delete, .stream: false
        }
    }

    /// The rows at the ends of a request for a relation.
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

    /// - Returns: `nil` if both requests stay unchanged.
    private func fold(
        _ later: QueuedRequest, into earlier: QueuedRequest, _ dependencies: QueueDependencies, in database: Database
    ) throws -> Outcome? {
        // Folding other requests may have changed the dependencies.
        let needed = try dependencies.dependencies(of: later.id, in: database).subtracting([earlier.id])
        let neededBefore = try dependencies.dependencies(of: earlier.id, in: database)
        switch (earlier.kind, later.kind) {
        case (.create, .update), (.update, .update):
            // A dependency of the later request may itself wait for the earlier one.
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
            // A request that takes a value released by the update waits for the deletion instead, unless the
            // deletion depends on that request.
            guard try !dependencies.anyWaits(needed, for: earlier.id, in: database) else { return nil }
            // The ETag of the update's base version guards the deletion.
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
            // A download has brought the entity meanwhile: another client has created it, and it must survive the
            // withdrawal of the local creation.
            let before = BeforeImages(snapshots: queue.snapshots)
            let image = try before.image(
                set: later.entitySet, rowID: later.rowID, shape: later.changes.shape, in: database)
            guard image?.entity == nil else { return nil }
            // Entities that others refer to must be created first, even if they are deleted later.
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

    /// Whether a request waits for a deletion because it creates an entity under the deleted key. If the deleted
    /// entity was never sent, the key is free at once.
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
    /// Returns the base version of a later change without this change, before both are joined. Properties of this
    /// change get their earlier values, and are unknown if they were not loaded then.
    ///
    /// - Parameter base: the base version of the later change.
    func base(beneath base: ODataEntity) -> ODataEntity {
        let others = base.only(where: { changes[$0] == nil })
        return self.base.map(others.merging) ?? others
    }
}
