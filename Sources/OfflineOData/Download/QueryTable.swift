import GRDB
import ODataModel
import ODataQuery

/// A defining query as the store keeps it.
struct StoredQuery: Sendable {
    let id: Int64
    let name: String
    let group: String?
    var text: String
    let entitySet: String
    var retrievesStreams = false
    /// Whether the links that the service gives may be kept: they may hold values that must not get to the disk.
    var keepsLinks = true
    var isLoaded: Bool
    /// Where the first download goes on.
    var nextLink: String?
    /// What the next download asks.
    var deltaLink: String?
    /// When it was last downloaded.
    var lastDownload: String?
}

/// Reads and writes the defining queries. Every method runs in its caller's transaction.
enum QueryTable {
    static func all(in database: Database) throws -> [StoredQuery] {
        try Row.fetchAll(database, sql: "SELECT * FROM outpost_query ORDER BY id").map { row in
            StoredQuery(
                id: row["id"], name: row["name"], group: row["query_group"], text: row["text"],
                entitySet: row["entity_set"], retrievesStreams: row["retrieves_streams"], isLoaded: row["is_loaded"], nextLink: row["next_link"],
                deltaLink: row["delta_link"], lastDownload: row["last_download"])
        }
    }

    /// Adds a query; its rows stay hidden until it is loaded (rule 14).
    static func add(_ query: DefiningQuery, entitySet: String, in database: Database) throws {
        try database.execute(
            sql: "INSERT INTO outpost_query(name, query_group, text, entity_set, retrieves_streams) "
                + "VALUES (?, ?, ?, ?, ?)",
            arguments: [query.name, query.group, query.text, entitySet, query.retrievesStreams])
        try database.execute(
            sql: "INSERT INTO outpost_hidden_owner(id) VALUES (?)", arguments: [database.lastInsertedRowID])
    }

    static func setNextLink(_ link: String?, of query: Int64, in database: Database) throws {
        try database.execute(sql: "UPDATE outpost_query SET next_link = ? WHERE id = ?", arguments: [link, query])
    }

    /// Marks a query as complete: its rows are seen from now on.
    static func markLoaded(_ query: Int64, deltaLink: String?, at time: String, in database: Database) throws {
        try database.execute(
            sql: """
                UPDATE outpost_query SET is_fresh = 1 - is_loaded, is_loaded = 1, next_link = NULL, delta_link = ?, last_download = ?
                WHERE id = ?
                """, arguments: [deltaLink, time, query])
        try database.execute(sql: "DELETE FROM outpost_hidden_owner WHERE id = ?", arguments: [query])
    }

    /// Forgets what the download before brought.
    static func forgetUpserted(in database: Database) throws {
        try database.execute(
            sql: "DELETE FROM outpost_upserted; UPDATE outpost_query SET is_fresh = 0 WHERE is_fresh = 1")
    }

    /// Hides what a query holds, as before its first download.
    static func markNotLoaded(_ query: Int64, in database: Database) throws {
        try database.execute(
            sql: "UPDATE outpost_query SET is_loaded = 0, next_link = NULL, delta_link = NULL WHERE id = ?",
            arguments: [query])
        try database.execute(sql: "INSERT OR IGNORE INTO outpost_hidden_owner(id) VALUES (?)", arguments: [query])
    }
}
