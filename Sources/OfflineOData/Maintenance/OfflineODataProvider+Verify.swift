public import EncryptedSQLite
import Foundation
import GRDB
import ODataStore

/// What ``OfflineODataProvider/verify(at:protection:)`` found.
public struct StoreVerification: Sendable {
    /// Places in the files that are not as they were written.
    public var damages: [EncryptedDatabase.Damage] = []
    /// What SQLite's own check or the engine's tables say, one sentence each.
    public var problems: [String] = []

    /// Whether nothing was found.
    public var isWhole: Bool { damages.isEmpty && problems.isEmpty }
}

extension OfflineODataProvider {
    /// Reads a whole store and finds what is damaged: every byte of its files, then the rows and indexes, then the queue.
    ///
    /// A store with damaged files is not opened, as that would let SQLite end the log at the damage: what can still be
    /// read stays as it is. Of an unencrypted store, SQLite's own check is all there is. Nothing is changed either way,
    /// but for the log that is moved into the database when the last connection to a whole store closes.
    ///
    /// - Parameters:
    ///   - directory: Where the store was made.
    ///   - protection: The key it was made with.
    /// - Returns: What was found.
    /// - Throws: ``OfflineError/noStore(path:)``; `StoreError` for a wrong key, a newer version and a key block that
    ///   nothing can be read of.
    public static func verify(
        at directory: String, protection: StoreProtection
    ) async throws -> StoreVerification {
        let path = StoreFiles.database(in: directory)
        guard FileManager.default.fileExists(atPath: path) else { throw OfflineError.noStore(path: directory) }
        var found = StoreVerification()
        if case .encrypted(let source) = protection {
            do throws(EncryptedDatabaseError) {
                try EncryptedDatabase.unlock(at: path, with: source)
                found.damages = try EncryptedDatabase.verify(at: path)
            } catch {
                throw StoreError(error, path: path)
            }
            guard found.damages.isEmpty else { return found }
        }
        let store = try await open(at: directory, protection: protection)
        defer { try? store.close() }
        found.problems = try await store.database.read { database in
            do {
                return try String.fetchAll(database, sql: "PRAGMA integrity_check").filter { $0 != "ok" }
            } catch let error as DatabaseError {
                return [error.message ?? "SQLite cannot read the database (\(error.extendedResultCode.rawValue))."]
            }
        }
        do {
            _ = try await store.status()
        } catch let error as OfflineError {
            found.problems.append(error.description)
        }
        return found
    }
}

extension OfflineODataProvider {
    /// Whether a file is a store whose making was cut short: there is nothing in it, and the key opens it.
    static func isUnfinished(at path: String, _ protection: StoreProtection, _ options: Options) -> Bool {
        let connections = options.connections(createsFile: false)
        guard let database = try? StoreDatabase.open(path: path, protection: protection, options: connections) else {
            return false
        }
        defer { try? database.close() }
        let presence = try? database.pool.read { try OfflineLayout.presence(in: $0, path: path) }
        if case .empty? = presence { return true }
        return false
    }
}
