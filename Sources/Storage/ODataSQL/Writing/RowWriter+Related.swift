import Foundation
import GRDB
import ODataModel
import ODataService

/// What a change says of related entities: references to existing ones (`@odata.bind`) and new ones within it
/// (deep insert; OData Protocol 4.01, 11.4.2.1 and 11.4.2.2).
extension RowWriter {
    /// Sets the foreign keys that references of single-valued navigation properties stand for, and creates
    /// the principals that a deep insert brings, or changes those that a deep update does.
    ///
    /// - Parameter before: the row as it is; `nil` for an insert.
    /// - Returns: the principals that were created or changed, by navigation property.
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

    /// Creates the principal that stands within an entity; within an update, changes the one that its key names or,
    /// without a key, the one that the row refers to (OData Protocol 4.01, 11.4.3.1).
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

    /// Checks the condition that an entity within a body states by its own ETag (OData Protocol 4.01, 11.4.3 and
    /// 11.4.12).
    ///
    /// - Parameter existing: the row that it stands for; `nil` where there is none, which no ETag matches, `*` neither.
    /// - Throws: 412.
    func checkCondition(of other: ODataEntity, on existing: WrittenRow?) throws {
        guard let etag = other.control.etag else { return }
        guard let existing, Self.matches(etag, existing.etag) else {
            throw ODataError.preconditionFailed(
                existing?.id ?? other.control.id ?? "\(other.shape)", existing == nil ? .missing : .changed)
        }
    }

    /// The key that an entity within another one names, by its properties or by its id.
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
        // A set of a base type holds entities of the type wanted, and others.
        let isOfBaseType = !model.isType(target.shape.name, navigation.target)
        guard !isOfBaseType || model.isType(navigation.target, target.shape.name) else { throw other }
        var row: ODataEntity?
        if rules.watchesReferences || isOfBaseType {
            // A relationship to nothing is refused (OData Protocol 4.01, 11.4.2.1 and 11.4.6).
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

    /// Whether the foreign key of a navigation property is that of the entity with an id, which need not be here.
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

    /// Creates the dependents that a deep insert brings, and the links to existing entities; for an update,
    /// changes those that hang on the row already.
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

    /// What follows the name of a navigation property in the mark of a nested delta.
    static let deltaMark = "@odata.delta"

    /// A navigation property of a row.
    struct Relation {
        var row: WrittenRow
        var name: String
        var storage: NavigationStorage
        var plan: WritePlan
    }

    /// Creates an entity that stands within another one, or links it where it is only an id.
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

    /// Creates an entity that is related to a row: with its key as foreign key, as its child, or linked to it.
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
            // The key may stand in the id alone.
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

    /// Checks that an entity is not bound to another one than that by which it was created or changed
    /// (OData Protocol 4.01, 11.4.2.1).
    ///
    /// - Parameters:
    ///   - other: the entity as the body gave it.
    ///   - row: what became of it.
    /// - Throws: 400 with the navigation property that contradicts; 409 for a foreign key that stayed as it was.
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
                message: "\(bound) refers to another entity than \(relation.row.id), in whose \(relation.name) it is.",
                target: bound)
        }
        try checkForeignKey(of: row, is: wanted, by: relation.name)
    }

    /// Checks that a relation was made or taken away as a change of a foreign key. An update leaves alone parts of the key and
    /// computed and immutable properties (11.4.3), so that the relation would be as it was without anybody being told.
    ///
    /// - Parameters:
    ///   - row: the dependent after the update.
    ///   - wanted: the foreign key that the relation asks for, by path.
    ///   - name: the navigation property by which the relation was asked for.
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

    /// Checks that no relation of an update asks for another key: a foreign key that is a part of it stays as it is
    /// (OData Protocol 4.01, 11.4.3).
    ///
    /// - Parameters:
    ///   - patch: the changes, with the foreign keys of the relations that were asked for.
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

    /// Whether two values of a foreign key are the same: `nil` is null, and numbers may be of different types.
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

    /// An entity with the foreign key that relates it to a row, and the row id of that row where it contains it.
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
            // Set by name only where the others were: a body gives all that it has.
            if other.changedProperties.isEmpty {
                other.values[ordinal] = value
            } else {
                other[path] = value
            }
        }
        return (other, parent)
    }

    // MARK: Links

    /// Relates a row to the entity with an id (POST to `$ref` of a collection, PUT to `$ref` of a
    /// single-valued property).
    ///
    /// - Parameter written: the row that the navigation property belongs to.
    /// - Throws: ``ODataError`` when refused.
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

    /// Takes a relation away again; without an id, all of a navigation property.
    ///
    /// - Throws: ``ODataError`` when refused.
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

    /// Takes from an entity the foreign key that relates it by a navigation property of another one.
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
            // The condition of the request was about the other row, not about the one that holds the foreign key.
            let written = try update(patch, at: row.address, in: context.unconditional)
            let wanted = patch.changedProperties.map { ($0, ODataValue.null) }
            try checkForeignKey(of: written, is: Dictionary(wanted) { first, _ in first }, by: name)
        } catch let error as ODataError where error.status == 400 && error.target.map({ patch[$0] == .null }) == true {
            // Who asks has named the relation, and may never have seen the foreign key.
            var named = error
            named.message = "\(name) cannot be taken from \(row.id): \(error.message)"
            named.target = name
            throw named
        }
    }

    /// Relates a row to an existing one: a row in the link table, or the foreign key in the other row.
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
                // The one that comes takes its place (OData Protocol 4.01, 11.4.6.3).
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

    /// Takes the relation of two rows out of a link table, which the hook is told before.
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

    /// Relates two rows in a link table, and tells the hook with what that took the place of.
    func insertLink(
        from source: WrittenRow, _ navigation: String, to target: WrittenRow, in context: WriteContext
    ) throws {
        let replaced = try mapping.relate(try linkRow(from: source, navigation, to: target), in: context.database)
        try hook?.didLink(
            LinkChange(
                isAdded: true, source: source, navigation: navigation, target: target, replaced: replaced,
                request: context.request), in: context.database)
    }

    /// Two rows as a link table has them.
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
    /// The refusal of a relation to what is not there.
    package static func missingReference(_ id: String, by navigation: String) -> ODataError {
        ODataError(status: 400, code: "InvalidReference", message: "\(id) does not exist.", target: navigation)
    }
}
