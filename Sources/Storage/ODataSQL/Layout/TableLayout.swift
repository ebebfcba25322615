import GRDB
import ODataModel

/// A table of an offline store: its columns by property, and the SQL statements that create it.
package struct TableLayout {
    /// The kinds of table.
    enum Role {
        case set
        /// A singleton, which has one row.
        case singleton
        /// A collection that entities of another table contain.
        case contained
    }

    var storage: TableStorage
    private(set) var statements: [String]
    private let keyColumns: [String]

    init(set: String, shape: TypeShape, table: String, role: Role, model: EntityDataModel) {
        var columns = ColumnCollector(model: model)
        let hasDerivedTypes = !model.derivedTypes(of: shape.name).isEmpty
        let required = Self.requiredPaths(of: shape)
        let properties = columns.storages(of: shape.properties[...], required: required)
        var derivedProperties: [QualifiedName: [PropertyStorage]] = [:]
        for derived in Self.derivedShapes(of: shape, model: model) {
            // Base types come first, so that derived types can share their columns.
            let inherited = derived.baseType.flatMap { derivedProperties[$0] } ?? []
            let own = derived.properties[(shape.properties.count + inherited.count)...]
            // A foreign key of the derived type can be missing in a row, because a `$select` on the set's type
            // cannot name it.
            derivedProperties[derived.name] =
                inherited + columns.storages(of: own, required: Set(derived.key.map(\.path)))
        }
        let isOpen = shape.isOpen || Self.derivedShapes(of: shape, model: model).contains(where: \.isOpen)
        storage = TableStorage(
            set: set, shape: shape, table: table, rowID: OfflineLayout.rowIDColumn, properties: properties,
            derivedProperties: derivedProperties, discriminator: hasDerivedTypes ? OfflineLayout.typeColumn : nil,
            etag: .column(OfflineLayout.etagColumn),
            // The entities of a set without a key cannot be identified, so that no change can be sent.
            isReadOnly: role == .set && shape.key.isEmpty,
            visibility: .init(
                ownerColumn: OfflineLayout.ownerColumn, hiddenTable: OfflineLayout.hiddenOwnerTable),
            dynamicProperties: isOpen ? OfflineLayout.dynamicColumn : nil,
            notLoaded: OfflineLayout.notLoadedColumn)
        keyColumns = shape.key.compactMap { [storage] in storage.column(at: $0.path)?.name }
        statements = []
        statements = Self.statements(storage, columns: columns.definitions, keyColumns: keyColumns, role: role)
    }

    /// Returns whether the index of the key can serve a search by these columns.
    func isIndexed(_ columns: [String]) -> Bool { keyColumns.starts(with: columns) }

    /// Returns the types derived from a type, each after its base type.
    package static func derivedShapes(of shape: TypeShape, model: EntityDataModel) -> [TypeShape] {
        model.derivedTypes(of: shape.name).flatMap { name -> [TypeShape] in
            guard let derived = model.shape(name) else { return [] }
            return [derived] + derivedShapes(of: derived, model: model)
        }
    }

    /// Returns the paths that are always loaded: the key and the properties of referential constraints.
    private static func requiredPaths(of shape: TypeShape) -> Set<String> {
        Set(shape.key.map(\.path) + shape.navigationProperties.flatMap { $0.constraints.map(\.property) })
    }

    private static func statements(
        _ storage: TableStorage, columns: [ColumnCollector.Definition], keyColumns: [String], role: Role
    ) -> [String] {
        let rowID = OfflineLayout.rowIDColumn.sqlIdentifier
        var lines = [
            role == .singleton
                ? "\(rowID) INTEGER PRIMARY KEY CHECK (\(rowID) = 1)" : "\(rowID) INTEGER PRIMARY KEY AUTOINCREMENT"
        ]
        lines.append("\(OfflineLayout.ownerColumn.sqlIdentifier) INTEGER NOT NULL DEFAULT 0")
        if role == .contained { lines.append("\(OfflineLayout.parentColumn.sqlIdentifier) INTEGER NOT NULL") }
        lines.append("\(OfflineLayout.etagColumn.sqlIdentifier) TEXT")
        lines.append("\(OfflineLayout.notLoadedColumn.sqlIdentifier) BLOB")
        if let discriminator = storage.discriminator { lines.append("\(discriminator.sqlIdentifier) TEXT") }
        if let dynamic = storage.dynamicProperties { lines.append("\(dynamic.sqlIdentifier) TEXT") }
        lines += columns.map { "\($0.name.sqlIdentifier) \($0.type)" }
        var statements = [
            "CREATE TABLE \(storage.table.sqlIdentifier) (\n  \(lines.joined(separator: ",\n  "))\n) STRICT"
        ]
        let unique = (role == .contained ? [OfflineLayout.parentColumn] : []) + keyColumns
        if role != .singleton, !unique.isEmpty {
            // A contained entity without a key is identified by its parent only, which may contain several
            // entities.
            let kind = keyColumns.isEmpty ? "INDEX" : "UNIQUE INDEX"
            statements.append(
                """
                CREATE \(kind) \("key$\(storage.table)".sqlIdentifier) ON \(storage.table.sqlIdentifier) \
                (\(unique.map(\.sqlIdentifier).joined(separator: ", ")))
                """)
        }
        return statements
    }
}

/// Assigns columns to properties and keeps them in order.
private struct ColumnCollector {
    struct Definition {
        var name: String
        var type: String
    }

    let model: EntityDataModel
    private(set) var definitions: [Definition] = []
    private var names = DistinctNames(
        reserved: [
            OfflineLayout.rowIDColumn, OfflineLayout.ownerColumn, OfflineLayout.etagColumn,
            OfflineLayout.notLoadedColumn, OfflineLayout.typeColumn, OfflineLayout.dynamicColumn,
            OfflineLayout.parentColumn,
        ])

    init(model: EntityDataModel) { self.model = model }

    mutating func storages(of properties: ArraySlice<Property>, required: Set<String>) -> [PropertyStorage] {
        properties.map { storage(of: $0, path: $0.name, column: $0.name, required: required, within: []) }
    }

    private mutating func storage(
        of property: Property, path: String, column: String, required: Set<String>, within ancestors: [QualifiedName]
    ) -> PropertyStorage {
        if case .complex(let name?) = property.type, let shape = flattened(name, within: ancestors) {
            // Identifiers contain no dot, so that such names can conflict only by their case.
            let presence = names.name("\(column).$")
            definitions.append(Definition(name: presence, type: "INTEGER"))
            let nested = shape.properties.map {
                storage(
                    of: $0, path: "\(path)/\($0.name)", column: "\(column).\($0.name)", required: required,
                    within: ancestors + [name])
            }
            return .complex(shape, nested, presence: presence)
        }
        var stated = property
        stated.facets = model.facets(of: property)
        guard let codec = CodecChoice.codec(for: stated) else { return .absent }
        let name = names.name(column)
        definitions.append(Definition(name: name, type: CodecChoice.declaredType(codec)))
        return .column(
            ColumnStorage(
                name: name, type: property.type, codec: codec, isOptionallyLoaded: !required.contains(path),
                comparesBytes: true))
    }

    /// Returns the shape of a complex type whose properties have their own columns.
    ///
    /// - Returns: `nil` for open types, types with derived types, and types that contain themselves, whose values
    ///   are stored as JSON.
    private func flattened(_ name: QualifiedName, within ancestors: [QualifiedName]) -> TypeShape? {
        guard let shape = model.shape(name), !shape.isOpen, !ancestors.contains(name),
            model.derivedTypes(of: name).isEmpty
        else { return nil }
        return shape
    }
}

extension TableStorage {
    /// Returns the column at the end of a path of property names, such as `Address/City`.
    package func column(at path: String) -> ColumnStorage? {
        var shape = self.shape
        var storages = properties
        let names = path.split(separator: "/")
        for (index, name) in names.enumerated() {
            guard let ordinal = shape.ordinal(of: String(name)), ordinal < storages.count else {
                return index == 0 ? derivedColumn(at: String(name)) : nil
            }
            switch storages[ordinal] {
            case .column(let column): return index == names.count - 1 ? column : nil
            case .complex(let nested, let nestedStorages, _): (shape, storages) = (nested, nestedStorages)
            case .absent: return nil
            }
        }
        return nil
    }

    /// Returns a column of a derived type by its name, which is the property's name unless two names conflict.
    private func derivedColumn(at name: String) -> ColumnStorage? { columns.first { $0.name == name } }
}
