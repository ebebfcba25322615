import Foundation
import GRDB
import ODataModel
import ODataService

/// Related entities in a change: references to existing entities (`@odata.bind`) and new entities (deep insert;
/// OData Protocol 4.01, 11.4.2.1 and 11.4.2.2).
extension RowWriter {
    /// Sets the foreign keys for references in single-valued navigation properties, and creates or changes the
    /// principals of a deep insert or deep update.
    ///
    /// - Parameter before: the row before an update; `nil` for an insert.
    /// - Returns: The principals that were created or changed, by navigation property.
    func resolveReferences(
        in entity: inout ODataEntity, of plan: WritePlan, before: WrittenRow?, context: WriteContext
    ) throws -> [String: RelatedEntities] {
        var principals: [String: RelatedEntities] = [:]
        for (name, related) in entity.related.sorted(by: { $0.key < $1.key }) {
            guard let navigation = entity.shape.navigationProperty(name) else {
                throw ODataError(
                    status: 400, code: "UnknownProperty",
                    message: "\(entity.shape) has no navigation property \(name).", target: name)
            }
            guard !navigation.isCollection, !navigation.constraints.isEmpty else { continue }
            switch related {
            case .none:
                for constraint in navigation.constraints { entity[constraint.property] = .null }
            case .references(let ids):
                guard ids.count <= 1 else { throw tooMany(name) }
                for constraint in navigation.constraints where ids.isEmpty { entity[constraint.property] = .null }
                if let id = ids.first {
                    try bind(&entity, navigation, to: id, plan: plan, in: context)
                }
            case .one(let other):
                if let id = other.control.id, Self.given(other).isEmpty {
                    try bind(&entity, navigation, to: id, plan: plan, in: context)
                    continue
                }
                guard let target = plan.storage.navigation[name]?.target else {
                    throw ODataError.notImplemented("Deep insert of \(name)")
                }
                let written = try principal(
                    other, in: target, name: name, of: before, context: context)
                for constraint in navigation.constraints {
                    entity[constraint.property] = written?.entity[constraint.referencedProperty] ?? .null
                }
                principals[name] = written.map { .one($0.entity) } ?? RelatedEntities.none
            case .many: throw tooMany(name)
            }
        }
        return principals
    }

    /// Creates the principal in an entity. In an update, the principal with the given key is changed or, without a
    /// key, the current principal of the row (OData Protocol 4.01, 11.4.3.1).
    private func principal(
        _ other: ODataEntity, in target: String, name: String, of before: WrittenRow?, context: WriteContext
    ) throws -> WrittenRow? {
        guard let before else { return try create(other, in: target, context: context) }
        guard rules.updatesRelated else { throw ODataError.notImplemented("Deep update of \(name)") }
        let key = try key(of: other)
        let current = try related(before, name, key: nil, in: context.database)
        let existing = try key.map { try read(key: $0, in: target, database: context.database) } ?? current
        if let reason = other.control.removedReason {
            guard let existing else { return nil }
            guard existing.id == current?.id else { throw notFound(existing.entity.key, in: name, of: before) }
            try checkCondition(of: other, on: existing)
            if reason == "deleted" {
                try delete(at: RowAddress(set: target, key: existing.entity.key), in: context.unconditional)
            }
            return nil
        }
        try checkCondition(of: other, on: existing)
        guard let existing else { return try create(other, in: target, context: context) }
        return try update(other, at: RowAddress(set: target, key: existing.entity.key), in: context.unconditional)
    }

    /// Checks the condition of the ETag that an entity within a body contains (OData Protocol 4.01, 11.4.3 and
    /// 11.4.12).
    ///
    /// - Parameter existing: the row of the entity; `nil` if there is none. No ETag matches a missing row, not even
    ///   `*`.
    /// - Throws: 412.
    func checkCondition(of other: ODataEntity, on existing: WrittenRow?) throws {
        guard let etag = other.control.etag else { return }
        guard let existing, Self.matches(etag, existing.etag) else {
            throw ODataError.preconditionFailed(
                existing?.id ?? other.control.id ?? "\(other.shape)", existing == nil ? .missing : .changed)
        }
    }

    /// Returns the key of a related entity in a body, from its properties or its id.
    func key(of other: ODataEntity) throws -> EntityKey? {
        if let key = other.key { return key }
        return try other.control.id.flatMap { try EntityID.parse($0, model: mapping.model).key }
    }

    private func tooMany(_ name: String) -> ODataError {
        ODataError(status: 400, code: "InvalidValue", message: "\(name) leads to a single entity.", target: name)
    }

    /// Sets the foreign key of a navigation property to the entity with an id.
    private func bind(
        _ entity: inout ODataEntity, _ navigation: NavigationProperty, to id: String, plan: WritePlan,
        in context: WriteContext
    ) throws {
        let (set, key) = try EntityID.parse(id, model: mapping.model)
        let model = mapping.model
        let other = ODataError(
            status: 400, code: "InvalidReference", message: "\(id) is not a \(navigation.target).",
            target: navigation.name)
        guard let target = mapping.tables[set] else { throw other }
        // The set of a base type contains entities of the required type, but also other entities.
        let isOfBaseType = !model.isType(target.shape.name, navigation.target)
        guard !isOfBaseType || model.isType(navigation.target, target.shape.name) else { throw other }
        var row: ODataEntity?
        if rules.watchesReferences || isOfBaseType {
            // A reference to a missing entity is refused (OData Protocol 4.01, 11.4.2.1 and 11.4.6).
            guard let found = try read(key: key, in: set, database: context.database) else {
                throw ODataError.missingReference(id, by: navigation.name)
            }
            try hook?.prepareReference(to: found, by: navigation.name, request: context.request, in: context.database)
            row = found.entity
            guard let row, model.isType(row.shape.name, navigation.target) else { throw other }
        }
        for constraint in navigation.constraints {
            guard entity.shape.ordinal(of: constraint.property) != nil else {
                throw ODataError.notImplemented("Binding \(navigation.name)")
            }
            let name = target.shape.key.first { $0.path == constraint.referencedProperty }?.name
            if let name, let value = key?[name] {
                entity[constraint.property] = value
                continue
            }
            if row == nil { row = try read(key: key, in: set, database: context.database)?.entity }
            guard let row, let value = row[constraint.referencedProperty] else {
                throw ODataError.missingReference(id, by: navigation.name)
            }
            entity[constraint.property] = value
        }
    }

    /// Returns whether the foreign key of a navigation property refers to the entity with an id, which may be
    /// missing in the store.
    private func refers(
        _ written: WrittenRow, by navigation: NavigationProperty, to id: String, plan: WritePlan,
        in context: WriteContext
    ) throws -> Bool {
        var bound = ODataEntity(shape: written.entity.shape)
        do {
            try bind(&bound, navigation, to: id, plan: plan, in: context)
        } catch let error as ODataError where error.code == "InvalidReference" {
            return false
        }
        return navigation.constraints.allSatisfy { bound[$0.property] == written.entity[$0.property] }
    }

    /// Creates the dependents of a deep insert and the links to existing entities. In an update, existing
    /// dependents are changed.
    func createRelated(
        of entity: ODataEntity, written: inout WrittenRow, plan: WritePlan, in context: WriteContext
    ) throws {
        for (name, related) in entity.related.sorted(by: { $0.key < $1.key }) {
            guard let navigation = entity.shape.navigationProperty(name),
                navigation.constraints.isEmpty || navigation.isCollection
            else { continue }
            guard let storage = plan.storage.navigation[name] else { throw ODataError.notImplemented(name) }
            if !navigation.isCollection {
                switch related {
                case .references(let ids) where ids.count > 1: throw tooMany(name)
                case .many: throw tooMany(name)
                default: break
                }
            }
            let relation = Relation(row: written, name: name, storage: storage, plan: plan)
            if context.request.method != .create, rules.updatesRelated, !written.isNew {
                let isDelta = entity.control.annotations[name + Self.deltaMark] != nil
                written.entity.related[name] = try update(
                    relation, to: related, isDelta: isDelta, in: context.unconditional)
                continue
            }
            switch related {
            case .none: break
            case .references(let ids):
                for id in ids {
                    try link(
                        written, to: id, name: name, storage, plan: plan, in: context)
                }
            case .one(let other):
                written.entity.related[name] = .one(try relate(other, to: relation, in: context))
            case .many(let others, _, _):
                written.entity.related[name] = .many(
                    try others.map { try relate($0, to: relation, in: context) })
            }
        }
    }

    /// The suffix of the annotation that marks a nested delta.
    static let deltaMark = "@odata.delta"

    /// A navigation property of a row.
    struct Relation {
        var row: WrittenRow
        var name: String
        var storage: NavigationStorage
        var plan: WritePlan
    }

    /// Creates a related entity in a body, or links it if it consists only of an id.
    func relate(
        _ other: ODataEntity, to relation: Relation, in context: WriteContext
    ) throws -> ODataEntity {
        if let id = other.control.id, Self.given(other).isEmpty {
            try link(
                relation.row, to: id, name: relation.name, relation.storage, plan: relation.plan, in: context)
            return other
        }
        return try createDependent(
            other, of: relation.row, name: relation.name, relation.storage, plan: relation.plan, in: context
        ).entity
    }

    /// Creates an entity that is related to a row by a foreign key, by containment, or by a link.
    func createDependent(
        _ other: ODataEntity, of written: WrittenRow, name: String, _ storage: NavigationStorage, plan: WritePlan,
        in context: WriteContext
    ) throws -> WrittenRow {
        guard context.request.method == .create || rules.updatesRelated else {
            throw ODataError.notImplemented("Deep update of \(name)")
        }
        let relation = Relation(row: written, name: name, storage: storage, plan: plan)
        var (other, parent) = try joined(other, to: relation)
        let context = context.with(.create)
        if let id = other.control.id, other.key == nil, let key = try EntityID.parse(id, model: mapping.model).key {
            // The key may be given only in the id.
            for part in key.parts {
                guard let path = other.shape.key.first(where: { $0.name == part.name })?.path,
                    let ordinal = other.shape.ordinal(of: path)
                else { continue }
                other.values[ordinal] = part.value
            }
        }
        let created = try create(other, in: storage.target, parent: parent, context: context)
        try checkBindings(of: other, as: created, in: relation)
        if case .link = storage {
            try insertLink(from: written, name, to: created, in: context)
        }
        return created
    }

    /// Checks that an entity has no reference that contradicts the relation in which it was created or changed
    /// (OData Protocol 4.01, 11.4.2.1).
    ///
    /// - Parameters:
    ///   - other: the entity in the body.
    ///   - row: the row after the change.
    /// - Throws: 400 with the navigation property of the contradiction; 409 if the foreign key was not changed.
    func checkBindings(of other: ODataEntity, as row: WrittenRow, in relation: Relation) throws {
        guard case .join(let target, let pairs) = relation.storage else { return }
        let dependent = try plan(target)
        var wanted: [String: ODataValue] = [:]
        for pair in pairs {
            guard let path = dependent.path(ofColumn: pair.target),
                let source = relation.plan.path(ofColumn: pair.source)
            else { continue }
            wanted[path] = relation.row.entity[source] ?? .null
            guard !Self.isSame(row.entity[path], wanted[path]),
                let bound = other.related.keys.sorted().first(where: { name in
                    other.shape.navigationProperty(name)?.constraints.contains { $0.property == path } == true
                })
            else { continue }
            throw ODataError(
                status: 400, code: "ContradictingBinding",
                message:
                    "\(bound) refers to another entity than \(relation.row.id), which contains it in \(relation.name).",
                target: bound)
        }
        try checkForeignKey(of: row, is: wanted, by: relation.name)
    }

    /// Checks that a change of a relation has changed the foreign key.
    ///
    /// An update ignores key properties, computed properties and immutable properties (11.4.3), so that the
    /// relation could remain unchanged without an error.
    ///
    /// - Parameters:
    ///   - row: the dependent after the update.
    ///   - wanted: the expected foreign key, by path.
    ///   - name: the navigation property in the request.
    /// - Throws: 409 with the navigation property as target (11.4.6.2).
    func checkForeignKey(of row: WrittenRow, is wanted: [String: ODataValue], by name: String) throws {
        for (path, value) in wanted.sorted(by: { $0.key < $1.key }) where !Self.isSame(row.entity[path], value) {
            let isKey = row.entity.shape.key.contains { $0.path == path }
            throw ODataError(
                status: 409, code: "FixedRelation",
                message: "\(name) cannot relate \(row.id) otherwise: its foreign key \(path) "
                    + (isKey ? "is part of its key. Delete it, and create another one." : "cannot be changed."),
                target: name)
        }
    }

    /// Checks that no relation in an update requires another key, because an update ignores a foreign key that is
    /// part of the key (OData Protocol 4.01, 11.4.3).
    ///
    /// - Parameters:
    ///   - patch: the changes, including the foreign keys of relations.
    ///   - row: the row before the update.
    /// - Throws: 409 with the navigation property as target.
    func checkKeys(of patch: ODataEntity, before row: WrittenRow) throws {
        let keys = Set(row.entity.shape.key.map(\.path))
        for name in patch.related.keys.sorted() {
            guard let navigation = row.entity.shape.navigationProperty(name), !navigation.isCollection else { continue }
            let parts = navigation.constraints.map(\.property).filter { keys.contains($0) && patch[$0] != nil }
            try checkForeignKey(
                of: row, is: Dictionary(parts.map { ($0, patch[$0] ?? .null) }) { first, _ in first }, by: name)
        }
    }

    /// Returns whether two values of a foreign key are equal. `nil` is null, and numbers may have different types.
    private static func isSame(_ left: ODataValue?, _ right: ODataValue?) -> Bool {
        let (left, right) = (left ?? .null, right ?? .null)
        if left.isIdentical(to: right) { return true }
        guard let first = number(left), let second = number(right) else { return false }
        return first == second
    }

    private static func number(_ value: ODataValue) -> ODataDecimal? {
        switch value {
        case .integer(let number): ODataDecimal(number)
        case .decimal(let number): number
        case .double, .single: value.lexicalText.flatMap { ODataDecimal($0) }
        default: nil
        }
    }

    /// Returns an entity with the foreign key that relates it to a row, and the row id of the row if it contains
    /// the entity.
    func joined(_ other: ODataEntity, to relation: Relation) throws -> (ODataEntity, parent: Int64?) {
        guard case .join(let target, let pairs) = relation.storage else { return (other, nil) }
        var other = other
        var parent: Int64?
        let dependent = try plan(target)
        for pair in pairs {
            if pair.target == OfflineLayout.parentColumn {
                parent = relation.row.rowID
                continue
            }
            guard let path = dependent.path(ofColumn: pair.target),
                let ordinal = other.shape.ordinal(of: path), let source = relation.plan.path(ofColumn: pair.source)
            else { throw ODataError.notImplemented("Deep insert into \(relation.name)") }
            let value = relation.row.entity[source] ?? .null
            // A body without changed properties counts as a whole. Setting the value by name would leave only this
            // property as given.
            if other.changedProperties.isEmpty {
                other.values[ordinal] = value
            } else {
                other[path] = value
            }
        }
        return (other, parent)
    }

    // MARK: Links

    /// Relates a row to the entity with an id (POST to `$ref` of a collection, PUT to `$ref` of a single-valued
    /// property).
    ///
    /// - Parameter written: the row with the navigation property.
    /// - Throws: ``ODataError`` if the change is refused.
    public func link(
        _ written: WrittenRow, navigation name: String, to id: String, request: ODataRequest, in database: Database
    ) throws {
        let context = WriteContext(request: request, database: database)
        let plan = try writable(written.set, "UpdateRestrictions", property: "Updatable", request: request)
        guard let navigation = written.entity.shape.navigationProperty(name) else { throw ODataError.notFound(name) }
        if !navigation.constraints.isEmpty {
            var patch = ODataEntity(shape: written.entity.shape)
            patch.related[name] = .references([id])
            _ = try update(patch, at: written.address, in: context)
            return
        }
        guard let storage = plan.storage.navigation[name] else { throw ODataError.notImplemented(name) }
        try link(written, to: id, name: name, storage, plan: plan, in: context)
        try hook?.didWrite(
            RowChange(
                kind: .update, table: plan.storage, rowID: written.rowID, before: written.entity,
                after: written.entity, changedProperties: [name], request: request, parent: written.parent),
            in: database)
    }

    /// Removes a relation or, without an id, all relations of a navigation property.
    ///
    /// - Throws: ``ODataError`` if the change is refused.
    public func unlink(
        _ written: WrittenRow, navigation name: String, from id: String?, request: ODataRequest, in database: Database
    ) throws {
        let context = WriteContext(request: request, database: database)
        let plan = try writable(written.set, "UpdateRestrictions", property: "Updatable", request: request)
        guard let navigation = written.entity.shape.navigationProperty(name) else { throw ODataError.notFound(name) }
        if !navigation.constraints.isEmpty {
            if let id, try !refers(written, by: navigation, to: id, plan: plan, in: context) {
                throw ODataError.notFound(id)
            }
            var patch = ODataEntity(shape: written.entity.shape)
            patch.related[name] = RelatedEntities.none
            _ = try update(patch, at: written.address, in: context)
            return
        }
        guard let storage = plan.storage.navigation[name] else { throw ODataError.notImplemented(name) }
        let rows: [WrittenRow]
        if let id {
            let (set, key) = try EntityID.parse(id, model: mapping.model)
            guard set == storage.target else { throw ODataError.notFound(id) }
            rows = [try member(of: written, name, key: key, in: database)]
        } else {
            rows = try relatedRows(written, name, in: database)
        }
        switch storage {
        case .link:
            for row in rows {
                try deleteLink(from: written, name, to: row, in: context)
            }
        case .join(_, let pairs):
            for row in rows {
                try takeForeignKey(pairs, of: name, from: row, in: context)
            }
            return
        }
        try hook?.didWrite(
            RowChange(
                kind: .update, table: plan.storage, rowID: written.rowID, before: written.entity,
                after: written.entity, changedProperties: [name], request: request, parent: written.parent),
            in: database)
    }

    /// Resets the foreign key of an entity to which a navigation property of another entity leads.
    func takeForeignKey(
        _ pairs: [NavigationStorage.ColumnPair], of name: String, from row: WrittenRow, in context: WriteContext
    ) throws {
        let dependent = try plan(row.set)
        var patch = ODataEntity(shape: row.entity.shape)
        for pair in pairs {
            guard let path = dependent.path(ofColumn: pair.target), patch.shape.ordinal(of: path) != nil else {
                throw ODataError.notImplemented("Taking away \(name)")
            }
            patch[path] = .null
        }
        do {
            // The condition of the request applies to the other row, and not to the row with the foreign key.
            let written = try update(patch, at: row.address, in: context.unconditional)
            let wanted = patch.changedProperties.map { ($0, ODataValue.null) }
            try checkForeignKey(of: written, is: Dictionary(wanted) { first, _ in first }, by: name)
        } catch let error as ODataError where error.status == 400 && error.target.map({ patch[$0] == .null }) == true {
            // The client has specified the relation and may not know the foreign key.
            var named = error
            named.message = "\(name) cannot be taken from \(row.id): \(error.message)"
            named.target = name
            throw named
        }
    }

    /// Relates a row to an existing one, by a row in the link table or by the foreign key in the other row.
    func link(
        _ written: WrittenRow, to id: String, name: String, _ storage: NavigationStorage, plan: WritePlan,
        in context: WriteContext
    ) throws {
        let (set, key) = try EntityID.parse(id, model: mapping.model)
        guard set == storage.target, let other = try read(key: key, in: set, database: context.database) else {
            throw ODataError(
                status: 400, code: "InvalidReference", message: "\(id) does not exist in \(storage.target).",
                target: name)
        }
        switch storage {
        case .link: try insertLink(from: written, name, to: other, in: context)
        case .join(_, let pairs):
            let isSingle = written.entity.shape.navigationProperty(name)?.isCollection == false
            for former in isSingle ? try relatedRows(written, name, in: context.database) : []
            where former.id != other.id {
                // The new entity replaces the current one (OData Protocol 4.01, 11.4.6.3).
                try takeForeignKey(pairs, of: name, from: former, in: context)
            }
            let dependent = try self.plan(set)
            var patch = ODataEntity(shape: other.entity.shape)
            var wanted: [String: ODataValue] = [:]
            for pair in pairs {
                guard let path = dependent.path(ofColumn: pair.target), patch.shape.ordinal(of: path) != nil,
                    let source = plan.path(ofColumn: pair.source)
                else { throw ODataError.notImplemented("Linking \(name)") }
                patch[path] = written.entity[source] ?? .null
                wanted[path] = patch[path]
            }
            let related = try update(patch, at: other.address, in: context.unconditional)
            try checkForeignKey(of: related, is: wanted, by: name)
        }
    }

    /// Calls the hook, and removes a relation from a link table.
    func deleteLink(
        from source: WrittenRow, _ navigation: String, to target: WrittenRow, in context: WriteContext
    ) throws {
        let relation = try linkRow(from: source, navigation, to: target)
        try hook?.didLink(
            LinkChange(
                isAdded: false, source: source, navigation: navigation, target: target, request: context.request),
            in: context.database)
        try mapping.unrelate(relation, in: context.database)
    }

    /// Adds a relation to a link table, and calls the hook with the replaced relations.
    func insertLink(
        from source: WrittenRow, _ navigation: String, to target: WrittenRow, in context: WriteContext
    ) throws {
        let replaced = try mapping.relate(try linkRow(from: source, navigation, to: target), in: context.database)
        try hook?.didLink(
            LinkChange(
                isAdded: true, source: source, navigation: navigation, target: target, replaced: replaced,
                request: context.request), in: context.database)
    }

    /// Returns two rows in the form of a link table.
    private func linkRow(
        from source: WrittenRow, _ navigation: String, to target: WrittenRow
    ) throws -> RelatedRows {
        guard let sourceRow = source.rowID, let targetRow = target.rowID,
            let relation = mapping.relatedRows(source.set, navigation, from: sourceRow, to: targetRow)
        else { throw ODataError.notImplemented("Links of rows without row ids") }
        return relation
    }
}

extension ODataError {
    /// Returns the error for a reference to a missing entity.
    package static func missingReference(_ id: String, by navigation: String) -> ODataError {
        ODataError(status: 400, code: "InvalidReference", message: "\(id) does not exist.", target: navigation)
    }
}
