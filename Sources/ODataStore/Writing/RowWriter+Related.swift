import Foundation
import GRDB
import ODataModel
import ODataService

/// What a change says of related entities: references to existing ones (`@odata.bind`) and new ones within it
/// (deep insert; OData Protocol 4.01, 11.4.2.1 and 11.4.2.2).
extension RowWriter {
    /// Sets the foreign keys that references of single-valued navigation properties stand for, and creates
    /// the principals that a deep insert brings.
    func resolveReferences(
        in entity: inout Entity, of plan: WritePlan, request: ODataRequest, database: Database
    ) throws {
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
                    try bind(&entity, navigation, to: id, plan: plan, database: database)
                }
            case .one(let other):
                if let id = other.control.id, Self.given(other).isEmpty {
                    try bind(&entity, navigation, to: id, plan: plan, database: database)
                    continue
                }
                guard request.method == .create, let target = plan.storage.navigation[name]?.target else {
                    throw ODataError.notImplemented("Deep update of \(name)")
                }
                let created = try create(other, in: target, request: request, database: database)
                for constraint in navigation.constraints {
                    entity[constraint.property] = created.entity[constraint.referencedProperty] ?? .null
                }
            case .many: throw tooMany(name)
            }
        }
    }

    private func tooMany(_ name: String) -> ODataError {
        ODataError(status: 400, code: "InvalidValue", message: "\(name) leads to a single entity.", target: name)
    }

    /// Sets the foreign key of a navigation property to the entity with an id.
    private func bind(
        _ entity: inout Entity, _ navigation: NavigationProperty, to id: String, plan: WritePlan, database: Database
    ) throws {
        let (set, key) = try EntityID.parse(id, model: mapping.model)
        guard let target = mapping.tables[set], mapping.model.isType(target.shape.name, navigation.target) else {
            throw ODataError(
                status: 400, code: "InvalidReference", message: "\(id) is not a \(navigation.target).",
                target: navigation.name)
        }
        var row: Entity?
        for constraint in navigation.constraints {
            guard entity.shape.ordinal(of: constraint.property) != nil else {
                throw ODataError.notImplemented("Binding \(navigation.name)")
            }
            let name = target.shape.key.first { $0.path == constraint.referencedProperty }?.name
            if let name, let value = key?[name] {
                entity[constraint.property] = value
                continue
            }
            if row == nil { row = try read(key: key, in: set, database: database)?.entity }
            guard let row, let value = row[constraint.referencedProperty] else {
                throw ODataError(
                    status: 400, code: "InvalidReference", message: "\(id) does not exist.", target: navigation.name)
            }
            entity[constraint.property] = value
        }
    }

    /// Creates the dependents that a deep insert brings, and the links to existing entities.
    func createRelated(
        of entity: Entity, written: inout WrittenRow, plan: WritePlan, request: ODataRequest, database: Database
    ) throws {
        for (name, related) in entity.related.sorted(by: { $0.key < $1.key }) {
            guard let navigation = entity.shape.navigationProperty(name),
                navigation.constraints.isEmpty || navigation.isCollection
            else { continue }
            guard let storage = plan.storage.navigation[name] else { throw ODataError.notImplemented(name) }
            switch related {
            case .none: break
            case .references(let ids):
                for id in ids {
                    try link(
                        written, to: id, name: name, storage, plan: plan, request: request, database: database)
                }
            case .one(let other):
                written.entity.related[name] = .one(
                    try relate(
                        other, to: written, name: name, storage, plan: plan, request: request, database: database))
            case .many(let others, _, _):
                var created: [Entity] = []
                for other in others {
                    created.append(
                        try relate(
                            other, to: written, name: name, storage, plan: plan, request: request, database: database))
                }
                written.entity.related[name] = .many(created)
            }
        }
    }

    /// Creates an entity that stands within another one, or links it where it is only an id.
    private func relate(
        _ other: Entity, to written: WrittenRow, name: String, _ storage: NavigationStorage, plan: WritePlan,
        request: ODataRequest, database: Database
    ) throws -> Entity {
        if let id = other.control.id, Self.given(other).isEmpty {
            try link(written, to: id, name: name, storage, plan: plan, request: request, database: database)
            return other
        }
        return try createDependent(
            other, of: written, name: name, storage, plan: plan, request: request, database: database
        ).entity
    }

    /// Creates an entity that is related to a row: with its key as foreign key, as its child, or linked to it.
    func createDependent(
        _ other: Entity, of written: WrittenRow, name: String, _ storage: NavigationStorage, plan: WritePlan,
        request: ODataRequest, database: Database
    ) throws -> WrittenRow {
        guard request.method == .create else { throw ODataError.notImplemented("Deep update of \(name)") }
        var other = other
        var parent: Int64?
        if case .join(let target, let pairs) = storage {
            let dependent = try self.plan(target)
            for pair in pairs {
                if pair.target == OfflineLayout.parentColumn {
                    parent = written.rowID
                    continue
                }
                guard let path = dependent.path(ofColumn: pair.target),
                    let ordinal = other.shape.ordinal(of: path), let source = plan.path(ofColumn: pair.source)
                else { throw ODataError.notImplemented("Deep insert into \(name)") }
                let value = written.entity[source] ?? .null
                // Set by name only where the others were: a body gives all that it has.
                if other.changedProperties.isEmpty {
                    other.values[ordinal] = value
                } else {
                    other[path] = value
                }
            }
        }
        let created = try create(other, in: storage.target, parent: parent, request: request, database: database)
        if case .link(_, let table, let source, let target) = storage {
            try insertLink(table, source, written.rowID, target, created.rowID, database: database)
        }
        return created
    }

    // MARK: Links

    /// Relates a row to the entity with an id (POST to `$ref` of a collection, PUT to `$ref` of a
    /// single-valued property).
    ///
    /// - Parameter written: the row that the navigation property belongs to.
    /// - Throws: ``ODataError`` when refused.
    public func link(
        _ written: WrittenRow, navigation name: String, to id: String, request: ODataRequest, database: Database
    ) throws {
        let plan = try writable(written.set, "UpdateRestrictions", "Updatable", request)
        guard let navigation = written.entity.shape.navigationProperty(name) else { throw ODataError.notFound(name) }
        if !navigation.constraints.isEmpty {
            var patch = Entity(shape: written.entity.shape)
            patch.related[name] = .references([id])
            _ = try update(
                patch, key: written.entity.key, in: written.set, parent: written.parent, request: request,
                database: database)
            return
        }
        guard let storage = plan.storage.navigation[name] else { throw ODataError.notImplemented(name) }
        try link(written, to: id, name: name, storage, plan: plan, request: request, database: database)
        try hook?.didWrite(
            RowChange(
                kind: .update, table: plan.storage, rowID: written.rowID, before: written.entity,
                after: written.entity, changedProperties: [name], request: request), in: database)
    }

    /// Takes a relation away again; without an id, all of a navigation property.
    ///
    /// - Throws: ``ODataError`` when refused.
    public func unlink(
        _ written: WrittenRow, navigation name: String, from id: String?, request: ODataRequest, database: Database
    ) throws {
        let plan = try writable(written.set, "UpdateRestrictions", "Updatable", request)
        guard let navigation = written.entity.shape.navigationProperty(name) else { throw ODataError.notFound(name) }
        if !navigation.constraints.isEmpty {
            var patch = Entity(shape: written.entity.shape)
            patch.related[name] = RelatedEntities.none
            _ = try update(
                patch, key: written.entity.key, in: written.set, parent: written.parent, request: request,
                database: database)
            return
        }
        guard let storage = plan.storage.navigation[name] else { throw ODataError.notImplemented(name) }
        let target = try id.map { try EntityID.parse($0, model: mapping.model) }
        switch storage {
        case .link(let set, let table, let source, let targetColumn):
            var sql = "DELETE FROM \(quoted(table)) WHERE \(quoted(source)) = ?"
            var arguments: [DatabaseValue] = [written.rowID.databaseValue]
            if let target {
                guard let row = try read(key: target.key, in: set, database: database) else {
                    throw ODataError.notFound(id ?? set)
                }
                sql += " AND \(quoted(targetColumn)) = ?"
                arguments.append(row.rowID.databaseValue)
            }
            try database.execute(sql: sql, arguments: StatementArguments(arguments))
        case .join(let targetSet, let pairs):
            guard let target else { throw ODataError.notImplemented("Taking away all of \(name)") }
            let dependent = try self.plan(targetSet)
            var patch = Entity(shape: dependent.storage.shape)
            for pair in pairs {
                guard let path = dependent.path(ofColumn: pair.target), patch.shape.ordinal(of: path) != nil else {
                    throw ODataError.notImplemented("Taking away \(name)")
                }
                patch[path] = .null
            }
            // The condition of the request was about this row, not about the one that holds the foreign key.
            var request = request
            request.ifMatch = nil
            request.ifNoneMatch = nil
            _ = try update(patch, key: target.key, in: targetSet, request: request, database: database)
            return
        }
        try hook?.didWrite(
            RowChange(
                kind: .update, table: plan.storage, rowID: written.rowID, before: written.entity,
                after: written.entity, changedProperties: [name], request: request), in: database)
    }

    /// Relates a row to an existing one: a row in the link table, or the foreign key in the other row.
    private func link(
        _ written: WrittenRow, to id: String, name: String, _ storage: NavigationStorage, plan: WritePlan,
        request: ODataRequest, database: Database
    ) throws {
        let (set, key) = try EntityID.parse(id, model: mapping.model)
        guard set == storage.target, let other = try read(key: key, in: set, database: database) else {
            throw ODataError(
                status: 400, code: "InvalidReference", message: "\(id) does not exist in \(storage.target).",
                target: name)
        }
        switch storage {
        case .link(_, let table, let source, let target):
            try insertLink(table, source, written.rowID, target, other.rowID, database: database)
        case .join(_, let pairs):
            let dependent = try self.plan(set)
            var patch = Entity(shape: other.entity.shape)
            for pair in pairs {
                guard let path = dependent.path(ofColumn: pair.target), patch.shape.ordinal(of: path) != nil,
                    let source = plan.path(ofColumn: pair.source)
                else { throw ODataError.notImplemented("Linking \(name)") }
                patch[path] = written.entity[source] ?? .null
            }
            var request = request
            request.ifMatch = nil
            request.ifNoneMatch = nil
            _ = try update(patch, key: key, in: set, request: request, database: database)
        }
    }

    private func insertLink(
        _ table: String, _ sourceColumn: String, _ source: Int64?, _ targetColumn: String, _ target: Int64?,
        database: Database
    ) throws {
        guard let source, let target else { throw ODataError.notImplemented("Links of rows without row ids") }
        let sql = """
            INSERT OR IGNORE INTO \(quoted(table)) (\(quoted(sourceColumn)), \(quoted(targetColumn))) VALUES (?, ?)
            """
        try database.cachedStatement(sql: sql).execute(arguments: [source, target])
    }
}
