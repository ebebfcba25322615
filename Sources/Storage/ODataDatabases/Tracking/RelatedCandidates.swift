import Foundation
import GRDB
import ODataSQL
import ODataStore

/// A search for the rows of a tracked result that may have been added, changed or removed, for results that
/// depend on several tables. It finds changed rows, and rows that are or were related to changed ones.
struct RelatedCandidates {
    let tracker: ChangeTracker
    let mapping: StorageMapping
    /// The version after which changes are considered.
    let since: Int64
    /// The last version that is considered.
    let upTo: Int64
    let database: Database
    let side: SideTables

    /// A row that may have been added, changed or removed.
    struct Candidate {
        /// The position of the row in the order of the pages.
        var rank: Int64
        /// The key, as ``StoredKey`` encodes it.
        var key: Data
    }

    /// The number of conditions in a statement. They are separate index look-ups, or share one scan.
    private static let chunk = 100

    /// Returns the candidates in an order that is the same for all pages.
    func candidates(of query: TrackedQuery) throws -> [Candidate] {
        try affected(query.root).map { Candidate(rank: Self.rank($0), key: $0) }.sorted {
            $0.rank == $1.rank ? $0.key.lexicographicallyPrecedes($1.key) : $0.rank < $1.rank
        }
    }

    /// Returns whether a row was deleted.
    func isRemoved(_ key: Data, of set: String) throws -> Bool {
        let sql = """
            SELECT r.digest IS NULL FROM \(side.schema).row_version AS r JOIN \(side.schema).watched AS w ON w.id = r.watched
            WHERE w.set_name = ? AND r.key = ?
            """
        return try Bool.fetchOne(side.database.cachedStatement(sql: sql), arguments: [set, key]) ?? true
    }

    private static func rank(_ key: Data) -> Int64 {
        // The FNV-1a hash without the sign bit.
        Int64(
            truncatingIfNeeded: key.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
                >> 1)
    }

    // MARK: Related rows

    /// Returns the keys of rows in a node's table that have changed or whose related rows have changed.
    private func affected(_ node: TrackedQuery.Node) throws -> Set<Data> {
        let sql = """
            SELECT r.key FROM \(side.schema).row_version AS r JOIN \(side.schema).watched AS w ON w.id = r.watched
            WHERE w.set_name = ? AND r.version > ? AND r.version <= ?
            """
        var keys = try Data.fetchSet(side.database, sql: sql, arguments: [node.set, since, upTo])
        for (name, child) in node.related {
            guard case .join(_, let pairs)? = mapping.tables[node.set]?.navigation[name],
                let parent = tracker.tables[node.set], let table = tracker.tables[child.set]
            else { continue }
            let values = try linkValues(of: try affected(child), pairs, table)
            keys.formUnion(try rows(of: parent, pairs, leadingTo: values))
        }
        return keys
    }

    /// Returns the current and former values of rows in the columns by which other rows refer to them.
    private func linkValues(
        of keys: Set<Data>, _ pairs: [NavigationStorage.ColumnPair], _ table: TrackedTable
    ) throws -> Set<StoredValues> {
        let watched = try side.watched().first { $0.set == table.storage.set }?.id
        let isInKey = pairs.allSatisfy { table.keyColumns.contains($0.target) }
        var result: Set<StoredValues> = []
        for key in keys {
            guard let keyValues = StoredKey.decode(key) else { continue }
            var links: [[DatabaseValue]] = [[]]
            if !isInKey, let watched {
                links = try RowLinks.links(of: key, watched, since: since, side).compactMap(StoredKey.decode)
            }
            for values in links {
                let found = pairs.compactMap { pair -> DatabaseValue? in
                    if let position = table.keyColumns.firstIndex(of: pair.target), position < keyValues.count {
                        return keyValues[position]
                    }
                    return table.linkColumns.firstIndex(of: pair.target).flatMap {
                        $0 < values.count ? values[$0] : nil
                    }
                }
                guard found.count == pairs.count, !found.contains(where: \.isNull) else { continue }
                result.insert(StoredValues(found))
            }
        }
        return result
    }

    /// Returns the keys of rows whose columns have one of the given combinations of values.
    private func rows(
        of table: TrackedTable, _ pairs: [NavigationStorage.ColumnPair], leadingTo values: Set<StoredValues>
    ) throws -> Set<Data> {
        let all = Array(values)
        let columns = table.keyColumns.map { "\(name: $0)" as SQLFragment }
        var result: Set<Data> = []
        for start in stride(from: 0, to: all.count, by: Self.chunk) {
            let conditions = all[start..<min(start + Self.chunk, all.count)].map { combination in
                SQLFragment.conjunction(
                    zip(pairs, combination.values).map { pair, value in
                        let column: SQLFragment = "\(name: pair.source)"
                        guard pair.comparison == .text, let text = AnyText.text(of: value) else {
                            return "\(column) = \(bind: value)"
                        }
                        return .column(column, isServedAs: "\(bind: text.databaseValue)")
                    })
            }
            let find: SQLFragment = """
                SELECT \(list: columns) FROM main.\(name: table.storage.table) WHERE \(.disjunction(conditions[...]))
                """
            let rows = try Row.fetchCursor(database, sql: find.sql, arguments: StatementArguments(find.arguments))
            while let row = try rows.next() {
                result.insert(StoredKey.encode((0..<row.count).map { row[$0] as DatabaseValue }))
            }
        }
        return result
    }
}
