import ODataModel
import ODataQuery
import ODataSQL

/// The defining queries for a whole service: its entity sets and singletons, each with its contained entities,
/// and with references for relations without a foreign key.
struct WholeService {
    private let model: EntityDataModel
    private let mapping: StorageMapping
    /// The names of the included sets and singletons.
    private let taken: Set<String>
    private let sets: [DefiningQuery]
    /// The sets without a key, which can only be copied as a whole.
    private let keyless: [DefiningQuery]

    /// - Parameter mapping: the tables of a store for the model.
    init(_ model: EntityDataModel, mapping: StorageMapping) {
        self.model = model
        self.mapping = mapping
        sets = DefiningQuery.all(of: model)
        keyless = model.container.entitySets.filter {
            $0.isReadableAsWhole && mapping.tables[$0.name] != nil && !$0.hasKey(in: model)
        }.map { DefiningQuery(entitySet: $0.name) }
        taken = Set(sets.map(\.name) + model.container.singletons.map(\.name))
    }

    /// The queries, entity sets first. A separate query reads the contained entities and references of a set, so
    /// that the set itself has a delta link.
    func queries() throws -> [DefiningQuery] {
        let singletons = model.container.singletons.filter { mapping.tables[$0.name] != nil }.map {
            DefiningQuery(entitySet: $0.name)
        }
        var links: Set<String> = []
        // A link table holds both directions. The one that leads to a single entity is shorter to read.
        for isCollection in [false, true] {
            for set in (sets + singletons).map(\.name) { choose(of: set, isCollection, &links) }
        }
        let related = try sets.compactMap { query -> DefiningQuery? in
            guard let table = mapping.tables[query.name] else { return nil }
            let items = items(of: table, links)
            guard !items.isEmpty else { return nil }
            var url = query.url
            url.options.select = Self.key(of: table)
            url.options.expand = items
            return try DefiningQuery(query.name + Self.suffix, url.description)
        }
        let whole = try singletons.map { query in
            try query.expanding(mapping.tables[query.name].map { items(of: $0, links) } ?? [])
        }
        return sets + related + whole + keyless
    }

    /// The suffix for the name of a query for contained entities and references.
    static let suffix = "-related"

    /// The key of a table, to be selected.
    private static func key(of table: TableStorage) -> [SelectItem] {
        table.shape.key.map { key in
            SelectItem(.path(key.path.split(separator: "/").map { Identifier(String($0)) }))
        }
    }

    /// Chooses the relations with references, of a set and its contained entities, by `set/relation`.
    private func choose(of set: String, _ isCollection: Bool, _ links: inout Set<String>) {
        guard let table = mapping.tables[set] else { return }
        for (name, navigation, _) in relations(of: table) {
            guard let storage = table.navigation[name] else { continue }
            if storage.target == "\(set)/\(name)" { choose(of: storage.target, isCollection, &links) }
            guard case .link(let target, _, _, _) = storage, taken.contains(target), model.entitySet(target) != nil,
                navigation.isCollection == isCollection
            else { continue }
            let opposite = mapping.opposite(of: storage)
            guard opposite.map({ !links.contains("\($0.set)/\($0.relation)") }) ?? true || !isWhole(opposite?.set)
            else {
                continue
            }
            links.insert("\(set)/\(name)")
        }
    }

    /// Whether all rows of a set are read by the query of the set.
    private func isWhole(_ set: String?) -> Bool {
        set.map { taken.contains($0) && model.entitySet($0) != nil } ?? false
    }

    private func items(of table: TableStorage, _ links: Set<String>) -> [ExpandItem] {
        relations(of: table).compactMap { name, _, type -> ExpandItem? in
            guard let storage = table.navigation[name], let target = mapping.tables[storage.target] else { return nil }
            var item = ExpandItem(path: (type.map { [Identifier($0.description)] } ?? []) + [Identifier(name)])
            if storage.target == "\(table.set)/\(name)" {
                item.options.expand = items(of: target, links)
                return item
            }
            guard links.contains("\(table.set)/\(name)") else { return nil }
            item.options.select = Self.key(of: target)
            return item
        }
    }

    /// The navigation properties of a table's type, and of the types derived from it, with the derived type.
    private func relations(
        of table: TableStorage
    ) -> [(name: String, navigation: NavigationProperty, type: QualifiedName?)] {
        var known: Set<String> = []
        var found: [(name: String, navigation: NavigationProperty, type: QualifiedName?)] = []
        func add(_ shape: TypeShape, _ type: QualifiedName?) {
            for navigation in shape.navigationProperties where known.insert(navigation.name).inserted {
                found.append((navigation.name, navigation, type))
            }
            for name in model.derivedTypes(of: shape.name) {
                if let derived = model.shape(name) { add(derived, name) }
            }
        }
        add(table.shape, nil)
        // Only V4 has types in $expand.
        return model.version < .v4 ? found.filter { $0.type == nil } : found
    }
}

extension DefiningQuery {
    /// The same query with another `$expand`.
    func expanding(_ items: [ExpandItem]) throws -> DefiningQuery {
        guard items != url.options.expand else { return self }
        var url = url
        url.options.expand = items
        return try DefiningQuery(name, url.description, group: group, retrievesStreams: retrievesStreams)
    }
}

extension StorageMapping {
    /// The navigation property that leads through a link table in the other direction; `nil` if there is none, or
    /// no link table.
    func opposite(of storage: NavigationStorage) -> (set: String, relation: String)? {
        guard case .link(let target, let link, let source, let end) = storage else { return nil }
        let found = tables[target]?.navigation.first { _, other in
            if case .link(_, link, end, source) = other { true } else { false }
        }
        return found.map { (target, $0.key) }
    }
}
