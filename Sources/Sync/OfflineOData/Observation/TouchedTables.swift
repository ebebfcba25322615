import GRDB
import ODataSQL

/// Counts how often observed tables were changed, whatever statement did it: in a temporary table of the writing connection, by
/// temporary triggers. Tables that nobody observes have none.
///
/// The engine's own tables are counted by the entity set that their rows are about, under ``name(ofSet:)``.
enum TouchedTables {
    /// The name under which everything counts that may show or hide rows of any table.
    static let everything = "*"

    /// The name under which changes of the state of a set's entities count: what waits, what was sent.
    static func name(ofSet set: String) -> String { "set:\(set)" }

    /// Counts changes of tables of the store from now on.
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

    /// How often each was changed so far.
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
        // What a damaged queue says instead of details is none.
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
