import Foundation
import GRDB
import ODataModel
import ODataSQL

/// The log of all changes of a service's rows, from which delta links are answered. Triggers write the log in
/// the transaction of each change, regardless of the code that makes the change.
///
/// Each entry has an increasing version, the table, the row id and the key of the entity. Entries of changes
/// and deletions contain the previous values of the join columns, by which formerly related rows are found.
/// Entries of changes also contain the changed columns (``ChangedColumns``).
struct ChangeLog: Sendable {
    static let table = "outpost_change"

    /// The columns at both ends of joins, by table. An entry contains their values.
    let joinColumns: [String: [String]]
    let links: [String]
    private let mapping: StorageMapping

    init(mapping: StorageMapping) {
        self.mapping = mapping
        var columns: [String: Set<String>] = [:]
        var links: Set<String> = []
        for table in mapping.tables.values {
            for navigation in table.navigation.values {
                switch navigation {
                case .join(let target, let pairs):
                    guard let other = mapping.tables[target] else { continue }
                    columns[table.table, default: []].formUnion(pairs.map(\.source))
                    columns[other.table, default: []].formUnion(pairs.map(\.target))
                case .link(_, let link, _, _): links.insert(link)
                }
            }
        }
        joinColumns = columns.mapValues { $0.subtracting([OfflineLayout.rowIDColumn]).sorted() }
        self.links = links.sorted()
    }

    /// The statements that create the log and its triggers.
    var statements: [String] {
        var statements = [
            """
            CREATE TABLE \(Self.table) (
              version INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL, row_id INTEGER NOT NULL,
              other INTEGER, kind INTEGER NOT NULL, key BLOB, before BLOB, changed INTEGER,
              at INTEGER NOT NULL
            )
            """,
            "CREATE INDEX \(Self.table)_name ON \(Self.table) (name, version)",
        ]
        for table in mapping.tables.values.sorted(by: { $0.table < $1.table }) {
            statements += triggers(table)
        }
        for link in links {
            for (event, row, kind) in [("INSERT", "NEW", Kind.insert), ("DELETE", "OLD", Kind.delete)] {
                statements.append(
                    """
                    CREATE TRIGGER \("change$\(link)$\(event)".sqlIdentifier) AFTER \(event) ON \(link.sqlIdentifier) BEGIN
                      INSERT INTO \(Self.table) (name, row_id, other, kind, at) VALUES (
                        \(link.sqlLiteral), \(row).source, \(row).target, \(kind.rawValue),
                        \(ServiceSchema.nowFunction)());
                    END
                    """)
            }
        }
        return statements
    }

    /// The kind of a change.
    enum Kind: Int, Sendable {
        case insert = 0
        case update = 1
        case delete = 2
    }

    private func triggers(_ table: TableStorage) -> [String] {
        let keys = table.shape.key.compactMap { table.column(at: $0.path)?.name }
        let rowID = OfflineLayout.rowIDColumn.sqlIdentifier
        func values(_ row: String, _ columns: [String]) -> String {
            columns.isEmpty
                ? "NULL"
                : "\(StoredKey.functionName)(\(columns.map { "\(row).\($0.sqlIdentifier)" }.joined(separator: ", ")))"
        }
        func entry(_ row: String, _ kind: Kind, keepsJoins: Bool) -> String {
            """
            INSERT INTO \(Self.table) (name, row_id, kind, key, before, changed, at) VALUES (\
            \(table.table.sqlLiteral), \(row).\(rowID), \(kind.rawValue), \(values(row, keys)), \
            \(keepsJoins ? values(row, joinColumns[table.table] ?? []) : "NULL"), \
            \(kind == .update ? ChangedColumns(table).expression : "NULL"), \
            \(ServiceSchema.nowFunction)());
            """
        }
        // The ETag is written after the values of a row and is not a change by itself.
        let columns = table.digestColumns
        let watched = columns.isEmpty ? "" : " OF \(columns.map(\.sqlIdentifier).joined(separator: ", "))"
        return [
            ("INSERT", "NEW", Kind.insert, ""), ("UPDATE", "OLD", .update, watched), ("DELETE", "OLD", .delete, ""),
        ]
        .map { event, row, kind, columns in
            """
            CREATE TRIGGER \("change$\(table.table)$\(event)".sqlIdentifier) AFTER \(event)\(columns) \
            ON \(table.table.sqlIdentifier) BEGIN
              \(entry(row, kind, keepsJoins: kind != .insert))
            END
            """
        }
    }

    /// Records a change of a row without a change of its columns, such as a new link.
    static func note(_ rowID: Int64, of table: TableStorage, in database: Database) throws {
        try database.cachedStatement(
            sql: """
                INSERT INTO \(Self.table) (name, row_id, kind, at) VALUES (?, ?, ?, \(ServiceSchema.nowFunction)())
                """
        ).execute(arguments: [table.table, rowID, Kind.update.rawValue])
    }

    // MARK: Versions

    /// Returns the current position of the log.
    static func position(in database: Database) throws -> ChangePosition {
        let meta = Dictionary(
            try Row.fetchAll(
                database,
                sql: "SELECT name, value FROM \(ServiceSchema.metaTable) WHERE name IN ('instance', 'horizon')"
            ).map { ($0[0] as String, $0[1] as DatabaseValue) }, uniquingKeysWith: { first, _ in first })
        let version = try Int64.fetchOne(
            database, sql: "SELECT seq FROM sqlite_sequence WHERE name = ?", arguments: [table])
        return ChangePosition(
            instance: meta["instance"].flatMap { String.fromDatabaseValue($0) } ?? "", version: version ?? 0,
            horizon: meta["horizon"].flatMap { Int64.fromDatabaseValue($0) } ?? 0)
    }

    /// Returns whether the log has entries older than a time.
    static func reaches(before seconds: Int64, in database: Database) throws -> Bool {
        let first = try Int64.fetchOne(database, sql: "SELECT at FROM \(table) ORDER BY version LIMIT 1")
        return first.map { $0 < seconds } ?? false
    }

    /// Removes entries older than a time. Delta links from before that time are refused afterwards.
    static func forget(before seconds: Int64, in database: Database) throws {
        guard
            let last = try Int64.fetchOne(
                database, sql: "SELECT max(version) FROM \(table) WHERE at < ?", arguments: [seconds])
        else { return }
        try database.execute(sql: "DELETE FROM \(table) WHERE version <= ?", arguments: [last])
        try database.execute(
            sql: "UPDATE \(ServiceSchema.metaTable) SET value = ? WHERE name = 'horizon'", arguments: [last])
    }
}
