import Foundation
import GRDB
import GRDBSQLite
import ODataSQL

/// The connections to a database that is not ours: one that writes and a few that only read, each opened by
/// itself in the journal mode found, never by a pool that would convert the file to a write-ahead log.
final class ForeignConnections: Sendable {
    /// The file.
    let path: String
    /// The connection that writes, with foreign keys enforced; it only reads where the file allows no more.
    let writer: DatabaseQueue
    /// The connections that read.
    let readers: [DatabaseQueue]
    /// Whether the database uses a write-ahead log.
    let isWAL: Bool
    /// Whether the file may not be written.
    let isReadOnly: Bool

    /// Opens a database.
    ///
    /// - Parameters:
    ///   - path: the file, which must be there.
    ///   - isReadOnly: whether nothing is to be written, though it might.
    ///   - busyTimeout: how long a lock of another program is waited for, in seconds.
    ///   - prepare: readies each connection: functions.
    /// - Throws: ``ForeignDatabaseError``.
    init(
        path: String, isReadOnly: Bool, readerCount: Int, busyTimeout: TimeInterval,
        prepare: @escaping @Sendable (Database) throws -> Void
    ) throws {
        self.path = path
        // SQLite would make a file that is missing.
        var isDirectory: ObjCBool = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory) else {
            throw ForeignDatabaseError.notFound(path: path)
        }
        guard !isDirectory.boolValue else { throw ForeignDatabaseError.notADatabase(path: path) }
        try Self.checkBeginning(path)
        func configuration(readonly: Bool) -> Configuration {
            var configuration = Configuration()
            configuration.readonly = readonly
            // The constraints that the database declares are enforced; only an offline store's are not.
            configuration.foreignKeysEnabled = true
            configuration.busyMode = .timeout(busyTimeout)
            configuration.label = "outpost.foreign"
            configuration.prepareDatabase(prepare)
            return configuration
        }
        do {
            let writer = try DatabaseQueue(path: path, configuration: configuration(readonly: isReadOnly))
            // The first read of a page is where a file that is no database shows.
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

    /// Looks at how the file begins before it is opened together with the log beside it.
    ///
    /// SQLite takes the log of a file that it cannot read for an old one and deletes it: opening an encrypted
    /// database without its key, a clone's among them, would destroy all that is only in its log. An immutable
    /// file's log is left alone. SQLite does the reading, since closing a file by other means would drop the locks
    /// that this process may hold on it.
    /// - Throws: ``ForeignDatabaseError``; everything but the beginning is left to the opening itself.
    private static func checkBeginning(_ path: String) throws(ForeignDatabaseError) {
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
