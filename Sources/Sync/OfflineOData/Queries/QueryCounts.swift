import GRDB
import ODataModel
import ODataQuery
import ODataSQL

/// The number of stored rows of each defining query, without other rows of its entity set.
struct QueryCounts {
    private let queries: [StoredQuery]
    private let mapping: StorageMapping
    /// The rows of each query, by entity set.
    private var counts: [String: [Int64: Int]] = [:]

    init(of queries: [StoredQuery], _ mapping: StorageMapping, in database: Database) throws {
        self.queries = queries
        self.mapping = mapping
        for set in Set(queries.map { $0.resultSet(in: mapping) }) {
            guard let table = mapping.tables[set], let id = table.rowID?.sqlIdentifier,
                let owner = table.visibility?.ownerColumn.sqlIdentifier
            else { continue }
            let name = table.table.sqlIdentifier
            let rows = try Row.fetchAll(
                database,
                sql: """
                    SELECT \(owner), COUNT(*) FROM \(name) GROUP BY 1
                    UNION ALL
                    SELECT m.query_id, COUNT(*) FROM outpost_member AS m JOIN \(name) AS t ON t.\(id) = m.row_id
                    WHERE m.entity_set = ? GROUP BY 1
                    """, arguments: [set])
            for row in rows { counts[set, default: [:]][row[0], default: 0] += row[1] }
        }
    }

    /// The rows of the entity set or contained collection that a query reads. Expanded entities do not count.
    func rows(of query: StoredQuery) -> Int {
        let set = query.resultSet(in: mapping)
        // Contained entities may be read by a part of the query.
        let holders = set == query.entitySet ? [query] : QueryTable.withParts([query], of: queries)
        return holders.reduce(0) { $0 + (counts[set]?[$1.id] ?? 0) }
    }
}

extension StoredQuery {
    /// The entity set or contained collection that the query reads. A query for contained entities expands them,
    /// with only the keys of their container (``DefiningQuery/overSet(of:)``).
    func resultSet(in mapping: StorageMapping) -> String {
        guard var table = mapping.tables[entitySet], let url = try? ODataURL(parsing: text) else { return entitySet }
        var options = url.options
        while let item = options.expand.first, options.expand.count == 1, let name = item.path.first?.text,
            options.select == table.shape.keySelection, let target = table.navigation[name]?.target,
            target == "\(table.set)/\(name)", let contained = mapping.tables[target]
        {
            (table, options) = (contained, item.options)
        }
        return table.set
    }
}

extension TypeShape {
    /// A `$select` of the key alone.
    var keySelection: [SelectItem] {
        key.map { key in SelectItem(.path(key.path.split(separator: "/").map { Identifier(String($0)) })) }
    }
}
