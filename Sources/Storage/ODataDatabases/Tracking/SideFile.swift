import Foundation
import GRDB
import ODataStore
import SafeFiles
import Synchronization

/// The side file of a served database: row versions, stored responses, and intents of commits. Its name is
/// `NAME.db-outpost` for `NAME.db`. If the file is deleted, tracking starts again, and existing delta links are
/// refused with 410.
///
/// With a rollback journal, the file is attached to the writing connection, so that both files commit together.
/// With a write-ahead log, SQLite cannot commit both files atomically, so the side file has its own connection.
/// Another program may switch to a write-ahead log at any time; each transaction checks the mode
/// (``isOutdated(in:)``).
final class SideFile: Sendable {
    /// The value of `PRAGMA application_id`: `OUTS`.
    static let applicationID = 0x4F55_5453
    /// The version of the layout, stored in `PRAGMA user_version`.
    static let format = 1
    /// The schema name of the attached file.
    static let schemaName = "outpost_side"

    let path: String
    private let busyTimeout: TimeInterval
    private let connection: Mutex<DatabaseQueue?>

    /// The connection of the file; `nil` if the file is attached.
    var queue: DatabaseQueue? { connection.withLock { $0 } }

    /// Opens or creates the file.
    ///
    /// - Parameters:
    ///   - path: the path of the file.
    ///   - main: the connections to the served database.
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

    /// Creates an empty file if there is none, with the permissions of the database, because the file contains
    /// keys of its rows.
    ///
    /// SQLite would follow a symbolic link, so an existing file is checked first.
    ///
    /// - Throws: ``ForeignDatabaseError/sideFile(path:message:)`` for links and anything else but a regular
    ///   file.
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
        // The side file is writable even if the database is not.
        let mask = mode_t(truncatingIfNeeded: mode.intValue) & 0o777 | 0o600
        // The file is new, so closing it cannot release locks.
        let descriptor = Foundation.open(path, O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW | O_CLOEXEC, mask)
        guard descriptor >= 0 else { return }
        // The call overrides the umask of the process.
        fchmod(descriptor, mask)
        Foundation.close(descriptor)
    }

    private static func open(_ path: String, _ busyTimeout: TimeInterval) throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.busyMode = .timeout(busyTimeout)
        configuration.label = "outpost.side"
        return try DatabaseQueue(path: path, configuration: configuration)
    }

    /// Returns whether the file is attached to a database that has switched to a write-ahead log.
    ///
    /// - Parameter main: the writing connection, inside a transaction with the write lock, so that the journal
    ///   mode cannot change.
    func isOutdated(in main: Database) throws -> Bool {
        guard queue == nil else { return false }
        let mode: String? = try main.pragma(.journalMode, of: "main")
        return mode?.lowercased() == "wal"
    }

    /// Opens a separate connection if the file is attached.
    ///
    /// - Parameter main: the writing connection, outside a transaction.
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

    /// Calls a closure with the tables of the file. If the file is attached, the closure runs in the
    /// transaction of `main`; otherwise, in its own transaction, which is committed when the method returns.
    func use<Value>(in main: Database, _ body: (SideTables) throws -> Value) throws -> Value {
        guard let queue else { return try body(SideTables(database: main, schema: Self.schemaName)) }
        return try queue.write { try body(SideTables(database: $0, schema: "main")) }
    }

    /// Closes the file's own connection.
    func close() throws { try queue?.close() }
}

/// The tables of a ``SideFile``, attached or not.
extension SideTables {
    /// Returns the value with a name.
    func meta<Value: DatabaseValueConvertible>(_ name: String) throws -> Value? {
        try Value.fetchOne(
            database.cachedStatement(sql: "SELECT value FROM \(schema).meta WHERE name = ?"), arguments: [name])
    }

    /// Sets the value with a name; `nil` clears it.
    func setMeta(_ name: String, _ value: (any DatabaseValueConvertible)?) throws {
        try database.cachedStatement(sql: "INSERT OR REPLACE INTO \(schema).meta VALUES (?, ?)").execute(
            arguments: [name, value])
    }

    /// Returns the identifier of the file, which distinguishes it from earlier files of the same name.
    func instance() throws -> String { try meta("instance") ?? "" }

    /// Returns the version of the last change.
    func version() throws -> Int64 { try meta("version") ?? 1 }

    /// A watched set.
    struct Watched {
        var id: Int64
        var set: String
        var definition: String
        /// The oldest version from which delta links are answered; removed rows before it are forgotten.
        var horizon: Int64
    }

    /// Returns the watched sets.
    func watched() throws -> [Watched] {
        try Row.fetchAll(database, sql: "SELECT * FROM \(schema).watched ORDER BY id").map {
            Watched(id: $0["id"], set: $0["set_name"], definition: $0["definition"], horizon: $0["horizon"])
        }
    }
}
