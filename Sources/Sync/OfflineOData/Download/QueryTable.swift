import GRDB
import ODataModel
import ODataQuery
import ODataSQL

/// A stored defining query.
struct StoredQuery: Sendable {
    let id: Int64
    let name: String
    let group: String?
    var text: String
    let entitySet: String
    var retrievesStreams = false
    /// Whether its rows stay after a change of the user.
    var isShared = false
    /// Whether the service's links may be stored. They may contain values that must not be written to disk.
    var keepsLinks = true
    var isLoaded: Bool
    /// The query of which it is a part, and the navigation property that it reads for that query.
    var parent: Int64?
    var navigation: String?
    var isProbed = false
    /// The navigation properties that separate queries read for this one.
    var splits: Set<String> = []
    /// The next link at which an interrupted first download resumes.
    var nextLink: String?
    /// The delta link for the next download.
    var deltaLink: String?
    /// The time of the last download.
    var lastDownload: String?
    /// The number of times that its links had been removed when it was read. A link with another generation is
    /// outdated.
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

    /// Adds a query. Its rows stay hidden until it is loaded.
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

    /// Rebuilds the parts of all queries for another model. No query holds any rows at this time.
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
            // The service itself reports a query without a place in the model.
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

    /// Removes a part that the service does not answer: its parent reads the navigation property itself.
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
        // A part comes after its parent.
        for query in all { if let parent = query.parent, wanted.contains(parent) { wanted.insert(query.id) } }
        return all.filter { wanted.contains($0.id) }
    }

    // MARK: Links

    /// Stores the link at which a first download continues.
    ///
    /// - Returns: whether it may continue. It may not if the links of the query were removed since it was read,
    ///   since the rows do not match the query any more.
    @discardableResult
    static func setNextLink(_ link: String?, of query: StoredQuery, in database: Database) throws -> Bool {
        guard try isCurrent(query, in: database) else { return false }
        try database.execute(sql: "UPDATE outpost_query SET next_link = ? WHERE id = ?", arguments: [link, query.id])
        return true
    }

    /// Removes the links of a query, so that the next download compares all rows or begins again: the stored rows
    /// do not match a link any more. A running download, in any process, does not store a link either.
    static func forgetLinks(of query: Int64, in database: Database) throws {
        try database.execute(
            sql: "UPDATE outpost_query SET delta_link = NULL, next_link = NULL WHERE id = ?", arguments: [query])
        try Settings.set(
            generationSetting(of: query), String(generation(of: query, in: database) + 1), in: database)
    }

    /// Lets the next download of a query compare all rows, since stored rows may be older than its link. A first
    /// download continues, and stores no delta link.
    static func requireComparison(of query: StoredQuery, in database: Database) throws {
        guard !query.isLoaded else { return try forgetLinks(of: query.id, in: database) }
        try Settings.set(comparisonSetting(of: query.id), "1", in: database)
    }

    /// Whether the links of a query have not been removed since it was read.
    static func isCurrent(_ query: StoredQuery, in database: Database) throws -> Bool {
        try generation(of: query.id, in: database) == query.generation
    }

    /// The number of times that the links of a query were removed.
    private static func generation(of query: Int64, in database: Database) throws -> Int {
        try Settings.text(generationSetting(of: query), in: database).flatMap { Int($0) } ?? 0
    }

    private static func generationSetting(of query: Int64) -> String { "query.generation.\(query)" }

    /// The setting that requires a comparison after a first download.
    private static func comparisonSetting(of query: Int64) -> String { "query.comparison.\(query)" }

    private static let sharedPrefix = "query.shared."

    /// The setting of a query with rows that stay after a change of the user.
    private static func sharedSetting(of query: Int64) -> String { "\(sharedPrefix)\(query)" }

    private static func sharedQueries(in database: Database) throws -> Set<Int64> {
        let names = try String.fetchAll(
            database.cachedStatement(sql: "SELECT name FROM outpost_setting WHERE name GLOB ? || '*'"),
            arguments: [sharedPrefix])
        return Set(names.compactMap { Int64($0.dropFirst(sharedPrefix.count)) })
    }

    /// Marks a query as complete, which makes its rows visible.
    ///
    /// No link is stored if the links were removed since it was read, or if a comparison is required: the next
    /// download then compares all rows. After a removal, a first download does not count, and begins again.
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

    /// Removes the records of the rows that the former download brought.
    static func forgetUpserted(in database: Database) throws {
        try database.execute(
            sql: "DELETE FROM outpost_upserted; UPDATE outpost_query SET is_fresh = 0 WHERE is_fresh = 1")
    }

    /// Hides the rows of a query, as before its first download.
    static func markNotLoaded(_ query: Int64, in database: Database) throws {
        try database.execute(
            sql: "UPDATE outpost_query SET is_loaded = 0, next_link = NULL, delta_link = NULL WHERE id = ?",
            arguments: [query])
        try database.execute(sql: "INSERT OR IGNORE INTO outpost_hidden_owner(id) VALUES (?)", arguments: [query])
    }
}
