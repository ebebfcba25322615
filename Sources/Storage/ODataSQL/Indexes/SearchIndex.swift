import GRDB

/// The full-text index of a table: an FTS5 table without content, which triggers maintain.
///
/// The index holds the words of each text as `TextSearch` splits them. The tokenizer of FTS5 only splits them again
/// at spaces. The `ascii` tokenizer treats all characters beyond ASCII as parts of words, independently of the
/// library's version of Unicode.
enum SearchIndex {
    private static let tokenizer = "tokenize='ascii'"

    static func name(of table: TableStorage) -> String { "search$\(table.table)" }

    /// Creates the index of a table and fills it.
    static func create(_ table: TableStorage, rowID: String, in database: Database) throws {
        let columns = table.searchColumns.map(\.name)
        let index = name(of: table).sqlIdentifier
        let names = columns.indices.map { "c\($0)" }.joined(separator: ", ")
        try database.execute(
            sql: "CREATE VIRTUAL TABLE \(index) USING fts5(\(names), content='', \(tokenizer))")
        func words(_ row: String) -> String {
            columns.map { "outpost_words(\(row)\($0.sqlIdentifier))" }.joined(separator: ", ")
        }
        let source = table.table.sqlIdentifier
        let insert = "INSERT INTO \(index)(rowid, \(names)) VALUES (new.\(rowID.sqlIdentifier), \(words("new.")))"
        let delete = """
            INSERT INTO \(index)(\(index), rowid, \(names)) VALUES ('delete', old.\(rowID.sqlIdentifier), \(words("old.")))
            """
        let changed = ([rowID] + columns).map(\.sqlIdentifier).joined(separator: ", ")
        try database.execute(
            sql: """
                INSERT INTO \(index)(rowid, \(names)) SELECT \(rowID.sqlIdentifier), \(words("")) FROM \(source);
                CREATE TRIGGER \(trigger(table, "insert")) AFTER INSERT ON \(source) BEGIN \(insert); END;
                CREATE TRIGGER \(trigger(table, "delete")) AFTER DELETE ON \(source) BEGIN \(delete); END;
                CREATE TRIGGER \(trigger(table, "update")) AFTER UPDATE OF \(changed) ON \(source) \
                BEGIN \(delete); \(insert); END;
                """)
    }

    /// Removes the index of a table.
    static func drop(_ table: TableStorage, in database: Database) throws {
        for event in ["insert", "delete", "update"] {
            try database.execute(sql: "DROP TRIGGER IF EXISTS \(trigger(table, event))")
        }
        try database.execute(sql: "DROP TABLE IF EXISTS \(name(of: table).sqlIdentifier)")
    }

    static func exists(_ table: TableStorage, in database: Database) throws -> Bool {
        try Bool.fetchOne(
            database, sql: "SELECT EXISTS (SELECT 1 FROM main.sqlite_master WHERE type = 'table' AND name = ?)",
            arguments: [name(of: table)]) ?? false
    }

    /// Returns the names of the indexes that find the same rows as a scan, or the names of the outdated ones.
    ///
    /// Indexes of an earlier version split words differently. They are kept, but not used.
    static func names(areCurrent: Bool = true, in database: Database) throws -> Set<String> {
        try String.fetchSet(
            database,
            sql: """
                SELECT name FROM main.sqlite_master WHERE type = 'table' AND name GLOB 'search$*' \
                AND sql LIKE 'CREATE VIRTUAL TABLE %' AND (instr(sql, ?) > 0) = ?
                """, arguments: [tokenizer, areCurrent])
    }

    private static func trigger(_ table: TableStorage, _ event: String) -> String {
        "\(name(of: table))$\(event)".sqlIdentifier
    }
}
