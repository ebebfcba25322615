import Foundation
import GRDB
import GRDBSQLite
import ODataSQL

/// The connections to a served database: one writer and several readers. Each is opened separately in the
/// existing journal mode, because a `DatabasePool` would convert the file to a write-ahead log.
final class ForeignConnections: Sendable {
    let path: String
    /// The writing connection, with foreign keys enforced. If the file is read-only, the connection only reads.
    let writer: DatabaseQueue
    /// The reading connections.
    let readers: [DatabaseQueue]
    let isWAL: Bool
    /// Whether the database is served read-only.
    let isReadOnly: Bool

    /// Opens a database.
    ///
    /// - Parameters:
    ///   - path: the file, which must exist.
    ///   - isReadOnly: whether the database is served read-only even if the file is writable.
    ///   - busyTimeout: the time to wait for a lock of another program, in seconds.
    ///   - prepare: a closure that registers functions with each connection.
    /// - Throws: ``ForeignDatabaseError``.
    init(
        path: String, isReadOnly: Bool, readerCount: Int, busyTimeout: TimeInterval,
        prepare: @escaping @Sendable (Database) throws -> Void
    ) throws {
        self.path = path
        // SQLite would create a missing file.
        var isDirectory: ObjCBool = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory) else {
            throw ForeignDatabaseError.notFound(path: path)
        }
        guard !isDirectory.boolValue else { throw ForeignDatabaseError.notADatabase(path: path) }
        try Self.checkBeginning(path)
        func configuration(readonly: Bool) -> Configuration {
            var configuration = Configuration()
            configuration.readonly = readonly
            // The constraints of the database are enforced, unlike those of an offline store.
            configuration.foreignKeysEnabled = true
            configuration.busyMode = .timeout(busyTimeout)
            configuration.label = "outpost.foreign"
            configuration.prepareDatabase(prepare)
            return configuration
        }
        do {
            let writer = try DatabaseQueue(path: path, configuration: configuration(readonly: isReadOnly))
            // SQLite only detects other file formats when it reads the first page.
            let (journal, readonly) = try writer.read { database in
                _ = try Int.fetchOne(database, sql: "SELECT COUNT(*) FROM sqlite_master")
                let journal: String = try database.pragma(.journalMode, of: "main") ?? ""
                return (journal, try database.isMainReadOnly())
            }
            self.writer = writer
            isWAL = journal.lowercased() == "wal"
            self.isReadOnly = isReadOnly || readonly
            readers = try (0..<max(1, readerCount)).map { _ in
                try DatabaseQueue(path: path, configuration: configuration(readonly: true))
            }
        } catch let error as DatabaseError {
            throw ForeignDatabaseError(error, path: path)
        }
    }

    /// Checks the first page of the file before the file is opened with its write-ahead log.
    ///
    /// If SQLite cannot read the file, it deletes the log as outdated. An encrypted database that is opened
    /// without its key, such as an offline store, would lose all changes in its log. SQLite ignores the log of
    /// an immutable file. The check uses SQLite, because closing the file by other means would release the
    /// locks of this process.
    ///
    /// - Throws: ``ForeignDatabaseError`` if the file is not a database. Other errors appear when the file is
    ///   opened.
    static func checkBeginning(_ path: String) throws(ForeignDatabaseError) {
        let allowed = CharacterSet.urlPathAllowed.subtracting(CharacterSet(charactersIn: "?#;"))
        let absolute = URL(fileURLWithPath: path).path
        guard let name = absolute.addingPercentEncoding(withAllowedCharacters: allowed) else { return }
        var connection: OpaquePointer?
        defer { sqlite3_close_v2(connection) }
        let flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_URI
        guard sqlite3_open_v2("file:\(name)?immutable=1", &connection, flags, nil) == SQLITE_OK,
            sqlite3_exec(connection, "SELECT COUNT(*) FROM sqlite_master", nil, nil, nil) == SQLITE_NOTADB
        else { return }
        throw ForeignDatabaseError(DatabaseError(resultCode: .SQLITE_NOTADB), path: path)
    }

    /// Closes all connections.
    func close() throws {
        for reader in readers { try reader.close() }
        try writer.close()
    }
}
