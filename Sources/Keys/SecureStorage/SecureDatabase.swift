public import DataVault
import EncryptedSQLite
import Foundation
public import GRDB
public import Secrets
import Synchronization

/// An encrypted SQLite database of an app's own, opened by a key or a passphrase.
///
/// ```swift
/// let key = try await vault.key(named: "notes")
/// let database = try SecureDatabase(path: path, key: .key(key))
/// try await database.write { try $0.execute(sql: "CREATE TABLE IF NOT EXISTS note(text TEXT)") }
/// ```
///
/// Every page is sealed, as `EncryptedSQLite` describes; what it protects against and what not is said there.
public final class SecureDatabase: Sendable {
    /// The file.
    public let path: String
    /// Nil once it was closed. Whoever works with the queue holds it, so that it outlives the closing.
    private let queue: Mutex<DatabaseQueue?>

    /// Opens a database, or makes an empty one.
    ///
    /// - Parameters:
    ///   - path: The file; its folder must exist.
    ///   - key: The key or passphrase; a passphrase costs one derivation per process.
    ///   - createsFile: Whether a missing file is made.
    /// - Throws: ``SecureStorageError``: `wrongKey`, `notFound`, `unusable`, `database`.
    public init(path: String, key: KeySource, createsFile: Bool = true) throws(SecureStorageError) {
        self.path = path
        do throws(EncryptedDatabaseError) {
            if createsFile, !FileManager.default.fileExists(atPath: path) {
                do throws(EncryptedDatabaseError) {
                    try EncryptedDatabase.create(at: path, key: key)
                } catch .alreadyExists where FileManager.default.fileExists(atPath: path) {
                    // Another process was faster.
                    try EncryptedDatabase.unlock(at: path, with: key)
                }
            } else {
                try EncryptedDatabase.unlock(at: path, with: key)
            }
        } catch {
            throw SecureStorageError(error)
        }
        var configuration = Configuration()
        configuration.busyMode = .timeout(5)
        configuration.label = "outpost.secure"
        configuration.prepareDatabase { database in
            // What an app keeps here must be there after a crash. With FULL alone, a power failure could bring a journal
            // back that was deleted, and with it undo what was committed.
            try database.execute(sql: "PRAGMA temp_store = MEMORY; PRAGMA synchronous = EXTRA; PRAGMA fullfsync = 1")
        }
        let opened = try SecureStorageError.translating {
            let queue = try DatabaseQueue(path: EncryptedDatabase.uri(forPath: path), configuration: configuration)
            try queue.read { _ = try Int.fetchOne($0, sql: "SELECT count(*) FROM sqlite_master") }
            return queue
        }
        queue = Mutex(opened)
    }

    private func connection() throws(SecureStorageError) -> DatabaseQueue {
        guard let queue = queue.withLock({ $0 }) else { throw .closed }
        return queue
    }

    /// Opens a database whose key is kept in an unlocked vault, made there when the vault has none of that name.
    ///
    /// - Parameters:
    ///   - path: The file.
    ///   - vault: An unlocked vault.
    ///   - name: The name of the key in the vault.
    /// - Returns: The database.
    /// - Throws: ``SecureStorageError``; `vault` when the vault is locked, or has something else of that name.
    public static func open(
        path: String, vault: Vault, keyName name: String
    ) async throws(SecureStorageError) -> SecureDatabase {
        let key: EncryptionKey
        do {
            key = try await vault.key(named: name)
        } catch {
            throw .vault(error)
        }
        return try SecureDatabase(path: path, key: .key(key))
    }

    /// Reads.
    ///
    /// - Parameter body: Gets a connection that must not leave it.
    /// - Returns: What `body` returns.
    /// - Throws: ``SecureStorageError``.
    public func read<Result: Sendable>(
        _ body: @escaping @Sendable (Database) throws -> Result
    ) async throws(SecureStorageError) -> Result {
        let queue = try connection()
        do {
            return try await queue.read(body)
        } catch {
            throw SecureStorageError.translated(error)
        }
    }

    /// Writes, in one transaction.
    ///
    /// - Parameter body: Gets a connection that must not leave it; when it throws, nothing is changed.
    /// - Returns: What `body` returns.
    /// - Throws: ``SecureStorageError``.
    public func write<Result: Sendable>(
        _ body: @escaping @Sendable (Database) throws -> Result
    ) async throws(SecureStorageError) -> Result {
        let queue = try connection()
        do {
            return try await queue.write(body)
        } catch {
            throw SecureStorageError.translated(error)
        }
    }

    /// Changes the key or passphrase; the content is not rewritten, and the database stays open.
    ///
    /// - Parameters:
    ///   - old: What opens it now.
    ///   - new: What shall.
    /// - Throws: ``SecureStorageError``: the old one opens it as before. Only after `keyInDoubt` nobody can tell which of the two
    ///   does.
    public func rekey(from old: KeySource, to new: KeySource) throws(SecureStorageError) {
        do {
            try EncryptedDatabase.rekey(at: path, from: old, to: new)
        } catch {
            throw SecureStorageError(error)
        }
    }

    /// Closes the database and forgets its key, after what is running has ended; later calls throw `closed`.
    ///
    /// - Throws: ``SecureStorageError``.
    public func close() throws(SecureStorageError) {
        queue.withLock { $0 = nil }
        do {
            try EncryptedDatabase.lock(at: path)
        } catch {
            throw SecureStorageError(error)
        }
    }
}
