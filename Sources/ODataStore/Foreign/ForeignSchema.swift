import GRDB

/// What a database that is not ours consists of, as SQLite's pragmas tell it.
public struct ForeignSchema: Hashable, Sendable {
    /// A table or view.
    public struct Table: Hashable, Sendable {
        /// The name, unquoted.
        public var name: String
        /// Whether it is a view.
        public var isView: Bool
        /// Whether rows have row ids; false for views and WITHOUT ROWID tables.
        public var hasRowID: Bool
        /// The columns in declared order; hidden ones of virtual tables are left out.
        public var columns: [Column]
        /// The columns of the primary key in key order; empty when there is none.
        public var primaryKey: [String]
        /// The foreign keys in declared order.
        public var foreignKeys: [ForeignKey]
        /// The column lists of UNIQUE constraints and full unique indexes, the primary key among them.
        public var uniqueKeys: [[String]]

        /// The column with a name, in any case.
        public func column(_ name: String) -> Column? {
            columns.first { $0.name == name } ?? columns.first { $0.name.lowercased() == name.lowercased() }
        }

        /// Whether the primary key is the row id itself (`INTEGER PRIMARY KEY`).
        public var keyIsRowID: Bool {
            hasRowID && primaryKey.count == 1 && column(primaryKey[0])?.declaredType.uppercased() == "INTEGER"
        }
    }

    /// A column.
    public struct Column: Hashable, Sendable {
        /// The name, unquoted.
        public var name: String
        /// The type as declared; empty when none is.
        public var declaredType: String
        /// Whether it is declared NOT NULL.
        public var isNotNull: Bool
        /// The SQL text of the default; `nil` for none.
        public var defaultText: String?
        /// Whether its value is computed from others (`GENERATED ALWAYS AS`).
        public var isGenerated: Bool
    }

    /// A foreign key.
    public struct ForeignKey: Hashable, Sendable {
        /// The table referred to.
        public var table: String
        /// The columns of this table.
        public var columns: [String]
        /// The columns referred to, pairwise; empty when the reference is to the primary key unnamed.
        public var referencedColumns: [String]
        /// What happens on delete, as SQLite spells it.
        public var onDelete: String
    }

    /// The tables and views in the order of their creation.
    public var tables: [Table]

    /// Reads the schema of a database.
    ///
    /// SQLite's own tables, virtual tables and their shadows are left out.
    /// - Throws: errors of SQLite.
    public init(reading database: Database) throws {
        let listed = try Row.fetchAll(
            database,
            sql: """
                SELECT list.name, list.type, list.wr FROM pragma_table_list AS list
                JOIN sqlite_master AS master ON master.name = list.name
                WHERE list.schema = 'main' AND list.type IN ('table', 'view') AND master.type IN ('table', 'view')
                  AND substr(list.name, 1, 7) <> 'sqlite_'
                ORDER BY master.rowid
                """)
        tables = []
        for row in listed {
            let name: String = row["name"]
            let isView = row["type"] == "view"
            let hasRowID = !isView && row["wr"] == 0
            // A view over something that is gone cannot even be described; the rest of the database can.
            guard let table = try? Self.table(name, isView: isView, hasRowID: hasRowID, in: database) else { continue }
            tables.append(table)
        }
    }

    private static func table(_ name: String, isView: Bool, hasRowID: Bool, in database: Database) throws -> Table {
        var columns: [Column] = []
        var key: [(position: Int, name: String)] = []
        for row in try Row.fetchAll(database, sql: "SELECT * FROM pragma_table_xinfo(?)", arguments: [name]) {
            let hidden: Int = row["hidden"]
            guard hidden != 1 else { continue }
            let column = Column(
                name: row["name"], declaredType: (row["type"] as String?) ?? "", isNotNull: row["notnull"] == 1,
                defaultText: row["dflt_value"], isGenerated: hidden == 2 || hidden == 3)
            columns.append(column)
            let position: Int = row["pk"]
            if position > 0 { key.append((position, column.name)) }
        }
        let primaryKey = key.sorted { $0.position < $1.position }.map(\.name)
        return Table(
            name: name, isView: isView, hasRowID: hasRowID, columns: columns, primaryKey: primaryKey,
            foreignKeys: try foreignKeys(of: name, in: database),
            uniqueKeys: try uniqueKeys(of: name, in: database) + (primaryKey.isEmpty ? [] : [primaryKey]))
    }

    private static func foreignKeys(of table: String, in database: Database) throws -> [ForeignKey] {
        let rows = try Row.fetchAll(
            database, sql: "SELECT * FROM pragma_foreign_key_list(?) ORDER BY id DESC, seq", arguments: [table])
        var keys: [ForeignKey] = []
        var last: Int?
        for row in rows {
            let id: Int = row["id"]
            if id != last {
                keys.append(
                    ForeignKey(table: row["table"], columns: [], referencedColumns: [], onDelete: row["on_delete"]))
                last = id
            }
            keys[keys.count - 1].columns.append(row["from"])
            if let referenced: String = row["to"] { keys[keys.count - 1].referencedColumns.append(referenced) }
        }
        return keys
    }

    private static func uniqueKeys(of table: String, in database: Database) throws -> [[String]] {
        let indexes = try String.fetchAll(
            database, sql: "SELECT name FROM pragma_index_list(?) WHERE \"unique\" AND NOT partial", arguments: [table])
        return try indexes.compactMap { index in
            let columns = try Optional<String>.fetchAll(
                database, sql: "SELECT name FROM pragma_index_info(?) ORDER BY seqno", arguments: [index])
            // An index on an expression names no column there.
            return columns.contains(nil) ? nil : columns.compactMap { $0 }
        }
    }
}
