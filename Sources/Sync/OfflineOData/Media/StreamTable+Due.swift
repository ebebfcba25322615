import GRDB
import ODataModel
import ODataSQL

/// Streams that a download must load. A due stream has a row of its own, without bytes, ETag and length, until
/// the service has answered. So a later download loads it after an interruption.
extension StreamTable {
    /// The number of rows that one transaction examines.
    private static let rowsAtOnce = 1_000
    /// The setting that shows that all changes of the last download were examined.
    private static let notedSetting = "streams.noted"

    /// The streams of an entity. The stream of a media entity has the empty name.
    static func properties(of table: TableStorage) -> [String] {
        (table.shape.hasStream ? [""] : [])
            + table.shape.properties.filter { $0.type.primitive == .stream }.map(\.name)
    }

    // MARK: Noting

    /// Marks the streams that the last download changed and did not load, before its records are removed.
    func noteLeftOver(_ mapping: StorageMapping) async throws {
        let (isNoted, all) = try await database.read { database in
            (try Settings.text(Self.notedSetting, in: database) != nil, try QueryTable.all(in: database))
        }
        if !isNoted { try await note(of: all, mapping) { try Self.changed($0, $1, after: $2, in: $3) } }
    }

    /// Starts the records of the next download.
    static func forgetNoted(in database: Database) throws {
        try database.execute(sql: "DELETE FROM outpost_setting WHERE name = ?", arguments: [notedSetting])
    }

    /// Marks the streams of rows that a download has changed, and the missing streams of some queries.
    func noteDue(missingOf queries: [StoredQuery], _ mapping: StorageMapping) async throws {
        let all = try await database.read { try QueryTable.all(in: $0) }
        guard all.contains(where: \.retrievesStreams) else { return }
        try await note(of: all, mapping) { try Self.changed($0, $1, after: $2, in: $3) }
        try await note(of: queries, mapping) { try Self.missing($0, $1, after: $2, in: $3) }
        try await database.write { try Settings.set(Self.notedSetting, "1", in: $0) }
    }

    private func note(
        of queries: [StoredQuery], _ mapping: StorageMapping,
        _ rows: @escaping @Sendable (Int64, TableStorage, Int64, Database) throws -> [Int64]
    ) async throws {
        for query in queries where query.retrievesStreams {
            for set in query.sets(in: mapping) {
                guard let table = mapping.tables[set] else { continue }
                let properties = Self.properties(of: table)
                var last = Int64.min
                while !properties.isEmpty {
                    let after = last
                    let ids = try await database.read { try rows(query.id, table, after, $0) }
                    guard let end = ids.last else { break }
                    last = end
                    try await database.bulkWrite { database in
                        for id in ids {
                            for property in properties {
                                try Self.note(Owner(set: set, rowID: id, property: property), in: database)
                            }
                        }
                    }
                }
            }
        }
    }

    /// Marks a stream for loading.
    static func note(_ owner: Owner, in database: Database) throws {
        try database.cachedStatement(
            sql: """
                INSERT INTO outpost_stream(entity_set, row_id, property, content_type)
                SELECT ?1, ?2, ?3, '' WHERE NOT EXISTS (
                    SELECT 1 FROM outpost_stream WHERE entity_set = ?1 AND row_id = ?2 AND property = ?3
                        AND is_complete = 0 AND is_local = 0)
                """
        ).execute(arguments: [owner.set, owner.rowID, owner.property])
    }

    /// The next rows of a query that the last download brought or changed.
    private static func changed(
        _ query: Int64, _ table: TableStorage, after last: Int64, in database: Database
    ) throws -> [Int64] {
        guard let condition = held(table), let id = table.rowID?.sqlIdentifier else { return [] }
        return try Int64.fetchAll(
            database,
            sql: """
                SELECT u.row_id FROM outpost_upserted AS u
                JOIN \(table.table.sqlIdentifier) AS t ON t.\(id) = u.row_id
                WHERE u.entity_set = ?2 AND u.row_id > ?3 AND \(condition)
                ORDER BY u.row_id LIMIT \(rowsAtOnce)
                """, arguments: [query, table.set, last])
    }

    /// The next rows of a query without any stream in the store.
    private static func missing(
        _ query: Int64, _ table: TableStorage, after last: Int64, in database: Database
    ) throws -> [Int64] {
        guard let condition = held(table), let id = table.rowID?.sqlIdentifier else { return [] }
        return try Int64.fetchAll(
            database,
            sql: """
                SELECT t.\(id) FROM \(table.table.sqlIdentifier) AS t
                WHERE t.\(id) > ?3 AND \(condition) AND NOT EXISTS (
                    SELECT 1 FROM outpost_stream AS s
                    WHERE s.entity_set = ?2 AND s.row_id = t.\(id) AND s.is_complete = 1)
                ORDER BY t.\(id) LIMIT \(rowsAtOnce)
                """, arguments: [query, table.set, last])
    }

    /// SQL that is true if the query ?1 holds a row t of the set ?2.
    private static func held(_ table: TableStorage) -> String? {
        guard let owner = table.visibility?.ownerColumn, let id = table.rowID else { return nil }
        return """
            (t.\(owner.sqlIdentifier) = ?1 OR EXISTS (
                SELECT 1 FROM outpost_member AS m
                WHERE m.entity_set = ?2 AND m.row_id = t.\(id.sqlIdentifier) AND m.query_id = ?1))
            """
    }

    // MARK: Loading

    /// The streams of a query's rows that are due, and those that were loaded in part.
    static func due(
        _ query: Int64, _ table: TableStorage, in database: Database
    ) throws -> [(rowID: Int64, properties: [String])] {
        guard let condition = held(table), let id = table.rowID?.sqlIdentifier else { return [] }
        let found = try Row.fetchAll(
            database,
            sql: """
                SELECT DISTINCT s.row_id, s.property FROM outpost_stream AS s
                JOIN \(table.table.sqlIdentifier) AS t ON t.\(id) = s.row_id
                WHERE s.entity_set = ?2 AND s.is_complete = 0 AND s.is_local = 0 AND \(condition)
                ORDER BY s.row_id, s.property
                """, arguments: [query, table.set])
        var due: [(rowID: Int64, properties: [String])] = []
        for row in found {
            let (rowID, property): (Int64, String) = (row[0], row[1])
            if due.last?.rowID == rowID {
                due[due.count - 1].properties.append(property)
            } else {
                due.append((rowID, [property]))
            }
        }
        return due
    }

    /// Removes the mark and the parts of a stream, except one given part.
    static func settle(_ owner: Owner, but id: Int64? = nil, in database: Database) throws {
        try database.execute(
            sql: """
                DELETE FROM outpost_stream WHERE entity_set = ?1 AND row_id = ?2 AND property = ?3
                    AND is_complete = 0 AND is_local = 0 AND id IS NOT ?4
                """, arguments: [owner.set, owner.rowID, owner.property, id])
    }

    /// Removes the received bytes of a stream, which stays due.
    static func empty(_ id: Int64, in database: Database) throws {
        try StreamChunks.remove(id, in: database)
        try database.execute(
            sql: "UPDATE outpost_stream SET etag = NULL, length = 0 WHERE id = ?", arguments: [id])
    }
}
