import GRDB
import ODataSQL

/// Counts the changes of observed tables by any statement, with temporary triggers and a temporary table of the
/// writing connection. Tables without observers have no triggers.
///
/// Changes of the engine's own tables are counted for the entity set of their rows, under ``name(ofSet:)``.
enum TouchedTables {
    /// The name for changes that may show or hide rows of any table.
    static let everything = "*"

    /// The name for changes in the state of a set's entities: pending and sent changes.
    static func name(ofSet set: String) -> String { "set:\(set)" }

    /// Starts to count changes of tables.
    static func watch(_ tables: Set<String>, in database: Database) throws {
        try database.execute(
            sql: """
                CREATE TEMP TABLE IF NOT EXISTS outpost_touched(
                    name TEXT PRIMARY KEY, changes INTEGER NOT NULL
                ) STRICT, WITHOUT ROWID
                """)
        try watchEngine(in: database)
        for table in tables {
            try database.execute(
                sql: "INSERT OR IGNORE INTO temp.outpost_touched(name, changes) VALUES (?, 0)", arguments: [table])
            let name = try String(sqlLiteral: table, in: database)
            for event in ["INSERT", "UPDATE", "DELETE"] {
                try create(
                    event, on: table, "UPDATE outpost_touched SET changes = changes + 1 WHERE name = \(name);",
                    in: database)
            }
        }
    }

    /// The number of changes of each table so far.
    static func counts(in database: Database) throws -> [String: Int64] {
        let statement = try database.cachedStatement(sql: "SELECT name, changes FROM temp.outpost_touched")
        var counts: [String: Int64] = [:]
        let rows = try Row.fetchCursor(statement)
        while let row = try rows.next() { counts[row[0] as String] = row[1] as Int64 }
        return counts
    }

    private static func watchEngine(in database: Database) throws {
        func note(_ sets: String) -> String {
            """
            INSERT INTO outpost_touched(name, changes) SELECT 'set:' || entity_set, 1 FROM (\(sets))
            WHERE entity_set IS NOT NULL ON CONFLICT(name) DO UPDATE SET changes = changes + 1;
            """
        }
        // In a damaged queue, invalid details count as missing.
        func request(_ row: String) -> String {
            func detail(_ path: String) -> String {
                "SELECT CASE WHEN json_valid(\(row).detail) THEN json_extract(\(row).detail, '\(path)') END"
            }
            return note(
                "SELECT \(row).entity_set AS entity_set UNION \(detail("$.targetSet")) UNION \(detail("$.bound.set"))")
        }
        try create("INSERT", on: QueueTable.name, request("new"), in: database)
        try create("UPDATE", on: QueueTable.name, request("old") + request("new"), in: database)
        try create("DELETE", on: QueueTable.name, request("old"), in: database)
        for (event, row) in [("INSERT", "new"), ("DELETE", "old")] {
            try create(event, on: "outpost_uploaded", note("SELECT \(row).entity_set AS entity_set"), in: database)
            try create(
                event, on: OfflineLayout.hiddenOwnerTable,
                """
                INSERT INTO outpost_touched(name, changes) VALUES ('\(everything)', 1)
                ON CONFLICT(name) DO UPDATE SET changes = changes + 1;
                """, in: database)
        }
    }

    private static func create(_ event: String, on table: String, _ body: String, in database: Database) throws {
        let name = "outpost_touched$\(table)$\(event)".sqlIdentifier
        try database.execute(
            sql: """
                CREATE TEMP TRIGGER IF NOT EXISTS \(name) AFTER \(event) ON main.\(table.sqlIdentifier)
                BEGIN \(body) END
                """)
    }
}

extension String {
    /// A text as a literal of SQL.
    fileprivate init(sqlLiteral text: String, in database: Database) throws {
        self = try String.fetchOne(database, sql: "SELECT quote(?)", arguments: [text]) ?? "''"
    }
}
