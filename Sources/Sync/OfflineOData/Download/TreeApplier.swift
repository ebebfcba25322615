import GRDB
import ODataModel
import ODataQuery
import ODataSQL

/// Applies entities with their expanded entities: rows, containment, and relations in link tables. Relations
/// become equal to those of the service. The caller puts local changes on top (``Relations``).
struct TreeApplier {
    private let table: TableStorage
    private let mapping: StorageMapping
    private let query: StoredQuery
    private let database: Database
    private let expand: [ExpandItem]
    private let relations: ExpandedRelations
    /// The expanded relations in link tables, by entity set.
    private let links: [String: [String: NavigationStorage]]
    private let expanded: ExpandedRows
    /// The rows with a relation that was recorded as brought, by set.
    var noted: [String: RowSet]
    private var root: RowApplier
    private var related: [String: RowApplier] = [:]
    private var contained: [String: ContainedRows] = [:]

    init(
        table: TableStorage, mapping: StorageMapping, query: StoredQuery, doubts: RelationDoubts, isStrict: Bool,
        noted: [String: RowSet], in database: Database
    ) throws {
        self.table = table
        self.mapping = mapping
        self.query = query
        self.database = database
        expand = try ODataURL(parsing: query.text).options.expand
        relations = ExpandedRelations(query: query.id, doubts: doubts, mapping: mapping, in: database)
        links = try ExpandedRelations.links(of: query, mapping)
        expanded = try ExpandedRows(of: query, mapping, in: database)
        self.noted = noted
        root = try RowApplier(table: table, mapping: mapping, query: query.id, isStrict: isStrict, in: database)
        for set in query.sets(in: mapping) where set != table.set {
            guard let other = mapping.tables[set] else { continue }
            if mapping.model.entitySet(set) != nil {
                related[set] = try RowApplier(
                    table: other, mapping: mapping, query: query.id, isStrict: isStrict, in: database)
            } else if set.contains("/") {
                contained[set] = try ContainedRows(table: other, mapping: mapping, query: query.id, in: database)
            }
        }
    }

    /// The changes to the rows of all sets.
    var counts: [RowApplier.Counts] {
        [root.counts] + related.values.map(\.counts) + contained.values.map(\.counts)
    }

    /// - Parameter reached: the rows that were met, by set. Those of this entity are added.
    mutating func apply(_ entity: ODataEntity, _ reached: inout [String: RowSet]) throws {
        guard let rowID = try root.apply(entity), !entity.related.isEmpty else { return }
        reached[table.set, default: RowSet()].insert(rowID)
        try applyRelated(of: entity, try present(rowID, table), table: table, items: expand, reached: &reached)
    }

    /// - Parameter reached: the rows that were met, by set.
    mutating func remove(_ key: EntityKey, _ reached: [String: RowSet]) throws {
        let rowID = try expand.isEmpty ? nil : root.row(of: key)
        try root.remove(key)
        if let rowID { try releaseExpanded(of: rowID, table, reached) }
    }

    /// Releases a row that nothing leads to any more, with its contained entities.
    mutating func release(_ rowID: Int64, of set: String, _ reached: [String: RowSet]) throws {
        guard let table = mapping.tables[set] else { return }
        if set == self.table.set { try root.release(rowID) } else { try related[set]?.release(rowID) }
        try releaseExpanded(of: rowID, table, reached)
    }

    /// The row, unless it was deleted locally.
    private func present(_ rowID: Int64, _ table: TableStorage) throws -> Int64? {
        try Rows.owner(table, rowID: rowID, in: database) == nil ? nil : rowID
    }

    /// - Parameter rowID: the row of the entity; `nil` if it was deleted locally. Its contained entities and
    ///   relations were deleted with it, and come back with it. The entities to which it leads stay.
    private mutating func applyRelated(
        of entity: ODataEntity, _ rowID: Int64?, table: TableStorage, items: [ExpandItem],
        reached: inout [String: RowSet]
    ) throws {
        if let rowID, try expanded.note(items.compactMap(\.relation), of: rowID, in: table.set) {
            noted[table.set, default: RowSet()].insert(rowID)
        }
        for (name, others) in entity.related.sorted(by: { $0.key < $1.key }) {
            guard case .many(let entities, _, _) = others, let storage = table.navigation[name],
                let target = mapping.tables[storage.target],
                // An unrequested expansion may be partial, and is left to the queries that ask for it.
                let options = items.first(where: { $0.relation == name })?.options
            else { continue }
            if storage.target.contains("/") {
                try contain(entities, in: rowID, target: target, items: options.expand, reached: &reached)
                continue
            }
            var ids: Set<Int64> = []
            for other in entities {
                let id =
                    storage.target == self.table.set ? try root.apply(other) : try related[storage.target]?.apply(other)
                guard let id else { continue }
                let there = try present(id, target)
                if let there { ids.insert(there) }
                reached[storage.target, default: RowSet()].insert(id)
                try applyRelated(of: other, there, table: target, items: options.expand, reached: &reached)
            }
            if let rowID, case .link = storage {
                try relations.relate(rowID, storage, to: ids, isPart: options.filter != nil, reached: reached)
            }
        }
    }

    /// Contained entities exist only in their container. Local changes are put on top of the server version.
    ///
    /// - Parameter parent: the row of the container; `nil` if it was deleted locally.
    private mutating func contain(
        _ entities: [ODataEntity], in parent: Int64?, target: TableStorage, items: [ExpandItem],
        reached: inout [String: RowSet]
    ) throws {
        guard let parent else {
            for entity in entities { try applyRelated(of: entity, nil, table: target, items: items, reached: &reached) }
            return
        }
        var ids: Set<Int64> = []
        for entity in entities {
            guard let (rowID, change) = try contained[target.set]?.apply(entity, in: parent) else { continue }
            ids.insert(rowID)
            try root.mark(change, rowID, of: target.set)
            try applyRelated(of: entity, try present(rowID, target), table: target, items: items, reached: &reached)
        }
        for row in try contained[target.set]?.letGo(in: parent, but: ids) ?? [] {
            try releaseExpanded(of: row, target, reached)
        }
    }

    /// Releases the contained entities and relations of a row that the query has left to others.
    private mutating func releaseExpanded(
        of rowID: Int64, _ table: TableStorage, _ reached: [String: RowSet]
    ) throws {
        // A row that is kept for pending changes, its own or of its contained entities, stays unchanged.
        guard let owner = try Rows.owner(table, rowID: rowID, in: database), owner != 0 else { return }
        try relations.letGo(of: rowID, links[table.set] ?? [:], reached)
        guard !contained.isEmpty else { return }
        for storage in table.navigation.values where storage.target.hasPrefix(table.set + "/") {
            guard let target = mapping.tables[storage.target] else { continue }
            for row in try contained[target.set]?.letGo(in: rowID, but: []) ?? [] {
                try releaseExpanded(of: row, target, reached)
            }
        }
    }
}
