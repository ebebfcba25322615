import GRDB
import ODataModel
import ODataService

/// Related entities in an update: a complete collection, or a delta (OData Protocol 4.01, 11.4.3.1 *Update Related
/// Entities When Updating an Entity*).
extension RowWriter {
    /// Changes the related entities of a navigation property.
    ///
    /// - Parameters:
    ///   - relation: the navigation property.
    ///   - related: the new related entities, or a delta.
    ///   - isDelta: whether entities that are missing in `related` remain.
    func update(
        _ relation: Relation, to related: RelatedEntities, isDelta: Bool, in context: WriteContext
    ) throws -> RelatedEntities? {
        switch related {
        case .references(let ids):
            for id in ids {
                try link(
                    relation.row, to: id, name: relation.name, relation.storage, plan: relation.plan,
                    in: context)
            }
            return nil
        case .none:
            try keepOnly([], of: relation, in: context)
            return RelatedEntities.none
        case .one(let other):
            let current = try relatedRows(relation.row, relation.name, limit: 1, in: context.database).first
            let other = try keyed(other, by: current)
            let kept = try put(other, into: relation, in: context)
            try keepOnly(kept.map { [$0.id] } ?? [], of: relation, in: context)
            return kept.map { .one($0.entity) } ?? RelatedEntities.none
        case .many(let others, _, _):
            var kept: [WrittenRow] = []
            for other in others {
                if let row = try put(other, into: relation, in: context) { kept.append(row) }
            }
            if !isDelta { try keepOnly(Set(kept.map(\.id)), of: relation, in: context) }
            return .many(kept.map(\.entity))
        }
    }

    /// Replaces the related entities of a collection with the entities that have the given ids.
    func replaceLinks(
        of row: WrittenRow, navigation name: String, by ids: [String], in context: WriteContext
    ) throws {
        let plan = try plan(row.set)
        guard let storage = plan.storage.navigation[name] else { throw ODataError.notImplemented(name) }
        let relation = Relation(row: row, name: name, storage: storage, plan: plan)
        var kept: Set<String> = []
        for id in ids {
            try link(row, navigation: name, to: id, request: context.request, in: context.database)
            let (set, key) = try EntityID.parse(id, model: mapping.model)
            kept.insert(try read(key: key, in: set, database: context.database)?.id ?? id)
        }
        try keepOnly(kept, of: relation, in: context)
    }

    /// Returns an entity with the id of the current related entity, unless it has its own.
    private func keyed(_ other: ODataEntity, by current: WrittenRow?) throws -> ODataEntity {
        guard other.control.removedReason != nil || (other.control.id == nil && other.key == nil), let current else {
            return other
        }
        var other = other
        other.control.id = other.control.id ?? current.id
        return other
    }

    /// Creates, changes, links or removes a related entity in an update.
    ///
    /// - Returns: The row after the change; `nil` if it was removed.
    func put(
        _ other: ODataEntity, into relation: Relation, in context: WriteContext
    ) throws -> WrittenRow? {
        let target = relation.storage.target
        let isGiven = !Self.given(other).isEmpty
        let (joined, parent) = try joined(other, to: relation)
        let key = try key(of: other) ?? joined.key
        let existing = try key.flatMap { try read(key: $0, in: target, parent: parent, database: context.database) }
        if let reason = other.control.removedReason {
            guard let existing else { return nil }
            _ = try member(of: relation.row, relation.name, key: existing.entity.key, in: context.database)
            try checkCondition(of: other, on: existing)
            if reason == "deleted" {
                try delete(at: existing.address, in: context)
            } else {
                try takeAway(existing, from: relation, in: context)
            }
            return nil
        }
        try checkCondition(of: other, on: existing)
        guard let existing else {
            guard isGiven else {
                throw ODataError(
                    status: 400, code: "InvalidReference",
                    message: "\(other.control.id ?? relation.name) does not exist.", target: relation.name)
            }
            return try createDependent(
                other, of: relation.row, name: relation.name, relation.storage, plan: relation.plan,
                in: context)
        }
        if case .link = relation.storage {
            let isNew = try relatedRows(
                relation.row, relation.name, key: existing.entity.key, limit: 1, in: context.database
            ).isEmpty
            if isNew {
                try insertLink(from: relation.row, relation.name, to: existing, in: context)
            }
            guard isGiven else {
                try hook?.prepareReference(
                    to: existing, by: relation.name, request: context.request, in: context.database)
                return existing
            }
        }
        let changed = try update(joined, at: existing.address, in: context.with(.update))
        try checkBindings(of: other, as: changed, in: relation)
        return changed
    }

    /// Removes the related entities without one of the given ids.
    ///
    /// - Parameter type: the type of the entities that may be removed; `nil` for all.
    func keepOnly(
        _ ids: Set<String>, of relation: Relation, type: QualifiedName? = nil, in context: WriteContext
    ) throws {
        for row in try relatedRows(relation.row, relation.name, in: context.database)
        where !ids.contains(row.id) && type.map({ mapping.model.isType(row.entity.shape.name, $0) }) ?? true {
            // An earlier removal may have removed this entity, too.
            guard let row = try related(relation.row, relation.name, key: row.entity.key, in: context.database)
            else { continue }
            try takeAway(row, from: relation, in: context)
        }
    }

    /// Removes an entity from a relation. A contained entity is deleted (OData Protocol 4.01, 11.4.3.1).
    ///
    /// - Throws: 400 or 409 for an entity with a mandatory foreign key.
    private func takeAway(
        _ row: WrittenRow, from relation: Relation, in context: WriteContext
    ) throws {
        switch relation.storage {
        case .link:
            try deleteLink(from: relation.row, relation.name, to: row, in: context)
        case .join(_, let pairs):
            guard !relation.storage.leadsToParts else {
                return try delete(at: row.address, in: context)
            }
            try takeForeignKey(pairs, of: relation.name, from: row, in: context.with(.update))
        }
    }
}
