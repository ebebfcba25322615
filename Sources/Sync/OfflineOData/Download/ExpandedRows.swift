import Foundation
import GRDB
import ODataModel
import ODataQuery
import ODataSQL

/// The rows for which a query has brought a relation, if the same query brings other rows of the set without it:
/// for example a person with friends, who are persons, too. For all other queries, membership decides.
struct ExpandedRows {
    private let query: Int64
    private let database: Database
    /// The navigation properties that the query expands only for some rows of a set, by set.
    private let relations: [String: Set<String>]

    init(of query: StoredQuery, _ mapping: StorageMapping, in database: Database) throws {
        self.query = query.id
        self.database = database
        var places: [String: [Set<String>]] = [:]
        func add(_ items: [ExpandItem], of set: String) {
            places[set, default: []].append(Set(items.compactMap(\.relation)))
            for item in items {
                guard let target = item.relation.flatMap({ mapping.tables[set]?.navigation[$0]?.target }) else {
                    continue
                }
                add(item.options.expand, of: target)
            }
        }
        add(try ODataURL(parsing: query.text).options.expand, of: query.entitySet)
        relations = places.compactMapValues { sets in
            let some = sets.reduce(into: Set<String>()) { $0.formUnion($1) }
            let partly = some.filter { name in !sets.allSatisfy { $0.contains(name) } }
            return partly.isEmpty ? nil : partly
        }
    }

    /// Records that the query has brought the targets of navigation properties of a row.
    ///
    /// - Parameter names: the navigation properties. Those that the query expands for each row are not recorded.
    /// - Returns: whether any was recorded.
    func note(_ names: some Sequence<String>, of rowID: Int64, in set: String) throws -> Bool {
        guard let partly = relations[set] else { return false }
        var isNoted = false
        for name in names where partly.contains(name) {
            isNoted = true
            try database.cachedStatement(
                sql: "INSERT OR IGNORE INTO outpost_expanded(entity_set, row_id, relation, query_id) "
                    + "VALUES (?, ?, ?, ?)"
            ).execute(arguments: [set, rowID, name, query])
        }
        return isNoted
    }

    /// Removes the records of rows that a complete read of a query has not brought.
    ///
    /// - Parameter noted: the rows that the query has, by set.
    static func forget(_ query: Int64, but noted: [String: RowSet], in database: Database) throws {
        let rows = try Row.fetchAll(
            database, sql: "SELECT DISTINCT entity_set, row_id FROM outpost_expanded WHERE query_id = ?",
            arguments: [query])
        for row in rows {
            let (set, rowID): (String, Int64) = (row[0], row[1])
            guard noted[set]?.contains(rowID) != true else { continue }
            try database.execute(
                sql: "DELETE FROM outpost_expanded WHERE entity_set = ? AND row_id = ? AND query_id = ?",
                arguments: [set, rowID, query])
        }
    }

    /// Removes the records of a query that is removed.
    static func forget(_ query: Int64, in database: Database) throws {
        try database.execute(sql: "DELETE FROM outpost_expanded WHERE query_id = ?", arguments: [query])
    }

    /// The condition that a relation of a row was brought.
    ///
    /// - Parameter queries: the numbers of the queries, with commas between them.
    static func condition(_ relation: String, broughtBy queries: String) -> String {
        // A name of the model enters SQL as hexadecimal digits only.
        let name = relation.utf8.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
        return """
            EXISTS (SELECT 1 FROM outpost_expanded WHERE entity_set = :set AND row_id = :row
                AND relation = CAST(X'\(name)' AS TEXT) AND query_id IN (\(queries)))
            """
    }
}
