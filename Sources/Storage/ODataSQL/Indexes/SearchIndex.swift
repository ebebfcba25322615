import GRDB

/// The full-text index of one table: an FTS5 table without content, kept by triggers.
///
/// It holds the words of each text as `TextSearch` cuts them; the tokenizer of FTS5 only splits them at
/// their spaces: `ascii` takes everything beyond ASCII for parts of words, whatever Unicode its library knows.
enum SearchIndex {
    private static let tokenizer = "tokenize='ascii'"

    /// The index's table.
    static func name(of table: TableStorage) -> String { "search$\(table.table)" }

    /// Makes the index of a table and fills it.
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

    /// Takes the index of a table out again.
    static func drop(_ table: TableStorage, in database: Database) throws {
        for event in ["insert", "delete", "update"] {
            try database.execute(sql: "DROP TRIGGER IF EXISTS \(trigger(table, event))")
        }
        try database.execute(sql: "DROP TABLE IF EXISTS \(name(of: table).sqlIdentifier)")
    }

    /// Whether a table has an index.
    static func exists(_ table: TableStorage, in database: Database) throws -> Bool {
        try Bool.fetchOne(
            database, sql: "SELECT EXISTS (SELECT 1 FROM main.sqlite_master WHERE type = 'table' AND name = ?)",
            arguments: [name(of: table)]) ?? false
    }

    /// The names of the indexes that find what a scan finds, or of the others: those of an earlier version split words
    /// otherwise. They are kept, but not asked.
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
