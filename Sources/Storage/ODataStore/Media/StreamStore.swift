import Foundation
import GRDB
import ODataModel
import ODataSQL
import ODataService

/// The streams of media entities and stream properties, stored in chunks of one size and never held in memory
/// as a whole.
///
/// An upload is written chunk by chunk, each in its own transaction, and has no owner until the entity is
/// written. A stream without an owner remains readable for ``graceTime`` before it is removed.
struct StreamStore: Sendable {
    /// The time for which a stream without an owner can still be read, in seconds.
    static let graceTime: Int64 = 600
    private static let table = "outpost_stream"
    private static let chunks = StreamChunks.table

    let database: any DatabaseWriter
    let options: StoreService.Options

    /// The entity and the property to which a stream belongs.
    struct Owner: Hashable, Sendable {
        var set: String
        var rowID: Int64
        /// The stream property; empty for the stream of a media entity.
        var property = ""
    }

    /// Returns the statements that create the tables and triggers.
    static func statements(_ mapping: StorageMapping) -> [String] {
        var statements = [
            """
            CREATE TABLE \(table) (
              id INTEGER PRIMARY KEY AUTOINCREMENT, set_name TEXT, row_id INTEGER, property TEXT NOT NULL DEFAULT '',
              content_type TEXT NOT NULL, length INTEGER NOT NULL DEFAULT 0, superseded INTEGER
            )
            """,
            "CREATE UNIQUE INDEX \(table)_owner ON \(table) (set_name, row_id, property)",
            """
            CREATE TABLE \(chunks) (
              id INTEGER PRIMARY KEY, stream INTEGER NOT NULL, position INTEGER NOT NULL, bytes BLOB NOT NULL
            )
            """,
            "CREATE UNIQUE INDEX \(chunks)_position ON \(chunks) (stream, position)",
            """
            CREATE TRIGGER \(table)_delete AFTER DELETE ON \(table)
            BEGIN DELETE FROM \(chunks) WHERE stream = OLD.id; END
            """,
        ]
        for storage in mapping.tables.values.sorted(by: { $0.set < $1.set })
        where storage.hasStreams(in: mapping.model) {
            statements.append(
                """
                CREATE TRIGGER \("stream$\(storage.table)".sqlIdentifier) AFTER DELETE ON \(storage.table.sqlIdentifier)
                BEGIN
                  UPDATE \(table) SET set_name = NULL, row_id = NULL, superseded = \(ServiceSchema.nowFunction)()
                  WHERE set_name = \(storage.set.sqlLiteral) AND row_id = OLD.\(OfflineLayout.rowIDColumn.sqlIdentifier);
                END
                """)
        }
        return statements
    }

    /// Detaches all streams from their owners.
    static func supersedeAll(in database: Database) throws {
        try database.execute(
            sql: """
                UPDATE \(table) SET set_name = NULL, row_id = NULL, superseded = \(ServiceSchema.nowFunction)()
                WHERE set_name IS NOT NULL
                """)
    }

    // MARK: Writing

    /// Writes a stream to the store, at the pace of the producer and the database.
    ///
    /// - Returns: the stream, which has no owner yet.
    /// - Throws: ``ODataError`` 413 if the stream is too long, or an error of the producer. The written chunks
    ///   are removed.
    func upload(_ stream: ByteStream, contentType: String) async throws -> StreamInfo {
        let limit = options.streamSizeLimit ?? .max
        if let length = stream.length, length > limit { throw Self.tooLarge(limit) }
        let id = try await database.write { database in
            try database.execute(
                sql: "INSERT INTO \(Self.table) (content_type) VALUES (?)", arguments: [contentType])
            return database.lastInsertedRowID
        }
        do {
            let length = try await StreamChunks.cut(
                stream, check: { if $0 > limit { throw Self.tooLarge(limit) } },
                write: { bytes, position in
                    try await database.write {
                        try StreamChunks.write(bytes, at: position, of: id, in: $0)
                    }
                })
            return StreamInfo(id: id, contentType: contentType, length: length)
        } catch {
            try? await discard(id)
            throw error
        }
    }

    private static func tooLarge(_ limit: Int64) -> ODataError {
        ODataError(status: 413, code: "PayloadTooLarge", message: "The stream exceeds \(limit) bytes.")
    }

    /// Attaches an uploaded stream to its owner and detaches the previous one. Call this method in the
    /// transaction that changes the entity.
    func attach(_ stream: StreamInfo, to owner: Owner, in database: Database) throws {
        try detach(owner, in: database)
        try database.execute(
            sql: "UPDATE \(Self.table) SET set_name = ?, row_id = ?, property = ?, length = ? WHERE id = ?",
            arguments: [owner.set, owner.rowID, owner.property, stream.length, stream.id])
    }

    /// Detaches the stream of an owner.
    ///
    /// - Returns: whether the owner had a stream.
    @discardableResult
    func detach(_ owner: Owner, in database: Database) throws -> Bool {
        try database.execute(
            sql: """
                UPDATE \(Self.table) SET set_name = NULL, row_id = NULL, superseded = ?
                WHERE set_name = ? AND row_id = ? AND property = ?
                """, arguments: [options.now().seconds, owner.set, owner.rowID, owner.property])
        let wasThere = database.changesCount > 0
        try database.execute(
            sql: "DELETE FROM \(Self.table) WHERE superseded < ?", arguments: [options.now().seconds - Self.graceTime])
        return wasThere
    }

    /// Removes an upload that has no owner.
    func discard(_ id: Int64) async throws {
        try await database.write { database in
            try database.execute(
                sql: "DELETE FROM \(Self.table) WHERE id = ? AND set_name IS NULL", arguments: [id])
        }
    }

    /// Removes all streams without an owner when the service is opened; no request uses them yet.
    func removeLeftovers() async throws {
        try await database.write { database in
            try database.execute(sql: "DELETE FROM \(Self.table) WHERE set_name IS NULL")
        }
    }

    /// A writer of streams that are already in memory, within a transaction.
    struct Inserter {
        let database: Database

        /// Inserts a stream and attaches it to its owner.
        func insert(_ bytes: [UInt8], contentType: String, owner: Owner) throws {
            try database.execute(
                sql: """
                    INSERT INTO \(StreamStore.table) (set_name, row_id, property, content_type, length)
                    VALUES (?, ?, ?, ?, ?)
                    """, arguments: [owner.set, owner.rowID, owner.property, contentType, bytes.count])
            try StreamChunks.write(bytes, of: database.lastInsertedRowID, in: database)
        }
    }

    // MARK: Reading

    /// Returns the description of an owner's stream; `nil` if the owner has none.
    func info(_ owner: Owner, in database: Database) throws -> StreamInfo? {
        try Row.fetchOne(
            database.cachedStatement(
                sql: """
                    SELECT id, content_type, length FROM \(Self.table)
                    WHERE set_name = ? AND row_id = ? AND property = ?
                    """), arguments: [owner.set, owner.rowID, owner.property]
        ).map { StreamInfo(id: $0[0], contentType: $0[1], length: $0[2]) }
    }

    /// Returns whether any row of a set has a stream.
    static func hasAny(_ set: String, in database: Database) throws -> Bool {
        try Bool.fetchOne(
            database.cachedStatement(sql: "SELECT EXISTS (SELECT 1 FROM \(table) WHERE set_name = ?)"),
            arguments: [set]) ?? false
    }

    /// Returns all bytes of a stream, read in one transaction.
    ///
    /// - Throws: ``ODataError`` 413 for a stream larger than ``ServingOptions/valueSizeLimit``.
    func whole(_ stream: StreamInfo, in database: Database) throws -> [UInt8] {
        guard stream.length <= options.valueSizeLimit else {
            throw ODataError(
                status: 413, code: "StreamTooLarge",
                message: "A stream of \(stream.length) bytes does not fit within an entity; read it by its URL.",
                target: "$expand")
        }
        return try StreamChunks.whole(stream.id, in: database)
    }

    /// Returns the bytes of a stream, read from the store on demand and from any position.
    func bytes(of stream: StreamInfo) -> ByteStream {
        StreamChunks { try await database.read($0) }.bytes(of: stream.id, length: stream.length)
    }
}

extension TableStorage {
    /// Returns whether rows of the table can have streams: of media entities or of stream properties.
    func hasStreams(in model: EntityDataModel) -> Bool {
        ([shape] + TableLayout.derivedShapes(of: shape, model: model)).contains {
            $0.hasStream || !$0.streamProperties.isEmpty
        }
    }
}
