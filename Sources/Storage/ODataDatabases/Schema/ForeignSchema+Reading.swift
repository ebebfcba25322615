import GRDB
import GRDBSQLite

extension ForeignSchema {
    /// The prefix of the tables that change tracking adds to a database (``ServedDatabase`` with triggers).
    static let ownPrefix = "outpost_"

    /// Reads the schema of a database, without tables of SQLite, shadow tables of virtual tables, and tables of
    /// change tracking.
    ///
    /// - Throws: an error of SQLite. A view that refers to a missing table is a warning instead.
    public init(reading database: Database) throws {
        self.init(tables: [])
        let rows = try Row.fetchAll(
            database,
            sql: """
                SELECT l.name, l.type, l.wr, m.sql FROM pragma_table_list AS l
                JOIN main.sqlite_master AS m ON m.name = l.name AND m.type IN ('table', 'view')
                WHERE l.schema = 'main' ORDER BY l.name
                """)
        for row in rows {
            let name: String = row["name"]
            let kind: String = row["type"]
            guard !name.hasPrefix("sqlite_"), !name.hasPrefix(Self.ownPrefix), kind != "shadow" else { continue }
            if kind == "virtual" {
                warnings.append("The virtual table \(name) is not served.")
                continue
            }
            do {
                tables.append(
                    try Self.table(
                        name, isView: kind == "view", isWithoutRowID: row["wr"], sql: row["sql"] ?? "", in: database))
            } catch let error as DatabaseError where kind == "view" && error.resultCode == .SQLITE_ERROR {
                // SQLite compiles a view when it is used, so an intact database can contain an invalid view.
                warnings.append("The view \(name) is not served: \(error.message ?? "it is broken").")
            }
        }
        completeForeignKeys()
    }

    private static func table(
        _ name: String, isView: Bool, isWithoutRowID: Bool, sql: String, in database: Database
    ) throws -> Table {
        var columns: [Column] = []
        var key: [(position: Int, name: String)] = []
        for row in try Row.fetchAll(database, sql: "SELECT * FROM pragma_table_xinfo(?)", arguments: [name]) {
            let hidden: Int = row["hidden"]
            // The value 1 marks a hidden column of a virtual table.
            guard hidden != 1 else { continue }
            columns.append(
                Column(
                    name: row["name"], declaredType: row["type"] ?? "", isNotNull: row["notnull"],
                    defaultExpression: row["dflt_value"], isGenerated: hidden > 1,
                    collation: isView ? nil : collation(of: row["name"], in: name, database: database)))
            let position: Int = row["pk"]
            if position > 0 { key.append((position, row["name"])) }
        }
        var table = Table(name: name, isView: isView, columns: columns)
        guard !isView else { return table }
        table.primaryKey = key.sorted { $0.position < $1.position }.map(\.name)
        var hasKeyIndex = false
        for row in try Row.fetchAll(database, sql: "SELECT * FROM pragma_index_list(?)", arguments: [name]) {
            let origin: String = row["origin"]
            if origin == "pk" { hasKeyIndex = true }
            guard row["unique"], !(row["partial"] as Bool), origin != "pk" else { continue }
            let parts = try String?.fetchAll(
                database, sql: "SELECT name FROM pragma_index_info(?) ORDER BY seqno", arguments: [row["name"]])
            // An index on an expression has parts without a column name.
            if !parts.contains(nil) { table.uniqueKeys.append(parts.compactMap { $0 }) }
        }
        // A primary key without an index is an alias of the rowid.
        table.hasRowIDAlias = !isWithoutRowID && table.primaryKey.count == 1 && !hasKeyIndex
        if table.hasRowIDAlias {
            table.rowIDColumn = table.primaryKey.first
            table.isAutoincrement = folded(sql).contains("autoincrement")
        } else if !isWithoutRowID {
            table.rowIDColumn = ["rowid", "_rowid_", "oid"].first { table.column($0) == nil }
        }
        table.foreignKeys = try foreignKeys(of: name, in: database)
        return table
    }

    /// Returns the declared collation of a column; `nil` if SQLite cannot determine it.
    private static func collation(of column: String, in table: String, database: Database) -> String? {
        var name: UnsafePointer<CChar>?
        let code = sqlite3_table_column_metadata(
            database.sqliteConnection, "main", table, column, nil, &name, nil, nil, nil)
        guard code == SQLITE_OK, let name else { return nil }
        return String(cString: name)
    }

    private static func foreignKeys(of table: String, in database: Database) throws -> [ForeignKey] {
        var keys: [Int: ForeignKey] = [:]
        let sql = "SELECT * FROM pragma_foreign_key_list(?) ORDER BY id, seq"
        for row in try Row.fetchAll(database, sql: sql, arguments: [table]) {
            let id: Int = row["id"]
            var key =
                keys[id]
                ?? ForeignKey(columns: [], table: row["table"], referencedColumns: [], onDelete: row["on_delete"])
            key.columns.append(row["from"])
            if let referenced: String = row["to"] { key.referencedColumns.append(referenced) }
            keys[id] = key
        }
        // SQLite numbers foreign keys in reverse order of declaration.
        return keys.sorted { $0.key > $1.key }.map(\.value)
    }

    /// Adds the referenced columns to foreign keys that name none: those of the primary key.
    private mutating func completeForeignKeys() {
        for index in tables.indices {
            for position in tables[index].foreignKeys.indices {
                let key = tables[index].foreignKeys[position]
                guard key.referencedColumns.isEmpty, let principal = table(key.table) else { continue }
                tables[index].foreignKeys[position].referencedColumns = principal.primaryKey
            }
        }
    }
}
