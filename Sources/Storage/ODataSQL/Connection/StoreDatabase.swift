import EncryptedSQLite
import Foundation
import GRDB
import GRDBSQLite
import Synchronization

/// The connections to one offline store: a writer and two readers on a file in write-ahead mode.
///
/// ``open(path:protection:options:)`` is the only way by which a connection to a store is made, so that no
/// path of the program can create a plain file by mistake.
///
/// ```swift
/// let store = try StoreDatabase.open(path: path, protection: .encrypted(.key(key)))
/// let version = try await store.read { try Int.fetchOne($0, sql: "PRAGMA user_version") }
/// ```
public final class StoreDatabase: Sendable {
    /// Sizes and times; the defaults are those that the benchmarks and the documentation state.
    public struct Options: Sendable {
        /// The writer's page cache in bytes.
        public var writerCacheBytes = 16 << 20
        /// The page cache of each reader in bytes.
        public var readerCacheBytes = 8 << 20
        /// How many connections read at the same time.
        public var readerCount = 2
        /// How long a statement waits for a lock held by another process, in seconds.
        public var busyTimeout: TimeInterval = 5
        /// Whether a missing file is made.
        public var createsFile = true
        /// Prepares each connection further, the writer and the readers alike: functions that are the
        /// caller's own.
        public var prepare: (@Sendable (Database) throws -> Void)?

        /// Makes options with the defaults.
        public init() {}
    }

    /// Pages in the write-ahead log before SQLite moves them into the database: 16 MB of pages, so that a
    /// log which one long reader keeps growing, or one big transaction, has room below ``logLimit``.
    static let checkpointPages = 4096
    /// The write-ahead log is cut to this many bytes after a checkpoint.
    static let logLimit = 64 << 20

    /// The file.
    public let path: String
    /// GRDB's pool, for what stands above: observation, and the reader of queries.
    public let pool: DatabasePool

    /// The name by which SQLite opens the file: where it is encrypted, the file system that does so stands in it.
    private let location: String
    private let condition: Mutex<Condition?>
    /// The lock on a database that is only read, since there was no room for what SQLite writes to read it.
    private let quietLock: QuietLock?

    /// Whether the store is open for reading alone, since the device was full when it was opened.
    package var isQuiet: Bool { quietLock != nil }

    /// What each transaction begins with. A closure that lay in a `Mutex` by itself would be wrapped once more whenever it is
    /// read, so that each transaction took longer than the one before.
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

    /// Opens a store, or makes an empty file.
    ///
    /// An encrypted store on a full device is opened for reading alone: nothing is written, every change ends with
    /// ``StoreError/openedOnFullDevice``, and other processes find it locked, until it is closed. Close it and open it again once
    /// the device has room.
    ///
    /// - Parameters:
    ///   - path: the file.
    ///   - protection: how the file is protected; a plain file has to be asked for by name.
    ///   - options: sizes and times.
    /// - Throws: ``StoreError``; ``StoreError/corrupt(message:)`` where the file was cut beside its log: both are left as they
    ///   are. Of an unencrypted file, that is known only where nothing is left of it.
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

    /// Opens a store that is unlocked for reading alone, without writing anything.
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
        // Orders may come without their customers: constraints are never enforced here.
        configuration.foreignKeysEnabled = false
        configuration.maximumReaderCount = max(1, options.readerCount)
        configuration.busyMode = .timeout(options.busyTimeout)
        configuration.label = "outpost.store"
        configuration.prepareDatabase { database in
            try Self.prepare(in: database, options: options)
        }
        do {
            // A journal that is played back makes the file as long as it was.
            let looks = hasLog && protection.isEncrypted && size(path + "-journal") == 0
            let inspection =
                looks
                ? try LogInspection(path: path, location: access.location, busyTimeout: options.busyTimeout) : nil
            defer { inspection?.close() }
            let pool = try DatabasePool(path: access.location, configuration: configuration)
            // GRDB sets NORMAL when it turns the log on, after it has prepared the connection.
            try pool.writeWithoutTransaction { try $0.setPragma(.synchronous, "FULL") }
            // The first statement that reads a page is where a wrong key shows.
            _ = try pool.read { try Int.fetchOne($0, sql: "SELECT COUNT(*) FROM sqlite_master") }
            // Between looking at the file and locking it, it may have been replaced by what was saved of it: the log at this
            // path is that one's, and must not be moved into the old file.
            guard try pool.writeWithoutTransaction({ try !Self.hasMoved(in: $0) }) else { throw StoreError.locked }
            // Whoever left a log behind may have done so since a sync had failed: what the system dropped then is a hole that
            // nobody sees until the power fails, and that must not take with it what is committed from now on.
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

    /// Whether another file stands where the one was opened.
    private static func hasMoved(in database: Database) throws -> Bool {
        var hasMoved: Int32 = 0
        let code = sqlite3_file_control(database.sqliteConnection, "main", SQLITE_FCNTL_HAS_MOVED, &hasMoved)
        return code == SQLITE_OK && hasMoved != 0
    }

    /// The bytes of a file; 0 where there is none.
    private static func size(_ path: String) -> Int64 {
        let attributes = try? FileManager.default.attributesOfItem(atPath: path)
        return (attributes?[.size] as? NSNumber)?.int64Value ?? 0
    }

    /// What is wrong with a database that has no page left, but a log: SQLite deletes that as soon as it opens the database.
    ///
    /// - Returns: `nil` for a file with pages, and where there is no log.
    package static func damageOfCutFile(_ path: String, isEncrypted: Bool) -> String? {
        // The key block takes as much room as a page.
        let isCut = size(path) <= (isEncrypted ? Int64(EncryptedDatabase.pageSize) : 0) && size(path + "-wal") > 0
        return isCut ? "the file was cut to nothing; its log is there" : nil
    }

    /// A connection that reads several open stores at once, each under its own key.
    ///
    /// - Parameters:
    ///   - stores: the stores by name; the tables of each are under ``attachedName(_:)``.
    ///   - views: statements that make temporary views.
    ///   - options: sizes and times; the cache is a reader's.
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
            // Every store is attached alike, to a database that holds nothing.
            return try DatabaseQueue(configuration: configuration)
        } catch let error as DatabaseError {
            throw StoreError(error, path: stores.first?.database.path ?? "")
        } catch {
            throw .database(code: 1, message: "\(error)")
        }
    }

    /// The name of an attached store in SQL.
    public static func attachedName(_ name: String) -> String { "store_\(name)" }

    private static func prepare(in database: Database, options: Options) throws {
        let isReader = database.configuration.readonly
        let cache = isReader ? options.readerCacheBytes : options.writerCacheBytes
        // A negative cache_size is in KiB. Temporary tables stay in memory: a temporary file would be plain.
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

    /// The same connections, with a condition that each transaction of ``read(_:)``, ``write(_:)`` and ``bulkWrite(_:)`` by
    /// them begins with: what it throws, the call throws. Who has the connections otherwise hears nothing of it.
    package func requiring(_ condition: @escaping @Sendable (Database) throws -> Void) -> StoreDatabase {
        StoreDatabase(path: path, location: location, pool: pool, quietLock: quietLock, condition: condition)
    }

    /// Has each transaction begin with another condition, in place of the one before it (``requiring(_:)``).
    package func require(_ condition: @escaping @Sendable (Database) throws -> Void) {
        self.condition.withLock { $0 = Condition(check: condition) }
    }

    /// What a transaction does, behind the condition that there is.
    private func checked<Value: Sendable>(
        _ body: @escaping @Sendable (Database) throws -> Value
    ) -> @Sendable (Database) throws -> Value {
        guard let condition = condition.withLock({ $0 }) else { return body }
        return { database in
            try condition.check(database)
            return try body(database)
        }
    }

    /// Reads on one of the reading connections; the reads of one call see one state of the database.
    ///
    /// - Throws: ``StoreError``, and what `body` throws.
    public func read<Value: Sendable>(_ body: @escaping @Sendable (Database) throws -> Value) async throws -> Value {
        let body = checked(body)
        return try await StoreError.translating(path: path) { try await pool.read(body) }
    }

    /// Writes in one transaction that is on the device when the call returns (`synchronous=FULL`).
    ///
    /// - Throws: ``StoreError``, and what `body` throws; the transaction is rolled back then.
    public func write<Value: Sendable>(_ body: @escaping @Sendable (Database) throws -> Value) async throws -> Value {
        guard quietLock == nil else { throw StoreError.openedOnFullDevice }
        let body = checked(body)
        return try await StoreError.translating(path: path) { try await pool.write(body) }
    }

    /// Writes in one transaction that a loss of power may undo as a whole (`synchronous=NORMAL`): for
    /// bulk download only, whose pages can be fetched again.
    ///
    /// - Throws: ``StoreError``, and what `body` throws; the transaction is rolled back then.
    public func bulkWrite<Value: Sendable>(
        _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws -> Value {
        guard quietLock == nil else { throw StoreError.openedOnFullDevice }
        let body = checked(body)
        return try await StoreError.translating(path: path) {
            try await pool.writeWithoutTransaction { database in
                try database.setPragma(.synchronous, "NORMAL")
                let outcome = Result { try Self.inTransaction(in: database, body) }
                // Back to FULL whatever happened: the next transaction may hold the queue. Not through GRDB, which
                // runs no statement once the task is cancelled.
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
        guard let value else { throw StoreError.database(code: 1, message: "The transaction gave no result") }
        return value
    }

    /// Closes all connections; the log is moved into the database where no other process has it open.
    ///
    /// - Throws: ``StoreError/locked`` while a statement is still running.
    public func close() throws {
        // SQLite moves the log when the last connection closes, but only one that may write. GRDB closes the writer
        // first, so the readers go before it: else everything stays in the log, and whoever copies the database
        // alone copies an empty store.
        pool.invalidateReadOnlyConnections()
        try StoreError.translating(path: path) { try pool.close() }
        quietLock?.release()
    }
}
