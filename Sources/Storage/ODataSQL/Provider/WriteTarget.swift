import GRDB
import ODataModel
import ODataQuery
import ODataService

/// The target of a request that changes data: a collection, an entity, a property of an entity, or a reference. It
/// is found by following the path's segments through the stored rows.
package struct WriteTarget {
    /// The set of the target's table: an entity set, a singleton or the path of a contained collection.
    package var set: String
    /// The key of the addressed entity; `nil` for collections and singletons.
    package var key: EntityKey?
    /// The row id of the containing entity, for a contained collection.
    package var parent: Int64?
    /// Whether a single entity is addressed, which may not exist yet.
    var isEntity: Bool
    /// The entity and navigation property that lead to the target; `nil` if containment is their only relation.
    var via: Via?
    /// The path of properties below the entity.
    var properties: [Property] = []
    /// The types to which the path casts the entity or one of its ``properties``, by the number of preceding
    /// properties.
    private var casts: [(depth: Int, shape: TypeShape)] = []
    /// Whether a single-valued navigation property at the end has no related entity.
    var isMissing = false

    /// The source of a related collection or entity.
    struct Via {
        var row: RowWriter.WrittenRow
        /// The path of the navigation property, such as `Orders` or `Address/Country`.
        var path: String
        /// Whether the row contains the related entities.
        var isContainment: Bool
    }

    /// Follows a path.
    ///
    /// - Throws: ``ODataError``: 404 if an entity on the path does not exist, 501 for segments that only reads
    ///   support.
    package init(_ resource: BoundResource, writer: RowWriter, database: Database) throws {
        var current: WriteTarget?
        for (position, step) in resource.steps.enumerated() {
            switch step {
            case .entitySet(let set, _): current = WriteTarget(set: set.name, isEntity: false)
            case .singleton(let singleton, _): current = WriteTarget(set: singleton.name, isEntity: true)
            case .key(let key):
                if let via = current?.via {
                    _ = try writer.member(of: via.row, via.path, key: key, in: database)
                }
                current?.key = key
                current?.isEntity = true
            case .navigation(let navigation, _, _):
                guard let source = current else { throw ODataError.notImplemented("This path") }
                current = try source.following(navigation, writer: writer, in: database)
            case .property(let property, _, _): current?.properties.append(property)
            case .cast(let shape):
                if let depth = current?.properties.count { current?.casts.append((depth, shape)) }
            case .alternateKey:
                current?.key = try Self.key(at: position, of: resource, writer.mapping, in: database)
                current?.isEntity = true
            case .filter, .each: throw ODataError.notImplemented("Changing a filtered collection without $each")
            case .operation(let operation, _): throw ODataError.notImplemented(operation.name.description)
            }
        }
        guard let current else { throw ODataError.notImplemented("Changing the service root") }
        self = current
    }

    /// Returns the key of the entity that an alternate key in a path identifies (OData URL Conventions 4.01,
    /// 4.3.5).
    private static func key(
        at position: Int, of resource: BoundResource, _ mapping: StorageMapping, in database: Database
    ) throws -> EntityKey {
        let steps = Array(resource.steps[...position])
        var place: (shape: TypeShape, set: EntitySet?)?
        for step in steps {
            switch step {
            case .entitySet(let set, let shape): place = (shape, set)
            case .navigation(_, let set, let shape): place = (shape, set)
            default: continue
            }
        }
        guard let place else { throw ODataError.notImplemented("An alternate key here") }
        let query = StoreReader.query(place.shape, place.set)
        let options = SQLCompiler.Options(now: .current)
        let compiled = try SQLCompiler(mapping: mapping, options: options).compile(query, at: steps)
        let found = try StoreReader.entities(
            compiled, query, mapping: mapping, options: options, in: database, limit: 1
        ).first
        guard let key = found?.key else { throw ODataError.notFound(StoreReader.name(of: steps)) }
        return key
    }

    private init(set: String, isEntity: Bool) {
        self.set = set
        self.isEntity = isEntity
    }

    /// Reads the addressed entity.
    ///
    /// - Throws: 404 if it does not exist, or if the path casts it or one of its values to another type (OData URL
    ///   Conventions 4.01, 4.11).
    package func row(writer: RowWriter, in database: Database) throws -> RowWriter.WrittenRow {
        if isMissing, let via { throw ODataError.notFound("\(via.row.id)/\(via.path)") }
        guard isEntity, let row = try writer.read(key: key, in: set, parent: parent, database: database) else {
            let shape = writer.mapping.tables[set]?.shape
            throw ODataError.notFound(
                shape.map { EntityID.canonical(set: set, key: key, shape: $0, model: writer.mapping.model) } ?? set)
        }
        for (depth, shape) in casts {
            let path = properties.prefix(depth)
            guard case .complex(let value)? = row.entity.value(at: path),
                writer.mapping.model.isType(value.shape.name, shape.name)
            else {
                throw ODataError.notFound(([row.id] + path.map(\.name) + ["\(shape.name)"]).joined(separator: "/"))
            }
        }
        return row
    }

    /// Checks the casts of the path, for requests that otherwise do not require the entity to exist.
    ///
    /// - Throws: 404 like ``row(writer:in:)``.
    func checkCasts(writer: RowWriter, in database: Database) throws {
        if !casts.isEmpty { _ = try row(writer: writer, in: database) }
    }

    private func following(
        _ navigation: NavigationProperty, writer: RowWriter, in database: Database
    ) throws -> WriteTarget {
        let row = try row(writer: writer, in: database)
        let path = (properties.map(\.name) + [navigation.name]).joined(separator: "/")
        guard let storage = writer.mapping.tables[set]?.navigation[path] else {
            throw ODataError.notImplemented(path)
        }
        var target = WriteTarget(set: storage.target, isEntity: !navigation.isCollection)
        if navigation.isContainment {
            target.parent = row.rowID
            if navigation.isCollection { return target }
        }
        target.via = Via(row: row, path: path, isContainment: navigation.isContainment)
        if !navigation.isCollection {
            if let related = try writer.related(row, path, key: nil, in: database) {
                target.key = related.entity.key
            } else {
                // PUT and PATCH create the value of a contained single-valued property. For other properties, there
                // is nothing to change.
                target.isMissing = true
            }
        }
        return target
    }
}

extension RowWriter {
    /// Returns the entity of a single-valued navigation property, or the entity with the given key of a
    /// collection-valued one.
    func related(_ row: WrittenRow, _ path: String, key: EntityKey?, in database: Database) throws -> WrittenRow? {
        try relatedRows(row, path, key: key, limit: 1, in: database).first
    }

    /// Returns the entity with the given key among the related entities of a row.
    ///
    /// - Throws: 404 if the entity is not related, whether or not it exists.
    func member(of row: WrittenRow, _ path: String, key: EntityKey?, in database: Database) throws -> WrittenRow {
        guard let member = try related(row, path, key: key, in: database) else {
            throw notFound(key, in: path, of: row)
        }
        return member
    }

    /// Returns the error for a key that is not among the related entities of a row.
    func notFound(_ key: EntityKey?, in path: String, of row: WrittenRow) -> ODataError {
        let place = "\(row.id)/\(path)"
        guard let target = plans[row.set]?.storage.navigation[path]?.target, let plan = plans[target] else {
            return .notFound(place)
        }
        return .notFound(name(place, key, plan: plan))
    }

    /// Returns the related entities of a row.
    ///
    /// - Parameters:
    ///   - key: the key of the only requested entity.
    ///   - limit: the maximum number of rows; -1 for all.
    func relatedRows(
        _ row: WrittenRow, _ path: String, key: EntityKey? = nil, limit: Int = -1, in database: Database
    ) throws -> [WrittenRow] {
        let source = try plan(row.set)
        guard let storage = source.storage.navigation[path] else { throw ODataError.notImplemented(path) }
        let target = try plan(storage.target)
        guard let found = try find(key: row.entity.key, parent: row.parent, plan: source, in: database) else {
            return []
        }
        var conditions: [String] = []
        var arguments: [DatabaseValue] = []
        switch storage {
        case .join(_, let pairs):
            let (compiler, scope) = compiler(of: target)
            for pair in pairs {
                let value: DatabaseValue?
                switch pair.source {
                case source.storage.rowID: value = found.rowID.databaseValue
                case OfflineLayout.parentColumn: value = found.parent.databaseValue
                default: value = source.slot(named: pair.source).map { found.slots[$0] }
                }
                guard let value, !value.isNull else { return [] }
                let own = source.slot(named: pair.source).flatMap { source.slots[$0].column }
                let tie = try condition(
                    pair.target, of: target, holds: value, as: own, compiler: compiler, scope: scope)
                conditions.append(tie.sql)
                arguments += tie.arguments
            }
        case .link(_, let table, let sourceColumn, let targetColumn):
            guard let rowID = target.storage.rowID else { throw ODataError.notImplemented(path) }
            conditions.append(
                "\(rowID.sqlIdentifier) IN (SELECT \(targetColumn.sqlIdentifier) FROM \(table.sqlIdentifier) "
                    + "WHERE \(sourceColumn.sqlIdentifier) = ?)")
            arguments.append(found.rowID.databaseValue)
        }
        if let key {
            let parent = storage.leadsToParts ? found.rowID : nil
            guard let keyed = try find(key: key, parent: parent, plan: target, in: database) else { return [] }
            let (condition, values) = try address(keyed, plan: target)
            conditions.append(condition)
            arguments += values
        }
        let sql = "\(target.selection) WHERE \(conditions.joined(separator: " AND ")) LIMIT \(limit)"
        return try Row.fetchAll(database, sql: sql, arguments: StatementArguments(arguments)).map {
            try written(target.stored($0), plan: target, in: database)
        }
    }
}

extension NavigationStorage {
    /// Whether the related rows are contained in the row.
    package var leadsToParts: Bool {
        guard case .join(_, let pairs) = self else { return false }
        return pairs.contains { $0.target == OfflineLayout.parentColumn }
    }
}

extension ODataEntity {
    /// Returns the value at the end of a path of properties, or the entity itself for an empty path.
    func value(at path: some Sequence<Property>) -> ODataValue? {
        var current = ODataValue.complex(self)
        for property in path {
            guard case .complex(let holder) = current, let next = holder[property.name] else { return nil }
            current = next
        }
        return current
    }
}
