import GRDB
import ODataModel

/// Builds the tables of an offline store, and then the relations between them.
struct LayoutBuilder {
    let model: EntityDataModel
    private(set) var tables: [TableLayout] = []
    private(set) var statements: [String] = []
    private var tableNames = DistinctNames(reserved: [OfflineLayout.hiddenOwnerTable])
    /// The link tables by navigation property, as `set/property`.
    private var links: [String: NavigationStorage] = [:]

    init(model: EntityDataModel) { self.model = model }

    mutating func build() {
        statements.append(
            "CREATE TABLE \(OfflineLayout.hiddenOwnerTable.sqlIdentifier) (id INTEGER PRIMARY KEY) STRICT")
        for set in model.container.entitySets {
            guard let shape = model.shape(set.type) else { continue }
            addTable(set: set.name, shape: shape, role: .set, within: [])
        }
        for singleton in model.container.singletons {
            guard let shape = model.shape(singleton.type) else { continue }
            addTable(set: singleton.name, shape: shape, role: .singleton, within: [])
        }
        statements += tables.flatMap(\.statements)
        for index in tables.indices { addNavigation(to: index) }
    }

    /// Adds a table and the tables of contained collections. A type that contains itself has only one level,
    /// because its path would be infinite.
    private mutating func addTable(
        set: String, shape: TypeShape, role: TableLayout.Role, within ancestors: [QualifiedName]
    ) {
        let name = tableNames.name(Self.tableName(for: set))
        tables.append(TableLayout(set: set, shape: shape, table: name, role: role, model: model))
        let chain = ancestors + [shape.name]
        for navigation in shape.navigationProperties where navigation.isContainment {
            guard let target = model.shape(navigation.target), !chain.contains(navigation.target) else { continue }
            addTable(set: "\(set)/\(navigation.name)", shape: target, role: .contained, within: chain)
        }
    }

    /// Returns a name that does not start with the prefix of SQLite's or this library's own tables.
    private static func tableName(for set: String) -> String {
        let folded = set.lowercased()
        return folded.hasPrefix("sqlite_") || folded.hasPrefix("outpost_") ? "set$\(set)" : set
    }

    // MARK: Navigation

    private mutating func addNavigation(to index: Int) {
        let source = tables[index]
        var indexed: Set<[String]> = []
        for (path, navigation) in Self.navigationPaths(of: source.storage, model: model) {
            if navigation.isContainment {
                addContainment(navigation, path: path, to: index)
                continue
            }
            guard let targetIndex = target(of: navigation, path: path, from: source) else { continue }
            if let pairs = Self.pairs(navigation, path: path, from: source.storage, to: tables[targetIndex].storage) {
                tables[index].storage.navigation[path] = .join(target: tables[targetIndex].storage.set, pairs: pairs)
                let columns = pairs.map(\.source)
                if !source.isIndexed(columns), indexed.insert(columns).inserted {
                    addIndex(on: source.storage.table, name: path, columns: columns)
                }
                continue
            }
            if let pairs = partnerPairs(navigation, path: path, source: source.storage, target: targetIndex) {
                tables[index].storage.navigation[path] = .join(target: tables[targetIndex].storage.set, pairs: pairs)
                continue
            }
            tables[index].storage.navigation[path] = link(navigation, path: path, source: index, target: targetIndex)
            if !navigation.isCollection { tables[index].storage.singleLinks.insert(path) }
        }
    }

    /// Returns the navigation properties of a table's type, its derived types and its flattened complex properties,
    /// with their paths.
    private static func navigationPaths(
        of storage: TableStorage, model: EntityDataModel
    ) -> [(path: String, navigation: NavigationProperty)] {
        var result: [(String, NavigationProperty)] = []
        var seen: Set<String> = []
        func add(_ shape: TypeShape, _ properties: [PropertyStorage], prefix: String) {
            for navigation in shape.navigationProperties where seen.insert(prefix + navigation.name).inserted {
                result.append((prefix + navigation.name, navigation))
            }
            for (property, storage) in zip(shape.properties, properties) {
                if case .complex(let shape, let nested, _) = storage {
                    add(shape, nested, prefix: "\(prefix)\(property.name)/")
                }
            }
        }
        add(storage.shape, storage.properties, prefix: "")
        for derived in TableLayout.derivedShapes(of: storage.shape, model: model) {
            add(derived, storage.properties(of: derived), prefix: "")
        }
        return result
    }

    private mutating func addContainment(_ navigation: NavigationProperty, path: String, to index: Int) {
        let source = tables[index].storage
        guard let child = tables.firstIndex(where: { $0.storage.set == "\(source.set)/\(path)" }) else { return }
        tables[index].storage.navigation[path] = .join(
            target: tables[child].storage.set,
            pairs: [.init(source: OfflineLayout.rowIDColumn, target: OfflineLayout.parentColumn)])
        if let partner = navigation.partner {
            tables[child].storage.navigation[partner] = .join(
                target: source.set,
                pairs: [.init(source: OfflineLayout.parentColumn, target: OfflineLayout.rowIDColumn)])
        }
        addCascade(from: source.table, to: tables[child].storage.table, column: OfflineLayout.parentColumn)
    }

    /// Returns the table of the set to which a property leads; `nil` if the model does not declare it.
    private func target(of navigation: NavigationProperty, path: String, from source: TableLayout) -> Int? {
        let parts = source.storage.set.split(separator: "/").map(String.init)
        let start = parts.first ?? source.storage.set
        let full = (parts.dropFirst() + [path]).joined(separator: "/")
        if let set = model.targetSet(of: start, path: full, target: navigation.target) {
            return tables.firstIndex { $0.storage.set == set.name }
        }
        // A binding may also refer to a singleton.
        let bindings = model.entitySet(start)?.bindings ?? model.singleton(start)?.bindings ?? []
        guard let binding = bindings.first(where: { $0.path == full }) else { return nil }
        return tables.firstIndex { $0.storage.set == binding.target }
    }

    /// Returns the pairs of columns of a property's referential constraints; `nil` without constraints, or if the
    /// columns have different codecs.
    private static func pairs(
        _ navigation: NavigationProperty, path: String, from source: TableStorage, to target: TableStorage
    ) -> [NavigationStorage.ColumnPair]? {
        guard !navigation.constraints.isEmpty else { return nil }
        let prefix = path.split(separator: "/").dropLast().map { $0 + "/" }.joined()
        var pairs: [NavigationStorage.ColumnPair] = []
        for constraint in navigation.constraints {
            // The path of a constraint starts at the declaring type, which is the complex type or the entity type.
            guard
                let left = source.column(at: prefix + constraint.property) ?? source.column(at: constraint.property),
                let right = target.column(at: constraint.referencedProperty), left.codec == right.codec
            else { return nil }
            pairs.append(.init(source: left.name, target: right.name))
        }
        return pairs
    }

    /// Returns the pairs of columns according to the constraints of the partner property.
    private func partnerPairs(
        _ navigation: NavigationProperty, path: String, source: TableStorage, target: Int
    ) -> [NavigationStorage.ColumnPair]? {
        let other = tables[target].storage
        for (partnerPath, partner) in Self.navigationPaths(of: other, model: model) {
            guard navigation.partner == partnerPath || (navigation.partner == nil && partner.partner == path),
                let back = self.target(of: partner, path: partnerPath, from: tables[target]),
                tables[back].storage.set == source.set,
                let pairs = Self.pairs(partner, path: partnerPath, from: other, to: source)
            else { continue }
            return pairs.map { .init(source: $0.target, target: $0.source) }
        }
        return nil
    }

    // MARK: Link tables

    /// Returns the link table of a property, which the partner property shares.
    private mutating func link(
        _ navigation: NavigationProperty, path: String, source: Int, target: Int
    ) -> NavigationStorage {
        let from = tables[source].storage
        let to = tables[target].storage
        if let known = links["\(from.set)/\(path)"] { return known }
        let name = tableNames.name("\(from.table)$\(path.split(separator: "/").joined(separator: "."))")
        statements.append(
            """
            CREATE TABLE \(name.sqlIdentifier) (source INTEGER NOT NULL, target INTEGER NOT NULL, \
            PRIMARY KEY (source, target)) STRICT, WITHOUT ROWID
            """)
        addIndex(on: name, name: "target", columns: ["target", "source"])
        addCascade(from: from.table, to: name, column: "source")
        addCascade(from: to.table, to: name, column: "target")
        let storage = NavigationStorage.link(
            target: to.set, table: name, sourceColumn: "source", targetColumn: "target")
        links["\(from.set)/\(path)"] = storage
        if let partner = navigation.partner, partner != path || from.set != to.set {
            links["\(to.set)/\(partner)"] = .link(
                target: from.set, table: name, sourceColumn: "target", targetColumn: "source")
        }
        return storage
    }

    private mutating func addIndex(on table: String, name: String, columns: [String]) {
        let list = columns.map(\.sqlIdentifier).joined(separator: ", ")
        statements.append("CREATE INDEX \("index$\(table)$\(name)".sqlIdentifier) ON \(table.sqlIdentifier) (\(list))")
    }

    /// Adds a trigger that deletes dependent rows together with a row.
    private mutating func addCascade(from table: String, to dependent: String, column: String) {
        statements.append(
            """
            CREATE TRIGGER \("cascade$\(table)$\(dependent)$\(column)".sqlIdentifier) AFTER DELETE ON \(table.sqlIdentifier) \
            BEGIN DELETE FROM \(dependent.sqlIdentifier) WHERE \(column.sqlIdentifier) = OLD.\(OfflineLayout.rowIDColumn.sqlIdentifier); END
            """)
    }
}
