import Foundation
import GRDB
import ODataSQL
import ODataService

/// The streams of media entities and of stream properties, in chunks of one size, never as a whole in memory.
struct StreamTable: Sendable {
    let database: StoreDatabase

    /// The entity of a stream, and the property if it is not the entity's own stream.
    struct Owner: Hashable, Sendable {
        var set: String
        var rowID: Int64
        /// Empty for the stream of a media entity.
        var property = ""
    }

    /// A stored stream.
    struct Info: Sendable {
        var id: Int64
        var contentType: String
        var etag: String?
        var length: Int64
        var isComplete: Bool
        /// Whether it was created locally and the service has not accepted it.
        var isLocal: Bool
    }

    // MARK: Finding

    /// The visible stream: the last local one, else the downloaded one, else one that is still being received.
    static func info(_ owner: Owner, in database: Database) throws -> Info? {
        try Row.fetchOne(
            database,
            sql: """
                SELECT * FROM outpost_stream WHERE entity_set = ? AND row_id = ? AND property = ?
                ORDER BY is_complete DESC, is_local DESC, id DESC LIMIT 1
                """, arguments: [owner.set, owner.rowID, owner.property]
        ).map(decode)
    }

    /// The complete downloaded stream, even if a local one has replaced it.
    static func downloaded(_ owner: Owner, in database: Database) throws -> Info? {
        try Row.fetchOne(
            database,
            sql: """
                SELECT * FROM outpost_stream WHERE entity_set = ? AND row_id = ? AND property = ?
                    AND is_complete = 1 AND is_local = 0
                ORDER BY id DESC LIMIT 1
                """, arguments: [owner.set, owner.rowID, owner.property]
        ).map(decode)
    }

    static func info(_ id: Int64, in database: Database) throws -> Info? {
        try Row.fetchOne(database, sql: "SELECT * FROM outpost_stream WHERE id = ?", arguments: [id]).map(decode)
    }

    /// A stream that was received in part.
    static func partial(_ owner: Owner, in database: Database) throws -> Info? {
        try Row.fetchOne(
            database,
            sql: """
                SELECT * FROM outpost_stream WHERE entity_set = ? AND row_id = ? AND property = ? AND is_complete = 0
                ORDER BY id DESC LIMIT 1
                """, arguments: [owner.set, owner.rowID, owner.property]
        ).map(decode)
    }

    private static func decode(_ row: Row) -> Info {
        Info(
            id: row["id"], contentType: row["content_type"], etag: row["etag"], length: max(0, row["length"] as Int64),
            isComplete: row["is_complete"], isLocal: row["is_local"])
    }

    // MARK: Writing

    /// The streams of pending requests.
    private static let waiting = """
        SELECT json_extract(detail, '$.stream') FROM outpost_queue WHERE json_extract(detail, '$.stream') IS NOT NULL
        """

    /// SQL that is true for streams of the set `?1`, unless they may come back with a locally deleted container:
    /// its shelf has their rows and requests.
    private static let cannotComeBack = """
        NOT EXISTS (SELECT 1 FROM outpost_shelf AS shelf
            WHERE substr(?1, 1, length(shelf.entity_set) + 1) = shelf.entity_set || '/')
        """

    /// The seconds after its last bytes for which a stream without an owner counts as still being received, by
    /// this process or another.
    static let intakeLifetime = 86_400

    /// Begins a stream without an owner. Instead of a row, it has the time of its last bytes.
    func begin(contentType: String, isLocal: Bool) async throws -> Int64 {
        try await database.write { database in
            try database.execute(
                sql: """
                    INSERT INTO outpost_stream(entity_set, row_id, content_type, is_local) VALUES ('', unixepoch(), ?, ?)
                    """, arguments: [contentType, isLocal])
            return database.lastInsertedRowID
        }
    }

    /// Appends received bytes, each chunk in a transaction of its own, so that received bytes stay.
    ///
    /// - Parameter length: the number of bytes received before, a multiple of `StreamChunks.size`.
    /// - Returns: the number of bytes afterwards.
    func append(_ bytes: ByteStream, to id: Int64, after length: Int64 = 0) async throws -> Int64 {
        try await StreamChunks.cut(bytes, after: length) { try await write($0, at: $1, of: id) }
    }

    private func write(_ bytes: Data, at position: Int64, of id: Int64) async throws {
        try await database.bulkWrite { database in
            try StreamChunks.write(bytes, at: position, of: id, in: database)
            try database.execute(
                sql: """
                    UPDATE outpost_stream SET length = max(length, ?),
                        row_id = CASE entity_set WHEN '' THEN unixepoch() ELSE row_id END WHERE id = ?
                    """, arguments: [position * Int64(StreamChunks.size) + Int64(bytes.count), id])
            guard database.changesCount == 1 else { throw Self.isGone }
        }
    }

    private static var isGone: ODataError {
        ODataError(status: 410, code: "StreamReplaced", message: "The stream was removed while it was taken in.")
    }

    /// Gives a complete stream to its owner. The former stream is removed, unless it is still to be sent. A
    /// downloaded stream stays behind a local one for an undo, until the service has accepted the local one.
    ///
    /// - Throws: `ODataError` 410 if the stream was removed.
    static func attach(_ id: Int64, to owner: Owner, length: Int64, etag: String?, in database: Database) throws {
        try database.execute(
            sql: """
                DELETE FROM outpost_stream WHERE entity_set = ?1 AND row_id = ?2 AND property = ?3 AND id <> ?4
                    AND is_local >= (SELECT is_local FROM outpost_stream WHERE id = ?4) AND id NOT IN (\(waiting))
                """, arguments: [owner.set, owner.rowID, owner.property, id])
        try database.execute(
            sql: """
                UPDATE outpost_stream SET entity_set = ?, row_id = ?, property = ?, length = ?, etag = ?,
                    is_complete = 1 WHERE id = ?
                """, arguments: [owner.set, owner.rowID, owner.property, length, etag, id])
        guard database.changesCount == 1 else { throw isGone }
    }

    /// Marks a stream as accepted by the service, and removes the downloaded one.
    static func markUploaded(_ id: Int64, etag: String?, in database: Database) throws {
        try database.execute(
            sql: """
                DELETE FROM outpost_stream WHERE id <> ?1 AND is_local = 0 AND id NOT IN (\(waiting))
                    AND (entity_set, row_id, property)
                        = (SELECT entity_set, row_id, property FROM outpost_stream WHERE id = ?1)
                """, arguments: [id])
        try database.execute(
            sql: "UPDATE outpost_stream SET is_local = 0, etag = ? WHERE id = ?", arguments: [etag, id])
    }

    /// Removes a stream of any owner.
    static func remove(_ id: Int64, in database: Database) throws {
        try database.execute(sql: "DELETE FROM outpost_stream WHERE id = ?", arguments: [id])
    }

    /// Removes the local or the downloaded streams of an owner, except those that are still to be sent.
    ///
    /// - Parameter etag: a stream with this ETag stays.
    static func remove(
        _ owner: Owner, local isLocal: Bool, unless etag: String? = nil, in database: Database
    ) throws {
        try database.execute(
            sql: """
                DELETE FROM outpost_stream WHERE entity_set = ?1 AND row_id = ?2 AND property = ?3 AND is_local = ?4
                    AND (?5 IS NULL OR etag IS NOT ?5) AND id NOT IN (\(waiting))
                """, arguments: [owner.set, owner.rowID, owner.property, isLocal, etag])
    }

    /// Removes the local streams of a row: the downloaded ones are visible again, and missing ones are loaded on
    /// request.
    static func removeLocal(of row: RowReference, in database: Database) throws {
        try database.execute(
            sql: "DELETE FROM outpost_stream WHERE entity_set = ? AND row_id = ? AND is_local = 1",
            arguments: [row.set, row.rowID])
    }

    /// Removes the streams of deleted rows (unless the deletion may be undone), and streams without an owner
    /// after an interruption.
    static func removeOrphans(_ mapping: StorageMapping, in database: Database) throws {
        for table in mapping.tables.values {
            guard let rowID = table.rowID else { continue }
            try database.execute(
                sql: """
                    DELETE FROM outpost_stream WHERE entity_set = ?1 AND id NOT IN (\(waiting)) AND row_id NOT IN (
                        SELECT \(rowID.sqlIdentifier) FROM \(table.table.sqlIdentifier)
                        UNION ALL SELECT row_id FROM outpost_before WHERE entity_set = ?1)
                        AND \(cannotComeBack)
                    """, arguments: [table.set])
        }
        // The streams of sets that the service does not have any more.
        for set in try String.fetchAll(database, sql: "SELECT DISTINCT entity_set FROM outpost_stream")
        where !set.isEmpty && mapping.tables[set] == nil {
            try database.execute(
                sql: """
                    DELETE FROM outpost_stream WHERE entity_set = ?1 AND id NOT IN (\(waiting)) AND \(cannotComeBack)
                    """, arguments: [set])
        }
        try database.execute(
            sql: "DELETE FROM outpost_stream WHERE entity_set = '' AND abs(unixepoch() - row_id) > ?",
            arguments: [intakeLifetime])
    }

    // MARK: Reading

    /// The bytes of a stream, read on demand; no transaction stays open between two chunks.
    func bytes(of stream: Info) -> ByteStream {
        StreamChunks { try await database.read($0) }.bytes(of: stream.id, length: stream.length)
    }
}
