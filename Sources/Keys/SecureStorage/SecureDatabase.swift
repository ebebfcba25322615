public import DataVault
import EncryptedSQLite
import Foundation
public import GRDB
public import Secrets
import Synchronization

/// An app's own SQLite database, encrypted with a key or a passphrase.
///
/// ```swift
/// let key = try await vault.key(named: "notes")
/// let database = try SecureDatabase(path: path, key: .key(key))
/// try await database.write { try $0.execute(sql: "CREATE TABLE IF NOT EXISTS note(text TEXT)") }
/// ```
///
/// Every page is sealed; the documentation of `EncryptedSQLite` describes the protection and its limits.
public final class SecureDatabase: Sendable {
    /// The path of the database file.
    public let path: String
    /// The connection; `nil` after closing. Running operations hold their own reference, so they finish after
    /// the closing.
    private let queue: Mutex<DatabaseQueue?>

    /// Opens a database, or creates an empty one.
    ///
    /// - Parameters:
    ///   - path: The path of the file; its folder must exist.
    ///   - key: The key or passphrase. A passphrase costs one derivation per process.
    ///   - createsFile: Whether to create a missing file.
    /// - Throws: ``SecureStorageError``: `wrongKey`, `notFound`, `unusable`, `database`.
    public init(path: String, key: KeySource, createsFile: Bool = true) throws(SecureStorageError) {
        self.path = path
        let wasUnlocked = EncryptedDatabase.isUnlocked(at: path)
        do throws(EncryptedDatabaseError) {
            if createsFile, !FileManager.default.fileExists(atPath: path) {
                do throws(EncryptedDatabaseError) {
                    try EncryptedDatabase.create(at: path, key: key)
                } catch .alreadyExists where FileManager.default.fileExists(atPath: path) {
                    // Another process created the file first.
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
            // Committed data must survive a crash. With FULL alone, a power failure could restore a deleted
            // journal, which would undo a commit.
            try database.execute(sql: "PRAGMA temp_store = MEMORY; PRAGMA synchronous = EXTRA; PRAGMA fullfsync = 1")
        }
        do {
            let opened = try DatabaseQueue(path: EncryptedDatabase.uri(forPath: path), configuration: configuration)
            try opened.read { _ = try Int.fetchOne($0, sql: "SELECT count(*) FROM sqlite_master") }
            queue = Mutex(opened)
        } catch {
            // Another connection of this process may need the key.
            if !wasUnlocked { try? EncryptedDatabase.lock(at: path) }
            throw SecureStorageError.translated(error)
        }
    }

    private func connection() throws(SecureStorageError) -> DatabaseQueue {
        guard let queue = queue.withLock({ $0 }) else { throw .closed }
        return queue
    }

    /// Opens a database with a key from an unlocked vault, and creates the key if no value has this name.
    ///
    /// - Parameters:
    ///   - path: The path of the file.
    ///   - vault: An unlocked vault.
    ///   - name: The name of the key in the vault.
    /// - Returns: The database.
    /// - Throws: ``SecureStorageError``; `vault` if the vault is locked, or if its value with this name is not
    ///   a key.
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

    /// Reads from the database.
    ///
    /// - Parameter body: A function that reads with a connection. The connection must not escape the function.
    /// - Returns: The result of `body`.
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

    /// Writes to the database in one transaction.
    ///
    /// - Parameter body: A function that writes with a connection. The connection must not escape the function.
    ///   If the function throws, nothing is changed.
    /// - Returns: The result of `body`.
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

    /// Changes the key or passphrase. The content is not rewritten, and the database stays open.
    ///
    /// - Parameters:
    ///   - old: The current key or passphrase.
    ///   - new: The new key or passphrase.
    /// - Throws: ``SecureStorageError``. After an error the old key still opens the database; only after
    ///   `keyInDoubt` either of the two keys may.
    public func rekey(from old: KeySource, to new: KeySource) throws(SecureStorageError) {
        do {
            try EncryptedDatabase.rekey(at: path, from: old, to: new)
        } catch {
            throw SecureStorageError(error)
        }
    }

    /// Closes the database and forgets its key after running operations have finished. Later calls throw
    /// `closed`.
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
