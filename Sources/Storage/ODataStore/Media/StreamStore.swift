import Foundation
import GRDB
import ODataModel
import ODataSQL
import ODataService

/// The streams of media entities and stream properties, in rows of one size each, never whole in memory.
///
/// An upload is written chunk by chunk in transactions of its own and belongs to nothing until the entity does; a
/// stream that is replaced or whose entity goes stays for those who are reading it, and is removed later.
struct StreamStore: Sendable {
    /// How long a stream that belongs to nothing any more can still be read, in seconds.
    static let graceTime: Int64 = 600
    private static let table = "outpost_stream"
    private static let chunks = StreamChunks.table

    let database: any DatabaseWriter
    let options: StoreService.Options

    /// The entity, and the property where it is not the entity's own stream.
    struct Owner: Hashable, Sendable {
        var set: String
        var rowID: Int64
        /// Empty for the stream of a media entity.
        var property = ""
    }

    /// The statements that make the tables.
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

    /// Takes every stream away from its owner.
    static func supersedeAll(in database: Database) throws {
        try database.execute(
            sql: """
                UPDATE \(table) SET set_name = NULL, row_id = NULL, superseded = \(ServiceSchema.nowFunction)()
                WHERE set_name IS NOT NULL
                """)
    }

    // MARK: Writing

    /// Takes a stream in, as fast as it comes and as slow as it must.
    ///
    /// - Returns: the stream, which belongs to nothing yet.
    /// - Throws: ``ODataError`` 413 beyond the limit, and what the producer throws; nothing is left then.
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

    /// Gives an uploaded stream to its owner, in the transaction that changes the entity; the one before goes.
    func attach(_ stream: StreamInfo, to owner: Owner, in database: Database) throws {
        try detach(owner, in: database)
        try database.execute(
            sql: "UPDATE \(Self.table) SET set_name = ?, row_id = ?, property = ?, length = ? WHERE id = ?",
            arguments: [owner.set, owner.rowID, owner.property, stream.length, stream.id])
    }

    /// Takes an owner's stream away.
    ///
    /// - Returns: whether there was one.
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

    /// Removes an upload that came to nothing.
    func discard(_ id: Int64) async throws {
        try await database.write { database in
            try database.execute(
                sql: "DELETE FROM \(Self.table) WHERE id = ? AND set_name IS NULL", arguments: [id])
        }
    }

    /// Removes what belongs to nothing when the service is opened: nobody is reading or uploading it.
    func removeLeftovers() async throws {
        try await database.write { database in
            try database.execute(sql: "DELETE FROM \(Self.table) WHERE set_name IS NULL")
        }
    }

    /// Puts in streams that are in memory already, within a transaction.
    struct Inserter {
        let database: Database

        /// Puts in one stream and gives it to its owner.
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

    /// What is known of an owner's stream; `nil` when it has none.
    func info(_ owner: Owner, in database: Database) throws -> StreamInfo? {
        try Row.fetchOne(
            database.cachedStatement(
                sql: """
                    SELECT id, content_type, length FROM \(Self.table)
                    WHERE set_name = ? AND row_id = ? AND property = ?
                    """), arguments: [owner.set, owner.rowID, owner.property]
        ).map { StreamInfo(id: $0[0], contentType: $0[1], length: $0[2]) }
    }

    /// Whether any row of a set has a stream.
    static func hasAny(_ set: String, in database: Database) throws -> Bool {
        try Bool.fetchOne(
            database.cachedStatement(sql: "SELECT EXISTS (SELECT 1 FROM \(table) WHERE set_name = ?)"),
            arguments: [set]) ?? false
    }

    /// All bytes at once, in the transaction of a read.
    ///
    /// - Throws: ``ODataError`` 413 for a stream beyond the limit of values.
    func whole(_ stream: StreamInfo, in database: Database) throws -> [UInt8] {
        guard stream.length <= options.valueSizeLimit else {
            throw ODataError(
                status: 413, code: "StreamTooLarge",
                message: "A stream of \(stream.length) bytes does not fit within an entity; read it by its URL.",
                target: "$expand")
        }
        return try StreamChunks.whole(stream.id, in: database)
    }

    /// The bytes, read from the store only as fast as they are asked for, from any place on.
    func bytes(of stream: StreamInfo) -> ByteStream {
        StreamChunks { try await database.read($0) }.bytes(of: stream.id, length: stream.length)
    }
}

extension TableStorage {
    /// Whether rows have streams: those of media entities and of stream properties.
    func hasStreams(in model: EntityDataModel) -> Bool {
        ([shape] + TableLayout.derivedShapes(of: shape, model: model)).contains {
            $0.hasStream || !$0.streamProperties.isEmpty
        }
    }
}
