import GRDB
import ODataModel
import ODataQuery
import ODataStore

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
    /// The query that it is a part of, and the navigation property that it reads for it.
    var parent: Int64?
    var navigation: String?
    var isProbed = false
    /// The navigation properties that queries of their own read for this one.
    var splits: Set<String> = []
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
        let queries = try Row.fetchAll(database, sql: "SELECT * FROM outpost_query ORDER BY id").map { row in
            StoredQuery(
                id: row["id"], name: row["name"], group: row["query_group"], text: row["text"],
                entitySet: row["entity_set"], retrievesStreams: row["retrieves_streams"], isLoaded: row["is_loaded"],
                parent: row["parent"], navigation: row["navigation"],
                isProbed: row["is_probed"], nextLink: row["next_link"],
                deltaLink: row["delta_link"], lastDownload: row["last_download"])
        }
        var splits: [Int64: Set<String>] = [:]
        for query in queries {
            if let parent = query.parent, let navigation = query.navigation {
                splits[parent, default: []].insert(navigation)
            }
        }
        return queries.map { query in
            var query = query
            query.splits = splits[query.id] ?? []
            return query
        }
    }

    /// Adds a query; its rows stay hidden until it is loaded (rule 14).
    static func add(
        _ query: DefiningQuery, entitySet: String, mapping: StorageMapping, parent: Int64? = nil,
        navigation: String? = nil, in database: Database
    ) throws {
        let parts = try ExpandParts(of: query.name, query.url, entitySet: entitySet, mapping: mapping)
        try database.execute(
            sql: "INSERT INTO outpost_query(name, query_group, text, entity_set, retrieves_streams, parent, "
                + "navigation) VALUES (?, ?, ?, ?, ?, ?, ?)",
            arguments: [query.name, query.group, query.text, entitySet, query.retrievesStreams, parent, navigation])
        let id = database.lastInsertedRowID
        try database.execute(
            sql: "INSERT INTO outpost_hidden_owner(id) VALUES (?)", arguments: [id])
        for split in parts.splits {
            let part = try DefiningQuery(
                "\(query.name)/\(split.navigation)", split.text, group: query.group,
                retrievesStreams: query.retrievesStreams)
            try add(
                part, entitySet: split.entitySet, mapping: mapping, parent: id, navigation: split.navigation,
                in: database)
        }
    }

    /// Takes a part back that the service does not answer: its parent reads the navigation property itself.
    static func removePart(_ part: StoredQuery, in database: Database) throws {
        for further in try all(in: database) where further.parent == part.id { try removePart(further, in: database) }
        for (table, column) in [("outpost_query", "id"), (OfflineLayout.hiddenOwnerTable, "id")] {
            try database.execute(sql: "DELETE FROM \(table) WHERE \(column) = ?", arguments: [part.id])
        }
    }

    /// Some queries with all their parts.
    static func withParts(_ queries: [StoredQuery], of all: [StoredQuery]) -> [StoredQuery] {
        var wanted = Set(queries.map(\.id))
        // A part comes after what it is a part of.
        for query in all { if let parent = query.parent, wanted.contains(parent) { wanted.insert(query.id) } }
        return all.filter { wanted.contains($0.id) }
    }

    static func setNextLink(_ link: String?, of query: Int64, in database: Database) throws {
        try database.execute(sql: "UPDATE outpost_query SET next_link = ? WHERE id = ?", arguments: [link, query])
    }

    /// Has the next download of a query compare everything, or begin again: what a link goes on from is not what is here.
    static func forgetLinks(of query: Int64, in database: Database) throws {
        try database.execute(
            sql: "UPDATE outpost_query SET delta_link = NULL, next_link = NULL WHERE id = ?", arguments: [query])
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
