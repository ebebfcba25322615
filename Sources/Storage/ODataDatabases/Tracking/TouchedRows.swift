import Foundation
import GRDB
import ODataSQL

/// The rows that a transaction of this server touches, including rows changed by triggers and foreign key
/// actions of the database, and replaced rows. Temporary triggers of the writing connection record them and
/// leave the file unchanged.
enum TouchedRows {
    private static let table = "outpost_touched"

    /// A touched row.
    struct Row: Sendable {
        /// The entity set.
        var set: String
        /// The encoded key of the row.
        var key: Data
        /// The digest of the row before the transaction; `nil` if the row did not exist.
        var before: Data?
    }

    /// Creates the triggers of all tables, once for each connection.
    static func install(_ tables: [TrackedTable], in database: Database) throws {
        try database.setPragma(.temporaryStore, "MEMORY")
        try database.execute(
            sql: """
                CREATE TEMP TABLE IF NOT EXISTS \(table) (
                  set_name TEXT NOT NULL, key BLOB NOT NULL, before BLOB, PRIMARY KEY (set_name, key)
                ) WITHOUT ROWID
                """)
        for (index, tracked) in tables.enumerated() {
            let name = tracked.storage.table.sqlIdentifier
            // The name of a set is an identifier and needs no quoting.
            let set = tracked.storage.set.sqlLiteral
            // The first note of a row is kept. OR IGNORE would not ensure it: if a trigger of the database makes
            // the change, the conflict clause of its statement takes precedence in the triggers that it fires.
            func note(_ row: String, before: String, _ source: String = "") -> String {
                """
                INSERT INTO \(table) SELECT \(set), n.key, n.before
                FROM (SELECT \(tracked.keyExpression(row)) AS key, \(before) AS before\(source)) AS n
                WHERE NOT EXISTS (SELECT 1 FROM \(table) AS t WHERE t.set_name = \(set) AND t.key = n.key);
                """
            }
            func install(_ trigger: String, _ event: String, body: String) throws {
                try database.execute(
                    sql: """
                        CREATE TEMP TRIGGER IF NOT EXISTS outpost_touch_\(index)_\(trigger) \(event)
                        BEGIN \(body) END
                        """)
            }
            let old = note("OLD", before: tracked.digestExpression("OLD"))
            let new = note("NEW", before: "NULL")
            for (event, body) in [("INSERT", new), ("DELETE", old), ("UPDATE", old + " " + new)] {
                try install(event.lowercased(), "AFTER \(event) ON main.\(name)", body: body)
            }
            for (number, key) in tracked.uniqueKeys.enumerated() {
                let replaced = note(
                    "r", before: tracked.digestExpression("r"), " FROM main.\(name) AS r WHERE \(key.condition)")
                for event in UniqueKey.Event.allCases {
                    let start = key.trigger(before: event, of: tracked.storage.table, schema: "main.")
                    try install("before_\(event)_\(number)", start, body: replaced)
                }
            }
        }
    }

    /// Returns the rows touched in the current transaction, and clears them.
    static func take(in database: Database) throws -> [Row] {
        let rows = try GRDB.Row.fetchAll(database, sql: "SELECT set_name, key, before FROM temp.\(table)").map {
            Row(set: $0[0], key: $0[1], before: $0[2])
        }
        if !rows.isEmpty { try database.execute(sql: "DELETE FROM temp.\(table)") }
        return rows
    }
}
