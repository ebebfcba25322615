public import DataVault
import Foundation
import GRDB
public import Secrets

/// Values of any `Codable` type under names, in an encrypted file.
///
/// For more than a vault is made for: tens of thousands of values, large ones, written often. Several named
/// stores share one file.
///
/// ```swift
/// let store = try await SecureKeyValueStore.open(path: path, vault: vault, keyName: "settings")
/// try await store.put(Settings(theme: "dark"), named: "settings")
/// let settings = try await store.value(Settings.self, named: "settings")
/// ```
public final class SecureKeyValueStore: Sendable {
    /// The name of the store in its file.
    public let name: String
    private let database: SecureDatabase

    private static let schema = """
        CREATE TABLE IF NOT EXISTS outpost_value(
            store TEXT NOT NULL, name TEXT NOT NULL, value BLOB NOT NULL, PRIMARY KEY(store, name)
        ) STRICT, WITHOUT ROWID
        """

    /// Uses a database that is open already.
    ///
    /// - Parameters:
    ///   - database: The database, which may hold other stores and tables.
    ///   - name: The name of the store in it.
    /// - Throws: ``SecureStorageError``.
    public init(_ database: SecureDatabase, name: String = "default") async throws(SecureStorageError) {
        try Self.check(name)
        self.name = name
        self.database = database
        try await database.write { try $0.execute(sql: Self.schema) }
    }

    /// Refuses a name that the database would end at U+0000, and take for another one.
    private static func check(_ name: String) throws(SecureStorageError) {
        if name.utf8.contains(0) { throw .unusable(reason: "a name cannot have U+0000 in it") }
    }

    /// Opens a file by a key or passphrase, or makes it.
    ///
    /// - Throws: ``SecureStorageError``.
    public static func open(
        path: String, key: KeySource, name: String = "default"
    ) async throws(SecureStorageError) -> SecureKeyValueStore {
        try await SecureKeyValueStore(SecureDatabase(path: path, key: key), name: name)
    }

    /// Opens a file whose key is kept in an unlocked vault, or makes both.
    ///
    /// - Throws: ``SecureStorageError``.
    public static func open(
        path: String, vault: Vault, keyName: String, name: String = "default"
    ) async throws(SecureStorageError) -> SecureKeyValueStore {
        try await SecureKeyValueStore(SecureDatabase.open(path: path, vault: vault, keyName: keyName), name: name)
    }

    /// Keeps a value, in place of any of that name; it is durable when this returns.
    ///
    /// - Parameters:
    ///   - value: Any encodable value, numbers and texts alone as well.
    ///   - key: Its name; any text without U+0000.
    /// - Throws: ``SecureStorageError``: `unencodable`, `unusable` for the name, `database`, `closed`.
    public func put(_ value: some Encodable, named key: String) async throws(SecureStorageError) {
        try Self.check(key)
        let bytes: Data
        do {
            bytes = try JSONEncoder().encode(value)
        } catch {
            throw .unencodable(store: name, name: key)
        }
        try await database.write { [name] database in
            try database.execute(
                sql: """
                    INSERT INTO outpost_value(store, name, value) VALUES (?, ?, ?)
                    ON CONFLICT DO UPDATE SET value = excluded.value
                    """, arguments: [name, key, bytes])
        }
    }

    /// A value.
    ///
    /// - Parameters:
    ///   - type: What it was put as.
    ///   - key: Its name.
    /// - Returns: Nil when there is none of that name.
    /// - Throws: ``SecureStorageError``: `undecodable`, `database`, `closed`.
    public func value<Value: Decodable>(
        _ type: Value.Type = Value.self, named key: String
    ) async throws(SecureStorageError) -> Value? {
        try Self.check(key)
        let bytes = try await database.read { [name] database in
            try Data.fetchOne(
                database, sql: "SELECT value FROM outpost_value WHERE store = ? AND name = ?", arguments: [name, key])
        }
        guard let bytes else { return nil }
        do {
            return try JSONDecoder().decode(type, from: bytes)
        } catch {
            // The decoder's error quotes the value.
            throw .undecodable(store: name, name: key, expected: "\(type)")
        }
    }

    /// Removes a value.
    ///
    /// - Parameter key: Its name.
    /// - Returns: Whether there was one.
    /// - Throws: ``SecureStorageError``.
    @discardableResult
    public func remove(named key: String) async throws(SecureStorageError) -> Bool {
        try Self.check(key)
        return try await database.write { [name] database in
            try database.execute(
                sql: "DELETE FROM outpost_value WHERE store = ? AND name = ?", arguments: [name, key])
            return database.changesCount > 0
        }
    }

    /// Removes all values of this store; other stores in the file keep theirs.
    ///
    /// - Throws: ``SecureStorageError``.
    public func removeAll() async throws(SecureStorageError) {
        try await database.write { [name] database in
            try database.execute(sql: "DELETE FROM outpost_value WHERE store = ?", arguments: [name])
        }
    }

    /// The names of all values, sorted by their bytes.
    ///
    /// - Throws: ``SecureStorageError``.
    public func names() async throws(SecureStorageError) -> [String] {
        try await database.read { [name] database in
            try String.fetchAll(
                database, sql: "SELECT name FROM outpost_value WHERE store = ? ORDER BY name", arguments: [name])
        }
    }

    /// Closes the file and forgets its key, for every store that shares it; later calls throw `closed`.
    ///
    /// - Throws: ``SecureStorageError``.
    public func close() throws(SecureStorageError) { try database.close() }
}
