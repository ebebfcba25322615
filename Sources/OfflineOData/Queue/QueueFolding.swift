import GRDB
import ODataModel

/// Makes fewer requests of the changes that wait, without changing what they come to. No change is moved past an action,
/// which may read and change any entity, nor past a relation of its own entity.
struct QueueFolding {
    let queue: QueueTable
    /// Only requests of these categories; `nil` for all.
    let categories: Set<String>?

    /// Folds the requests of each entity that follow each other.
    func fold(in database: Database) throws {
        var last: [Row: QueuedRequest] = [:]
        for request in try queue.requests(in: database) {
            guard request.kind.isOfRow else {
                last = last.filter { !Self.keepsOrder(request, with: $0.key) }
                continue
            }
            let row = Row(set: request.entitySet, rowID: request.rowID)
            guard isFoldable(request) else {
                last[row] = nil
                continue
            }
            guard let earlier = last[row], Self.areAlike(earlier, request),
                let folded = try fold(request, into: earlier, in: database)
            else {
                last[row] = request
                continue
            }
            switch folded {
            case .one(let id): last[row] = try queue.request(id, in: database)
            case .nothing: last[row] = nil
            }
        }
    }

    /// Puts an update into the create or update before it, where nothing keeps the two apart.
    ///
    /// - Returns: whether there is one request now.
    func join(_ update: QueuedRequest, into earlier: QueuedRequest, in database: Database) throws -> Bool {
        let row = Row(set: update.entitySet, rowID: update.rowID)
        let isKeptApart = try queue.requests(in: database).contains { request in
            request.id > earlier.id && request.id < update.id && Self.keepsOrder(request, with: row)
        }
        guard !isKeptApart, update.kind == .update, isFoldable(earlier), isFoldable(update),
            Self.areAlike(earlier, update)
        else { return false }
        return try fold(update, into: earlier, in: database) != nil
    }

    /// Whether two requests are sent with the same uploads, and together with the same others.
    private static func areAlike(_ one: QueuedRequest, _ other: QueuedRequest) -> Bool {
        one.options.category == other.options.category && one.options.changeSet == other.options.changeSet
    }

    /// Whether what a request does may depend on whether a change of a row is made before it or behind it: an action's
    /// effect is known to the service alone.
    private static func keepsOrder(_ request: QueuedRequest, with row: Row) -> Bool {
        switch request.kind {
        case .call: true
        case .link, .unlink:
            (request.entitySet == row.set && request.detail.sourceRow == row.rowID)
                || (request.detail.targetSet == row.set && request.detail.targetRow == row.rowID)
        case .create, .update, .delete, .stream: false
        }
    }

    private struct Row: Hashable {
        let set: String
        let rowID: Int64
    }

    private enum Outcome {
        case one(Int64)
        case nothing
    }

    private func isFoldable(_ request: QueuedRequest) -> Bool {
        guard request.state == .pending, request.firstSent == nil, !request.options.isUnmodifiable,
            request.isOfRow, request.detail.isOfPropertiesAlone
        else { return false }
        guard let categories else { return true }
        return request.options.category.map(categories.contains) ?? false
    }

    /// - Returns: `nil` when the two stay as they are.
    private func fold(
        _ later: QueuedRequest, into earlier: QueuedRequest, in database: Database
    ) throws -> Outcome? {
        switch (earlier.kind, later.kind) {
        case (.create, .update), (.update, .update):
            let needed = Set(later.dependsOn).subtracting([earlier.id])
            // What the later one needs may itself wait for the earlier one.
            guard try !queue.anyWaits(needed, for: earlier.id, in: database) else { return nil }
            let base = earlier.base.map { later.base?.merging($0) ?? $0 }
            try queue.rewrite(
                earlier.id, key: Entity(shape: earlier.changes.shape, key: earlier.key),
                changes: earlier.changes.merging(later.changes), base: earlier.kind == .create ? nil : base,
                in: database)
            try queue.setDependencies(needed.union(earlier.dependsOn), of: earlier.id, in: database)
            try keepOptions(of: later, in: earlier, in: database)
            try queue.remove(later.id, in: database)
            try queue.replaceDependency(on: later.id, by: earlier.id, in: database)
            return .one(earlier.id)
        case (.update, .delete):
            // The delete is guarded by the version that the update was made of.
            try queue.setETag(earlier.etag, of: later.id, in: database)
            if let base = later.base, let older = earlier.base {
                try queue.rewrite(
                    later.id, key: Entity(shape: base.shape, key: later.key), changes: later.changes,
                    base: base.merging(older), in: database)
            }
            try queue.setDependencies(
                Set(later.dependsOn).union(earlier.dependsOn).subtracting([earlier.id]), of: later.id, in: database)
            try queue.remove(earlier.id, in: database)
            try queue.replaceDependency(on: earlier.id, by: nil, in: database)
            return .one(later.id)
        case (.create, .delete):
            // What others refer to must be made first, whatever becomes of it.
            let others = try queue.requests(in: database).contains {
                $0.id != later.id && !Set($0.dependsOn).isDisjoint(with: [earlier.id, later.id])
            }
            guard !others else { return nil }
            try queue.remove(earlier.id, in: database)
            try queue.remove(later.id, in: database)
            try database.execute(
                sql: "DELETE FROM outpost_shelf WHERE entity_set = ? AND row_id = ?",
                arguments: [later.entitySet, later.rowID])
            return .nothing
        default:
            return nil
        }
    }

    private func keepOptions(of later: QueuedRequest, in earlier: QueuedRequest, in database: Database) throws {
        let options = earlier.options.joined(with: later.options)
        guard options != earlier.options else { return }
        try queue.setOptions(options, of: earlier.id, in: database)
    }
}
