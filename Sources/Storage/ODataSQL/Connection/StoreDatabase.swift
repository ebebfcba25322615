import EncryptedSQLite
import Foundation
import GRDB
import GRDBSQLite
import Synchronization

/// The connections to an offline store: a writer and two readers of a file in WAL mode.
///
/// Only ``open(path:protection:options:)`` creates connections to a store, so that no plain file is created by
/// mistake.
///
/// ```swift
/// let store = try StoreDatabase.open(path: path, protection: .encrypted(.key(key)))
/// let version = try await store.read { try Int.fetchOne($0, sql: "PRAGMA user_version") }
/// ```
public final class StoreDatabase: Sendable {
    /// Sizes and times of the connections. Benchmarks and documentation refer to the default values.
    public struct Options: Sendable {
        /// The size of the writer's page cache in bytes.
        public var writerCacheBytes = 16 << 20
        /// The size of each reader's page cache in bytes.
        public var readerCacheBytes = 8 << 20
        /// The number of concurrent readers.
        public var readerCount = 2
        /// The time in seconds for which a statement waits for a lock of another process.
        public var busyTimeout: TimeInterval = 5
        /// Whether a missing file is created.
        public var createsFile = true
        /// A closure that prepares every connection, for example by registering SQL functions of the caller.
        public var prepare: (@Sendable (Database) throws -> Void)?

        /// Creates options with the default values.
        public init() {}
    }

    /// The number of pages in the write-ahead log at which SQLite moves them into the database, 16 MB in total.
    ///
    /// The size stays well below ``logLimit``, so that a long read or a large transaction can make the log grow.
    static let checkpointPages = 4096
    /// The size in bytes to which the write-ahead log is truncated after a checkpoint.
    static let logLimit = 64 << 20

    /// The path of the file.
    public let path: String
    /// The pool of GRDB, for observation and the reader of queries.
    public let pool: DatabasePool

    /// The name by which SQLite opens the file. For an encrypted file, the name selects the encrypting file system.
    private let location: String
    private let condition: Mutex<Condition?>
    /// The lock of a database that is open for reading only, because the device has no space for SQLite's log
    /// index.
    private let quietLock: QuietLock?

    /// Whether the store is open for reading only, because the device was full when it was opened.
    package var isQuiet: Bool { quietLock != nil }

    /// The check at the start of each transaction.
    ///
    /// The struct is necessary. A `Mutex` would wrap a bare closure once more on every access, so that each
    /// transaction would be slower than the previous one.
    private struct Condition {
        let check: @Sendable (Database) throws -> Void
    }

    private init(
        path: String, location: String, pool: DatabasePool, quietLock: QuietLock? = nil,
        condition: (@Sendable (Database) throws -> Void)? = nil
    ) {
        self.quietLock = quietLock
        self.location = location
        self.path = path
        self.pool = pool
        self.condition = Mutex(condition.map { Condition(check: $0) })
    }

    /// Opens a store, or creates an empty file.
    ///
    /// An encrypted store on a full device is opened for reading only. Until it is closed, every change throws
    /// ``StoreError/openedOnFullDevice``, and the store is locked for other processes. Close it and open it again
    /// when the device has space.
    ///
    /// - Parameters:
    ///   - path: the path of the file.
    ///   - protection: the protection of the file; unencrypted files must be requested explicitly.
    ///   - options: sizes and times.
    /// - Throws: ``StoreError``; ``StoreError/corrupt(message:)`` if the file was truncated but its log exists.
    ///   Both files remain unchanged. For unencrypted files, only an empty file is detected as truncated.
    public static func open(
        path: String, protection: StoreProtection, options: Options = Options()
    ) throws(StoreError) -> StoreDatabase {
        do {
            return try openForWriting(path: path, protection: protection, options: options)
        } catch {
            guard QuietLock.mayHelp(error, path: path), protection.isEncrypted,
                let database = try? openQuietly(path: path, options: options)
            else { throw error }
            return database
        }
    }

    /// Opens an unlocked store for reading only, without writing anything.
    private static func openQuietly(path: String, options: Options) throws -> StoreDatabase {
        let quietLock = try QuietLock(path: path)
        var configuration = Configuration()
        configuration.readonly = true
        configuration.foreignKeysEnabled = false
        configuration.maximumReaderCount = max(1, options.readerCount)
        configuration.label = "outpost.store"
        configuration.prepareDatabase { database in
            try Self.prepare(in: database, options: options)
        }
        let location = EncryptedDatabase.quietURI(forPath: path)
        let pool = try DatabasePool(path: location, configuration: configuration)
        _ = try pool.read { try Int.fetchOne($0, sql: "SELECT COUNT(*) FROM sqlite_master") }
        return StoreDatabase(path: path, location: location, pool: pool, quietLock: quietLock)
    }

    private static func openForWriting(
        path: String, protection: StoreProtection, options: Options
    ) throws(StoreError) -> StoreDatabase {
        let exists = FileManager.default.fileExists(atPath: path)
        guard exists || options.createsFile else { throw .notFound(path: path) }
        if let damage = damageOfCutFile(path, isEncrypted: protection.isEncrypted) { throw .corrupt(message: damage) }
        let access = try protection.access(to: path, exists: exists)
        let hasLog = size(path + "-wal") > 0
        var configuration = Configuration()
        // Orders may be downloaded without their customers, so that foreign keys are not enforced.
        configuration.foreignKeysEnabled = false
        configuration.maximumReaderCount = max(1, options.readerCount)
        configuration.busyMode = .timeout(options.busyTimeout)
        configuration.label = "outpost.store"
        configuration.prepareDatabase { database in
            try Self.prepare(in: database, options: options)
        }
        do {
            // Rolling back a journal restores the length of the file.
            let looks = hasLog && protection.isEncrypted && size(path + "-journal") == 0
            let inspection =
                looks
                ? try LogInspection(path: path, location: access.location, busyTimeout: options.busyTimeout) : nil
            defer { inspection?.close() }
            let pool = try DatabasePool(path: access.location, configuration: configuration)
            // GRDB sets NORMAL when it enables WAL mode, after it has prepared the connection.
            try pool.writeWithoutTransaction { try $0.setPragma(.synchronous, "FULL") }
            // A wrong key is detected when the first page is read.
            _ = try pool.read { try Int.fetchOne($0, sql: "SELECT COUNT(*) FROM sqlite_master") }
            // Between the check and the lock, a salvaged database may have replaced the file. The log at this path
            // then belongs to the new file and must not be moved into the old one.
            guard try pool.writeWithoutTransaction({ try !Self.hasMoved(in: $0) }) else { throw StoreError.locked }
            // The log may come from a process whose sync failed. The system may have discarded some of its pages,
            // which shows only after a power failure. Without this checkpoint, later commits would then be lost
            // together with these pages.
            if hasLog { _ = try? pool.writeWithoutTransaction { try $0.checkpoint(.passive) } }
            return StoreDatabase(path: path, location: access.location, pool: pool)
        } catch let error as StoreError {
            throw error
        } catch let error as DatabaseError {
            throw access.openingError(error)
        } catch {
            throw .database(code: 1, message: "\(error)")
        }
    }

    /// Returns whether another file has replaced the open file.
    private static func hasMoved(in database: Database) throws -> Bool {
        var hasMoved: Int32 = 0
        let code = sqlite3_file_control(database.sqliteConnection, "main", SQLITE_FCNTL_HAS_MOVED, &hasMoved)
        return code == SQLITE_OK && hasMoved != 0
    }

    /// Returns the size of a file in bytes; 0 if it does not exist.
    private static func size(_ path: String) -> Int64 {
        let attributes = try? FileManager.default.attributesOfItem(atPath: path)
        return (attributes?[.size] as? NSNumber)?.int64Value ?? 0
    }

    /// Returns the damage of a database that has no pages although its log exists. SQLite would delete the log when
    /// it opens the database.
    ///
    /// - Returns: `nil` if the file has pages or there is no log.
    package static func damageOfCutFile(_ path: String, isEncrypted: Bool) -> String? {
        // The key block has the size of a page.
        let isCut = size(path) <= (isEncrypted ? Int64(EncryptedDatabase.pageSize) : 0) && size(path + "-wal") > 0
        return isCut ? "the file was cut to nothing; its log is there" : nil
    }

    /// Opens one connection for reading several open stores, each with its own key.
    ///
    /// - Parameters:
    ///   - stores: the stores by name; ``attachedName(_:)`` is the schema of each store's tables.
    ///   - views: SQL statements that create temporary views.
    ///   - options: sizes and times; the connection has the cache of a reader.
    /// - Throws: ``StoreError``.
    public static func attached(
        _ stores: [(name: String, database: StoreDatabase)], views: [String], options: Options = Options()
    ) throws(StoreError) -> DatabaseQueue {
        var configuration = Configuration()
        configuration.readonly = true
        configuration.foreignKeysEnabled = false
        configuration.busyMode = .timeout(options.busyTimeout)
        configuration.label = "outpost.attached"
        configuration.prepareDatabase { database in
            try Self.prepare(in: database, options: options)
            for (name, store) in stores {
                try database.execute(
                    sql: "ATTACH DATABASE ? AS \(attachedName(name).sqlIdentifier)", arguments: [store.location])
            }
            for view in views { try database.execute(sql: view) }
        }
        do {
            // All stores are attached in the same way to an empty database.
            return try DatabaseQueue(configuration: configuration)
        } catch let error as DatabaseError {
            throw StoreError(error, path: stores.first?.database.path ?? "")
        } catch {
            throw .database(code: 1, message: "\(error)")
        }
    }

    /// Returns the schema name of an attached store in SQL.
    public static func attachedName(_ name: String) -> String { "store_\(name)" }

    private static func prepare(in database: Database, options: Options) throws {
        let isReader = database.configuration.readonly
        let cache = isReader ? options.readerCacheBytes : options.writerCacheBytes
        // A negative `cache_size` is in KiB. Temporary tables stay in memory, because a temporary file would be
        // unencrypted.
        try database.setPragma(.cacheSize, -cache / 1024)
        try database.setPragma(.temporaryStore, "MEMORY")
        if !isReader {
            try database.setPragma(.fullSync, 1)
            try database.setPragma(.autocheckpoint, checkpointPages)
            try database.setPragma(.journalSizeLimit, logLimit)
        }
        StoreFunctions.register(in: database)
        try options.prepare?(database)
    }

    /// Returns the same connections with a check at the start of each transaction of ``read(_:)``, ``write(_:)``
    /// and ``bulkWrite(_:)``.
    ///
    /// The call throws the errors of the check. Other users of the connections are not affected.
    package func requiring(_ condition: @escaping @Sendable (Database) throws -> Void) -> StoreDatabase {
        StoreDatabase(path: path, location: location, pool: pool, quietLock: quietLock, condition: condition)
    }

    /// Replaces the check of ``requiring(_:)``.
    package func require(_ condition: @escaping @Sendable (Database) throws -> Void) {
        self.condition.withLock { $0 = Condition(check: condition) }
    }

    /// Returns the body of a transaction, preceded by the check if there is one.
    private func checked<Value: Sendable>(
        _ body: @escaping @Sendable (Database) throws -> Value
    ) -> @Sendable (Database) throws -> Value {
        guard let condition = condition.withLock({ $0 }) else { return body }
        return { database in
            try condition.check(database)
            return try body(database)
        }
    }

    /// Reads on one of the readers. All reads of one call see the same state of the database.
    ///
    /// - Throws: ``StoreError`` and the errors of `body`.
    public func read<Value: Sendable>(_ body: @escaping @Sendable (Database) throws -> Value) async throws -> Value {
        let body = checked(body)
        return try await StoreError.translating(path: path) { try await pool.read(body) }
    }

    /// Writes in one transaction, which is durable when the call returns (`synchronous=FULL`).
    ///
    /// - Throws: ``StoreError`` and the errors of `body`; the transaction is then rolled back.
    public func write<Value: Sendable>(_ body: @escaping @Sendable (Database) throws -> Value) async throws -> Value {
        guard quietLock == nil else { throw StoreError.openedOnFullDevice }
        let body = checked(body)
        return try await StoreError.translating(path: path) { try await pool.write(body) }
    }

    /// Writes in one transaction that a power failure may undo as a whole (`synchronous=NORMAL`).
    ///
    /// Use it only for downloads, whose pages can be requested again.
    ///
    /// - Throws: ``StoreError`` and the errors of `body`; the transaction is then rolled back.
    public func bulkWrite<Value: Sendable>(
        _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws -> Value {
        guard quietLock == nil else { throw StoreError.openedOnFullDevice }
        let body = checked(body)
        return try await StoreError.translating(path: path) {
            try await pool.writeWithoutTransaction { database in
                try database.setPragma(.synchronous, "NORMAL")
                let outcome = Result { try Self.inTransaction(in: database, body) }
                // FULL is restored in any case, because the next transaction may write to the queue. GRDB cannot
                // restore it, because it runs no statement after the task was cancelled.
                let statement = Pragma.synchronous.statement("FULL")
                guard sqlite3_exec(database.sqliteConnection, statement, nil, nil, nil) == SQLITE_OK else {
                    throw StoreError.database(code: 1, message: "The durability cannot be set back to FULL")
                }
                return try outcome.get()
            }
        }
    }

    private static func inTransaction<Value>(
        in database: Database, _ body: (Database) throws -> Value
    ) throws -> Value {
        var value: Value?
        try database.inTransaction(.immediate) {
            value = try body(database)
            return .commit
        }
        guard let value else { throw StoreError.database(code: 1, message: "The transaction returned no result") }
        return value
    }

    /// Closes all connections. The log is moved into the database if no other process has the database open.
    ///
    /// - Throws: ``StoreError/locked`` if a statement is still running.
    public func close() throws {
        // SQLite moves the log when the last connection closes, but only if that connection may write. GRDB closes
        // the writer first, so the readers must be closed before. Otherwise all content stays in the log, and a
        // copy of the database file alone is empty.
        pool.invalidateReadOnlyConnections()
        try StoreError.translating(path: path) { try pool.close() }
        quietLock?.release()
    }
}
