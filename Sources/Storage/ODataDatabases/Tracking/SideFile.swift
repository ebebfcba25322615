import Foundation
import GRDB
import ODataStore
import SafeFiles
import Synchronization

/// The file beside a foreign database that keeps what the database has no place for: the versions of its rows,
/// the requests that were answered, and what was about to be committed. `NAME.db-outpost` for
/// `NAME.db`; without it everything starts anew, and delta links that are out are refused with 410.
///
/// With a rollback journal the file is attached to the connection that writes, so that both commit together.
/// With a write-ahead log SQLite does not commit two files together; then the file has a connection of its own.
/// Another program may turn to a log while the database is served, which is found out within each transaction
/// (``isOutdated(in:)``).
final class SideFile: Sendable {
    /// What `PRAGMA application_id` holds: `OUTS`.
    static let applicationID = 0x4F55_5453
    /// The version of the layout, in `PRAGMA user_version`.
    static let format = 1
    /// The name under which the file is attached.
    static let schemaName = "outpost_side"

    /// The file.
    let path: String
    private let busyTimeout: TimeInterval
    private let connection: Mutex<DatabaseQueue?>

    /// The file's own connection; `nil` when it is attached.
    var queue: DatabaseQueue? { connection.withLock { $0 } }

    /// Opens the file, or makes it.
    ///
    /// - Parameters:
    ///   - path: the file.
    ///   - main: the connections to the database beside it.
    /// - Throws: ``ForeignDatabaseError/sideFile(path:message:)``.
    init(path: String, main: ForeignConnections, busyTimeout: TimeInterval) throws {
        self.path = path
        self.busyTimeout = busyTimeout
        do {
            try Self.make(path, like: main.path)
            let queue = try Self.open(path, busyTimeout)
            try queue.write { try Self.create(in: $0, path: path) }
            if main.isWAL || main.isReadOnly {
                connection = Mutex(queue)
            } else {
                try queue.close()
                connection = Mutex(nil)
                try main.writer.writeWithoutTransaction {
                    try $0.execute(sql: "ATTACH DATABASE ? AS \(Self.schemaName)", arguments: [path])
                }
            }
        } catch let error as DatabaseError {
            throw ForeignDatabaseError.sideFile(
                path: path, message: "cannot be used: \(error.message ?? "SQLite gave no reason")")
        }
    }

    /// Makes an empty file, if there is none, that those can read and write who can the database: it holds keys of its rows.
    ///
    /// SQLite would follow a link. A file that is there is therefore looked at first.
    ///
    /// - Throws: ``ForeignDatabaseError/sideFile(path:message:)`` for a link, and for anything but a regular file.
    private static func make(_ path: String, like main: String) throws(ForeignDatabaseError) {
        var status = stat()
        if lstat(path, &status) == 0 {
            guard status.st_mode & S_IFMT == S_IFREG, status.st_nlink == 1 else {
                let reason: SafeFileError.Reason =
                    switch status.st_mode & S_IFMT {
                    case S_IFLNK: .link
                    case S_IFREG: .severalNames
                    default: .notRegular
                    }
                throw .sideFile(
                    path: path,
                    message: "cannot be used: \(SafeFileError(path: path, reason: reason).explanation)")
            }
            return
        }
        guard let mode = try? FileManager.default.attributesOfItem(atPath: main)[.posixPermissions] as? NSNumber else {
            return
        }
        // A database that is only read has one that is written all the same.
        let mask = mode_t(truncatingIfNeeded: mode.intValue) & 0o777 | 0o600
        // Nobody has a file open that comes into being here, so that closing it drops nobody's locks.
        let descriptor = Foundation.open(path, O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW | O_CLOEXEC, mask)
        guard descriptor >= 0 else { return }
        // Whatever the process leaves out of the modes of its files.
        fchmod(descriptor, mask)
        Foundation.close(descriptor)
    }

    private static func open(_ path: String, _ busyTimeout: TimeInterval) throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.busyMode = .timeout(busyTimeout)
        configuration.label = "outpost.side"
        return try DatabaseQueue(path: path, configuration: configuration)
    }

    /// Whether the file is attached to a database that has come to use a write-ahead log since.
    ///
    /// - Parameter main: the connection that writes, inside a transaction that has the lock for writing: nobody changes the
    ///   journal mode then.
    func isOutdated(in main: Database) throws -> Bool {
        guard queue == nil else { return false }
        let mode: String? = try main.pragma(.journalMode, of: "main")
        return mode?.lowercased() == "wal"
    }

    /// Gives the file a connection of its own, where it is attached.
    ///
    /// - Parameter main: the connection that writes, outside of a transaction.
    func detach(from main: Database) throws {
        guard queue == nil else { return }
        let own = try Self.open(path, busyTimeout)
        try main.execute(sql: "DETACH DATABASE \(Self.schemaName)")
        connection.withLock { $0 = own }
    }

    private static func create(in database: Database, path: String) throws {
        let application: Int = try database.pragma(.applicationID) ?? 0
        let version: Int = try database.pragma(.userVersion) ?? 0
        if application == applicationID {
            guard version == format else {
                throw ForeignDatabaseError.sideFile(
                    path: path, message: "has layout version \(version), not \(format)")
            }
            try database.execute(sql: RowLinks.statements)
            return
        }
        guard application == 0, try Int.fetchOne(database, sql: "SELECT COUNT(*) FROM sqlite_master") == 0 else {
            throw ForeignDatabaseError.sideFile(path: path, message: "is another program's database")
        }
        try database.execute(
            sql: """
                CREATE TABLE meta (name TEXT PRIMARY KEY, value) WITHOUT ROWID;
                CREATE TABLE watched (
                  id INTEGER PRIMARY KEY, set_name TEXT NOT NULL UNIQUE, definition TEXT NOT NULL,
                  horizon INTEGER NOT NULL
                );
                CREATE TABLE row_version (
                  watched INTEGER NOT NULL, key BLOB NOT NULL, digest BLOB, version INTEGER NOT NULL,
                  removed_at INTEGER, PRIMARY KEY (watched, key)
                ) WITHOUT ROWID;
                CREATE INDEX row_version_by_version ON row_version (watched, version);
                CREATE INDEX row_version_removed ON row_version (removed_at) WHERE removed_at IS NOT NULL;
                \(RememberedRequests.statements(table: "request").map { "\($0);\n" }.joined())
                CREATE TABLE intent (id INTEGER PRIMARY KEY AUTOINCREMENT, content TEXT NOT NULL);
                \(RowLinks.statements)
                """)
        try database.mark(applicationID: applicationID, version: format)
        let instance = String(UInt64.random(in: .min ... .max), radix: 36)
        try database.execute(
            sql: "INSERT INTO meta VALUES ('instance', ?), ('version', 1)", arguments: [instance])
    }

    /// Works on the file: in the transaction of `main` where it is attached, else in one of its own that is
    /// committed when the call returns.
    func use<Value>(in main: Database, _ body: (SideTables) throws -> Value) throws -> Value {
        guard let queue else { return try body(SideTables(database: main, schema: Self.schemaName)) }
        return try queue.write { try body(SideTables(database: $0, schema: "main")) }
    }

    /// Closes the file's own connection.
    func close() throws { try queue?.close() }
}

/// The tables of a ``SideFile``, wherever it is attached.
extension SideTables {
    /// A value by name.
    func meta<Value: DatabaseValueConvertible>(_ name: String) throws -> Value? {
        try Value.fetchOne(
            database.cachedStatement(sql: "SELECT value FROM \(schema).meta WHERE name = ?"), arguments: [name])
    }

    /// Sets a value; `nil` takes it away.
    func setMeta(_ name: String, _ value: (any DatabaseValueConvertible)?) throws {
        try database.cachedStatement(sql: "INSERT OR REPLACE INTO \(schema).meta VALUES (?, ?)").execute(
            arguments: [name, value])
    }

    /// What tells this file from one that stood here before.
    func instance() throws -> String { try meta("instance") ?? "" }

    /// The number of the last change.
    func version() throws -> Int64 { try meta("version") ?? 1 }

    /// A set whose rows have versions.
    struct Watched {
        var id: Int64
        var set: String
        var definition: String
        /// Delta links older than this version are refused: what was removed before is forgotten.
        var horizon: Int64
    }

    /// The sets whose rows have versions.
    func watched() throws -> [Watched] {
        try Row.fetchAll(database, sql: "SELECT * FROM \(schema).watched ORDER BY id").map {
            Watched(id: $0["id"], set: $0["set_name"], definition: $0["definition"], horizon: $0["horizon"])
        }
    }
}
