import GRDB
import ODataModel
import ODataQuery
import ODataSQL

/// A defining query as the store keeps it.
struct StoredQuery: Sendable {
    let id: Int64
    let name: String
    let group: String?
    var text: String
    let entitySet: String
    var retrievesStreams = false
    /// Whether its rows stay when another user takes the store over.
    var isShared = false
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
    /// How often its links had been forgotten when it was read: a link that was asked for since is of another time.
    var generation = 0
}

/// Reads and writes the defining queries. Every method runs in its caller's transaction.
enum QueryTable {
    static func all(in database: Database) throws -> [StoredQuery] {
        let shared = try sharedQueries(in: database)
        let queries = try Row.fetchAll(database, sql: "SELECT * FROM outpost_query ORDER BY id").map { row in
            StoredQuery(
                id: row["id"], name: row["name"], group: row["query_group"], text: row["text"],
                entitySet: row["entity_set"], retrievesStreams: row["retrieves_streams"],
                isShared: shared.contains(row["id"]), isLoaded: row["is_loaded"],
                parent: row["parent"], navigation: row["navigation"],
                isProbed: row["is_probed"], nextLink: row["next_link"],
                deltaLink: row["delta_link"], lastDownload: row["last_download"],
                generation: try generation(of: row["id"], in: database))
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

    /// Adds a query; its rows stay hidden until it is loaded.
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
        if query.isShared { try Settings.set(sharedSetting(of: id), "1", in: database) }
        for split in parts.splits { try add(split, of: query, id, mapping: mapping, in: database) }
    }

    /// Adds a part of a query.
    private static func add(
        _ split: ExpandParts.Split, of query: DefiningQuery, _ id: Int64, mapping: StorageMapping, in database: Database
    ) throws {
        let part = try DefiningQuery(
            "\(query.name)/\(split.navigation)", split.text, group: query.group,
            retrievesStreams: query.retrievesStreams, isShared: query.isShared)
        try add(
            part, entitySet: split.entitySet, mapping: mapping, parent: id, navigation: split.navigation, in: database)
    }

    /// Has what all queries expand read as another model lets it be. None of them holds any rows.
    static func remakeParts(_ mapping: StorageMapping, in database: Database) throws {
        for query in try all(in: database) where query.parent == nil {
            try remakeParts(of: query, mapping, in: database)
        }
    }

    private static func remakeParts(
        of query: StoredQuery, _ mapping: StorageMapping, in database: Database
    ) throws {
        let defining = try DefiningQuery(
            query.name, query.text, group: query.group, retrievesStreams: query.retrievesStreams,
            isShared: query.isShared)
        let splits: [ExpandParts.Split]
        do {
            splits = try ExpandParts(of: query.name, defining.url, entitySet: query.entitySet, mapping: mapping).splits
        } catch is OfflineError {
            // What the model has no place for any more, the service says by itself.
            return
        }
        var missing = splits
        for part in try all(in: database) where part.parent == query.id {
            let split = part.navigation.map {
                ExpandParts.Split(navigation: $0, entitySet: part.entitySet, text: part.text)
            }
            if let split, let index = missing.firstIndex(of: split) {
                missing.remove(at: index)
                try remakeParts(of: part, mapping, in: database)
            } else {
                try removePart(part, in: database)
            }
        }
        for split in missing { try add(split, of: defining, query.id, mapping: mapping, in: database) }
    }

    /// Takes a part back that the service does not answer: its parent reads the navigation property itself.
    static func removePart(_ part: StoredQuery, in database: Database) throws {
        for further in try all(in: database) where further.parent == part.id { try removePart(further, in: database) }
        try remove(part.id, in: database)
    }

    /// Removes a query that holds no rows.
    static func remove(_ query: Int64, in database: Database) throws {
        try ExpandedRows.forget(query, in: database)
        for table in ["outpost_query", OfflineLayout.hiddenOwnerTable] {
            try database.execute(sql: "DELETE FROM \(table) WHERE id = ?", arguments: [query])
        }
        try database.execute(
            sql: "DELETE FROM outpost_setting WHERE name IN (?, ?, ?)",
            arguments: [generationSetting(of: query), comparisonSetting(of: query), sharedSetting(of: query)])
    }

    /// Some queries with all their parts.
    static func withParts(_ queries: [StoredQuery], of all: [StoredQuery]) -> [StoredQuery] {
        var wanted = Set(queries.map(\.id))
        // A part comes after what it is a part of.
        for query in all { if let parent = query.parent, wanted.contains(parent) { wanted.insert(query.id) } }
        return all.filter { wanted.contains($0.id) }
    }

    // MARK: Links

    /// Keeps where a first download goes on.
    ///
    /// - Returns: whether it may go on: not where the links of the query were forgotten since it was read, since what comes
    ///   is not what is asked for any more.
    @discardableResult
    static func setNextLink(_ link: String?, of query: StoredQuery, in database: Database) throws -> Bool {
        guard try isCurrent(query, in: database) else { return false }
        try database.execute(sql: "UPDATE outpost_query SET next_link = ? WHERE id = ?", arguments: [link, query.id])
        return true
    }

    /// Has the next download of a query compare everything, or begin again: what a link goes on from is not what is here. A
    /// download that is under way, in whichever process, leaves no link behind either.
    static func forgetLinks(of query: Int64, in database: Database) throws {
        try database.execute(
            sql: "UPDATE outpost_query SET delta_link = NULL, next_link = NULL WHERE id = ?", arguments: [query])
        try Settings.set(
            generationSetting(of: query), String(generation(of: query, in: database) + 1), in: database)
    }

    /// Has the next download of a query compare everything, since what is here may be older than what a link goes on from. A
    /// first download goes on, and leaves no link behind.
    static func requireComparison(of query: StoredQuery, in database: Database) throws {
        guard !query.isLoaded else { return try forgetLinks(of: query.id, in: database) }
        try Settings.set(comparisonSetting(of: query.id), "1", in: database)
    }

    /// Whether the links of a query have not been forgotten since it was read.
    static func isCurrent(_ query: StoredQuery, in database: Database) throws -> Bool {
        try generation(of: query.id, in: database) == query.generation
    }

    /// How often the links of a query were forgotten.
    private static func generation(of query: Int64, in database: Database) throws -> Int {
        try Settings.text(generationSetting(of: query), in: database).flatMap { Int($0) } ?? 0
    }

    private static func generationSetting(of query: Int64) -> String { "query.generation.\(query)" }

    /// What is set where everything is to be compared once a first download is complete.
    private static func comparisonSetting(of query: Int64) -> String { "query.comparison.\(query)" }

    private static let sharedPrefix = "query.shared."

    /// What is set for a query whose rows stay when another user takes the store over.
    private static func sharedSetting(of query: Int64) -> String { "\(sharedPrefix)\(query)" }

    private static func sharedQueries(in database: Database) throws -> Set<Int64> {
        let names = try String.fetchAll(
            database.cachedStatement(sql: "SELECT name FROM outpost_setting WHERE name GLOB ? || '*'"),
            arguments: [sharedPrefix])
        return Set(names.compactMap { Int64($0.dropFirst(sharedPrefix.count)) })
    }

    /// Marks a query as complete: its rows are seen from now on.
    ///
    /// Where its links were forgotten since it was read, or a comparison is required, no link is kept, so that the next
    /// download compares everything; where they were forgotten, a first download is none, so that the next one begins again.
    ///
    /// - Returns: whether the query is complete.
    @discardableResult
    static func markLoaded(
        _ query: StoredQuery, deltaLink: String?, at time: String, in database: Database
    ) throws -> Bool {
        let isCurrent = try isCurrent(query, in: database)
        guard isCurrent || query.isLoaded else { return false }
        try database.execute(
            sql: "DELETE FROM outpost_setting WHERE name = ?", arguments: [comparisonSetting(of: query.id)])
        let isToCompare = database.changesCount > 0
        try database.execute(
            sql: """
                UPDATE outpost_query SET is_fresh = 1 - is_loaded, is_loaded = 1, next_link = NULL, delta_link = ?, last_download = ?
                WHERE id = ?
                """, arguments: [isCurrent && !isToCompare ? deltaLink : nil, time, query.id])
        try database.execute(sql: "DELETE FROM outpost_hidden_owner WHERE id = ?", arguments: [query.id])
        return true
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
