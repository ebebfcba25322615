import Foundation
import GRDB
import ODataModel
import ODataSQL

/// A search for the rows of a tracked result that may have been added, changed or removed since a version.
/// These are changed rows, and rows that are or were related to changed ones. The cost depends only on the
/// number of changes.
struct CandidateSearch {
    let query: TrackedQuery
    let mapping: StorageMapping
    let log: ChangeLog
    /// The version after which entries are considered.
    let since: Int64
    /// The last version that is considered.
    let upTo: Int64
    let database: Database

    /// A row that may have been added, changed or removed.
    struct Candidate {
        var rowID: Int64
        /// The values of the key, as ``StoredKey`` encodes them.
        var key: [DatabaseValue]
        var isDeleted: Bool
        /// The version of the insert; `nil` if the row was inserted earlier.
        var insertedAt: Int64?
        /// Whether the row may have been a member of the collection before.
        var mayHaveBeenMember: Bool
    }

    /// Returns the candidates after a row, in the order of their row ids.
    ///
    /// - Parameter limit: the maximum number of candidates.
    func candidates(after rowID: Int64, limit: Int) throws -> [Candidate] {
        let found = try rowIDs().filter { $0 > rowID }.sorted().prefix(limit)
        return try candidates(Array(found))
    }

    /// Returns the number of candidates.
    func count() throws -> Int { try rowIDs().count }

    private func rowIDs() throws -> Set<Int64> {
        try affected(query.root).union(try movedLinks())
    }

    /// Returns the rows whose link to the parent entity of the collection was added or removed.
    private func movedLinks() throws -> Set<Int64> {
        guard case .linked(let table, let rowIsSource, _) = query.membership else { return [] }
        return try Int64.fetchSet(
            database,
            sql: """
                SELECT \(rowIsSource ? "row_id" : "other") FROM \(ChangeLog.table)
                WHERE name = ? AND version > ? AND version <= ?
                """, arguments: [table, since, upTo])
    }

    /// Returns the rows of a list that are linked to the parent entity of the collection.
    private func linked(among list: String) throws -> Set<Int64> {
        guard case .linked(let link, let rowIsSource, let holder) = query.membership,
            let table = mapping.tables[holder.set]
        else { return [] }
        let (row, other) = rowIsSource ? ("source", "target") : ("target", "source")
        // Key conditions do not depend on the time.
        let compiler = ExpressionCompiler(
            mapping: mapping, options: SQLCompiler.Options(now: ODataDateTimeOffset(seconds: 0)))
        let scope = SQLScope(alias: table.table, source: .table(table), from: "\(name: table.table)")
        let key = ExpressionCompiler.whereClause(try compiler.keyConditions(holder.key, table, scope: scope))
        let holders: SQLFragment = "SELECT \(scope.sql(OfflineLayout.rowIDColumn)) FROM \(scope.from)\(key)"
        return try Int64.fetchSet(
            database,
            sql: "SELECT \(row) FROM \(link.sqlIdentifier) WHERE \(other) IN (\(holders.sql)) AND \(row) IN (\(list))",
            arguments: StatementArguments(holders.arguments))
    }

    /// Returns whether a row with these column values is a member of the collection.
    private func isMember(_ columns: [String], _ values: [DatabaseValue]) -> Bool {
        guard case .joined(let wanted) = query.membership else { return false }
        return wanted.allSatisfy { column, value in
            columns.firstIndex(of: column).map { $0 < values.count && values[$0] == value } ?? false
        }
    }

    private func candidates(_ rowIDs: [Int64]) throws -> [Candidate] {
        guard let table = mapping.tables[query.root.set] else { return [] }
        var present: [Int64: [DatabaseValue]] = [:]
        let columns = table.keyColumns.map(\.name)
        let joins = log.joinColumns[table.table] ?? []
        var members = try movedLinks()
        if case .all = query.membership { members = Set(rowIDs) }
        try forChunks(rowIDs) { list in
            members.formUnion(try linked(among: list))
            let sql = """
                SELECT \(([OfflineLayout.rowIDColumn] + columns + joins).map(\.sqlIdentifier).joined(separator: ", ")) \
                FROM \(table.table.sqlIdentifier) WHERE \(OfflineLayout.rowIDColumn.sqlIdentifier) IN (\(list))
                """
            for row in try Row.fetchAll(database, sql: sql) {
                present[row[0]] = columns.indices.map { row[$0 + 1] }
                if isMember(joins, joins.indices.map { row[$0 + 1 + columns.count] }) { members.insert(row[0]) }
            }
        }
        var entries: [Int64: (key: [DatabaseValue]?, insertedAt: Int64?)] = [:]
        try forChunks(rowIDs) { list in
            let sql = """
                SELECT row_id, kind, key, version, before FROM \(ChangeLog.table) \
                WHERE name = ? AND version > ? AND version <= ? AND row_id IN (\(list)) ORDER BY version
                """
            for row in try Row.fetchAll(database, sql: sql, arguments: [table.table, since, upTo]) {
                let (id, kind): (Int64, Int) = (row[0], row[1])
                if kind == ChangeLog.Kind.insert.rawValue { entries[id, default: (nil, nil)].insertedAt = row[3] }
                if let before = (row[4] as Data?).flatMap(StoredKey.decode), isMember(joins, before) {
                    members.insert(id)
                }
                if let key = row[2] as Data? { entries[id, default: (nil, nil)].key = StoredKey.decode(key) }
            }
        }
        return rowIDs.compactMap { id in
            let entry = entries[id]
            guard let key = present[id] ?? entry?.key else { return nil }
            return Candidate(
                rowID: id, key: key, isDeleted: present[id] == nil, insertedAt: entry?.insertedAt,
                mayHaveBeenMember: members.contains(id))
        }
    }

    // MARK: Related rows

    /// Returns the rows of a node's table that have changed or whose related rows have changed.
    private func affected(_ node: TrackedQuery.Node) throws -> Set<Int64> {
        guard let table = mapping.tables[node.set] else { return [] }
        var sql = "SELECT row_id FROM \(ChangeLog.table) WHERE name = ? AND version > ? AND version <= ?"
        if let shown = node.shownColumns {
            let mask = ChangedColumns(table).mask(of: shown.union(log.joinColumns[table.table] ?? []))
            sql += " AND (changed IS NULL OR changed & \(mask) <> 0)"
        }
        var result = try Int64.fetchSet(database, sql: sql, arguments: [table.table, since, upTo])
        for (name, child) in node.related {
            guard let storage = table.navigation[name], let target = mapping.tables[child.set] else { continue }
            let changed = try affected(child)
            switch storage {
            case .join(_, let pairs): result.formUnion(try parents(of: changed, table, pairs: pairs, target: target))
            case .link(_, let link, let source, let column):
                result.formUnion(try linked(changed, link, source: source, target: column))
            }
        }
        return result
    }

    /// Returns the rows from which a join leads to changed rows, by their current and their previous column
    /// values.
    private func parents(
        of changed: Set<Int64>, _ table: TableStorage, pairs: [NavigationStorage.ColumnPair], target: TableStorage
    ) throws -> Set<Int64> {
        guard !changed.isEmpty else { return [] }
        var result: Set<Int64> = []
        let rowID = OfflineLayout.rowIDColumn.sqlIdentifier
        let condition = pairs.map { "s.\($0.source.sqlIdentifier) = t.\($0.target.sqlIdentifier)" }.joined(
            separator: " AND ")
        var former: Set<StoredValues> = []
        try forChunks(Array(changed)) { list in
            result.formUnion(
                try Int64.fetchSet(
                    database,
                    sql: """
                        SELECT s.\(rowID) FROM \(target.table.sqlIdentifier) AS t JOIN \(table.table.sqlIdentifier) AS s \
                        ON \(condition) WHERE t.\(rowID) IN (\(list))
                        """))
            let columns = log.joinColumns[target.table] ?? []
            let sql = """
                SELECT row_id, before FROM \(ChangeLog.table) \
                WHERE name = ? AND version > ? AND version <= ? AND row_id IN (\(list))
                """
            for row in try Row.fetchAll(database, sql: sql, arguments: [target.table, since, upTo]) {
                let id: Int64 = row[0]
                let before = (row[1] as Data?).flatMap(StoredKey.decode)
                var values: [DatabaseValue] = []
                for pair in pairs {
                    if pair.target == OfflineLayout.rowIDColumn {
                        values.append(id.databaseValue)
                    } else if let position = columns.firstIndex(of: pair.target), let before, position < before.count {
                        values.append(before[position])
                    }
                }
                guard values.count == pairs.count, !values.contains(where: \.isNull) else { continue }
                former.insert(StoredValues(values))
            }
        }
        let old = pairs.map { "\($0.source.sqlIdentifier) = ?" }.joined(separator: " AND ")
        let statement = try database.cachedStatement(
            sql: "SELECT \(rowID) FROM \(table.table.sqlIdentifier) WHERE \(old)")
        for key in former {
            result.formUnion(try Int64.fetchSet(statement, arguments: StatementArguments(key.values)))
        }
        return result
    }

    /// Returns the rows from which a link table leads to changed rows, and rows whose links have changed.
    private func linked(_ changed: Set<Int64>, _ link: String, source: String, target: String) throws -> Set<Int64> {
        var result = try Int64.fetchSet(
            database,
            sql: """
                SELECT \(source == "source" ? "row_id" : "other") FROM \(ChangeLog.table)
                WHERE name = ? AND version > ? AND version <= ?
                """, arguments: [link, since, upTo])
        try forChunks(Array(changed)) { list in
            result.formUnion(
                try Int64.fetchSet(
                    database, sql: "SELECT \(source) FROM \(link.sqlIdentifier) WHERE \(target) IN (\(list))"))
        }
        return result
    }

    /// Calls a closure with SQL lists of at most 500 row ids.
    private func forChunks(_ rowIDs: [Int64], _ body: (String) throws -> Void) throws {
        for start in stride(from: 0, to: rowIDs.count, by: 500) {
            try body(rowIDs[start..<min(start + 500, rowIDs.count)].map(String.init).joined(separator: ","))
        }
    }
}
