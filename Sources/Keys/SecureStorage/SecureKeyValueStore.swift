public import DataVault
import Foundation
import GRDB
public import Secrets

/// A store of `Codable` values by name, in an encrypted file.
///
/// Use it if a vault is too small: for tens of thousands of values, for large values, or for frequent writes.
/// Several named stores can share one file.
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

    /// Creates a store in an open database.
    ///
    /// - Parameters:
    ///   - database: The database, which may contain other stores and tables.
    ///   - name: The name of the store in the database.
    /// - Throws: ``SecureStorageError``.
    public init(_ database: SecureDatabase, name: String = "default") async throws(SecureStorageError) {
        try Self.check(name)
        self.name = name
        self.database = database
        try await database.write { try $0.execute(sql: Self.schema) }
    }

    /// Refuses a name with U+0000, at which the database would end the name.
    private static func check(_ name: String) throws(SecureStorageError) {
        if name.utf8.contains(0) { throw .unusable(reason: "a name cannot have U+0000 in it") }
    }

    /// Opens or creates a file with a key or passphrase.
    ///
    /// - Throws: ``SecureStorageError``.
    public static func open(
        path: String, key: KeySource, name: String = "default"
    ) async throws(SecureStorageError) -> SecureKeyValueStore {
        try await SecureKeyValueStore(SecureDatabase(path: path, key: key), name: name)
    }

    /// Opens or creates a file with a key from an unlocked vault; creates the key if it is missing.
    ///
    /// - Throws: ``SecureStorageError``.
    public static func open(
        path: String, vault: Vault, keyName: String, name: String = "default"
    ) async throws(SecureStorageError) -> SecureKeyValueStore {
        try await SecureKeyValueStore(SecureDatabase.open(path: path, vault: vault, keyName: keyName), name: name)
    }

    /// Stores a value durably and replaces any value with the same name.
    ///
    /// - Parameters:
    ///   - value: Any encodable value, including a single number or text.
    ///   - key: The name of the value: any text without U+0000.
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

    /// Returns a value.
    ///
    /// - Parameters:
    ///   - type: The type of the stored value.
    ///   - key: The name of the value.
    /// - Returns: `nil` if no value has this name.
    /// - Throws: ``SecureStorageError``: `undecodable`, `unusable` for the name, `database`, `closed`.
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
            // The decoder's error contains the value, so it is not passed on.
            throw .undecodable(store: name, name: key, expected: "\(type)")
        }
    }

    /// Removes a value.
    ///
    /// - Parameter key: The name of the value.
    /// - Returns: Whether the value existed.
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

    /// Removes all values of this store. Other stores in the file are not affected.
    ///
    /// - Throws: ``SecureStorageError``.
    public func removeAll() async throws(SecureStorageError) {
        try await database.write { [name] database in
            try database.execute(sql: "DELETE FROM outpost_value WHERE store = ?", arguments: [name])
        }
    }

    /// Returns the names of all values, sorted by their bytes.
    ///
    /// - Throws: ``SecureStorageError``.
    public func names() async throws(SecureStorageError) -> [String] {
        try await database.read { [name] database in
            try String.fetchAll(
                database, sql: "SELECT name FROM outpost_value WHERE store = ? ORDER BY name", arguments: [name])
        }
    }

    /// Closes the file and forgets its key, for every store that shares the file. Later calls throw `closed`.
    ///
    /// - Throws: ``SecureStorageError``.
    public func close() throws(SecureStorageError) { try database.close() }
}
