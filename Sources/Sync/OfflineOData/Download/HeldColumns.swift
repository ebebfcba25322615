import GRDB
import ODataModel
import ODataQuery
import ODataSQL

/// The properties that each query brings of the rows of a set. The queries are read on demand: hardly ever does
/// one bring less than another has brought.
final class HeldColumns {
    private let table: TableStorage
    private let mapping: StorageMapping
    private let database: Database
    /// The properties by query, for the queries that bring rows of the set.
    private var known: [Int64: PropertySelection]?

    init(table: TableStorage, mapping: StorageMapping, in database: Database) {
        self.table = table
        self.mapping = mapping
        self.database = database
    }

    /// The properties that a query brings.
    func selection(of query: Int64) throws -> PropertySelection { try selections()[query] ?? .none }

    /// Whether each other query brings all properties of a row.
    func areWhole(but query: Int64) throws -> Bool {
        try selections().allSatisfy { $0.key == query || $0.value.isAll }
    }

    /// Whether no other query brings rows of the set.
    func isAlone(_ query: Int64) throws -> Bool { try selections().allSatisfy { $0.key == query } }

    /// The properties that the other queries of a row bring.
    ///
    /// - Parameter owner: the owner of the row; `nil` to look it up.
    func held(_ rowID: Int64, but query: Int64, owner: Int64? = nil) throws -> PropertySelection {
        let members = try Int64.fetchAll(
            database.cachedStatement(
                sql: "SELECT query_id FROM outpost_member WHERE entity_set = ? AND row_id = ?"),
            arguments: [table.set, rowID])
        let owner = try owner ?? Rows.owner(table, rowID: rowID, in: database)
        return try (members + [owner].compactMap { $0 }).filter { $0 != query }
            .reduce(.none) { $0.union(try selection(of: $1)) }
    }

    /// The properties that a query brings, and those of the other queries of the row.
    func holders(_ rowID: Int64, _ query: Int64, owner: Int64? = nil) throws -> BulkLoader.Holders {
        let own = try selection(of: query)
        // A query with all properties leaves out only unchanged values.
        guard !own.isAll else { return BulkLoader.Holders(own: own, others: .none) }
        return BulkLoader.Holders(own: own, others: try held(rowID, but: query, owner: owner))
    }

    private func selections() throws -> [Int64: PropertySelection] {
        if let known { return known }
        var selections: [Int64: PropertySelection] = [:]
        for query in try QueryTable.all(in: database) {
            selections[query.id] = try query.selection(of: table, mapping)
        }
        known = selections
        return selections
    }
}

extension StoredQuery {
    /// The properties that a query brings of the rows of a set; `nil` if it brings no such rows.
    fileprivate func selection(of table: TableStorage, _ mapping: StorageMapping) throws -> PropertySelection? {
        guard let own = mapping.tables[entitySet] else { return nil }
        let url = try Downloader.columnSet(self, own, mapping: mapping)
        var found = entitySet == table.set ? PropertySelection(url.options.select) : nil
        func add(_ items: [ExpandItem], of outer: TableStorage) {
            for item in items {
                guard let name = item.relation, let target = outer.navigation[name]?.target,
                    let other = mapping.tables[target]
                else { continue }
                if target == table.set {
                    let selection = PropertySelection(item.options.select)
                    found = found?.union(selection) ?? selection
                }
                add(item.options.expand, of: other)
            }
        }
        add(url.options.expand, of: own)
        return found
    }
}

extension PropertySelection {
    /// Reads a `$select`; without items, all properties are selected.
    init(_ items: [SelectItem]) {
        var paths: [[String]] = []
        var isAll = items.isEmpty
        for item in items {
            switch item.kind {
            case .all: isAll = true
            case .path(let names):
                // A qualified name is a type segment or an operation.
                let path = names.map(\.text).filter { !$0.contains(".") }
                if !path.isEmpty { paths.append(path) }
            case .operations, .operation: continue
            }
        }
        self = isAll ? .all : PropertySelection(paths)
    }
}
