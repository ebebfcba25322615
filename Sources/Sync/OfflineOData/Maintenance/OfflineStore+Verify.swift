public import EncryptedSQLite
import Foundation
import GRDB
import ODataSQL

/// What ``OfflineStore/verify(at:protection:)`` found.
///
/// ```swift
/// let verification = try await OfflineStore.verify(at: directory, protection: protection)
/// if !verification.isWhole { show(verification.problems) }
/// ```
public struct StoreVerification: Sendable {
    /// Places in the files that are not as they were written.
    public var damages: [EncryptedDatabase.Damage] = []
    /// What SQLite's own check or the engine's tables say, one sentence each.
    public var problems: [String] = []
    /// What is no damage, but worth a word: a transaction at the end of the log that was not committed.
    public var notes: [String] = []

    /// Whether nothing was found.
    public var isWhole: Bool { damages.isEmpty && problems.isEmpty }
}

extension OfflineStore {
    /// Reads a whole store and finds what is damaged: every byte of its files, then the rows and indexes, then the queue.
    ///
    /// A store with damaged files is not opened, as that would let SQLite end the log at the damage: what can still be
    /// read stays as it is. Of an unencrypted store, SQLite's own check is all there is. Nothing of the store is written
    /// either way: one of an earlier version is not brought up to date, and a log is not moved into the database. All that
    /// may be made anew is the index of a log (`-shm`), which SQLite makes of the log whenever it is missing.
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
        var isEncrypted = false
        let protection = try protection.resolved(exists: true)
        do throws(EncryptedDatabaseError) {
            isEncrypted = try EncryptedDatabase.isEncrypted(at: path)
            if case .encrypted(let source) = protection {
                let verification = try EncryptedDatabase.verification(at: path, with: source)
                found.damages = verification.damages
                if let note = verification.note { found.notes.append(note) }
                if found.damages.isEmpty {
                    try EncryptedDatabase.unlock(at: path, with: source, upgradesFormat: false)
                }
            }
        } catch {
            throw StoreError(error, path: path)
        }
        if case .unencrypted = protection, isEncrypted {
            throw StoreError.protectionMismatch(path: path, isEncrypted: true)
        }
        guard found.damages.isEmpty else { return found }
        found.problems = try await StoreInspection.problems(at: path, in: directory, isEncrypted: isEncrypted)
        return found
    }
}

extension OfflineStore {
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
