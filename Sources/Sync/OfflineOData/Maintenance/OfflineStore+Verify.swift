public import EncryptedSQLite
import Foundation
import GRDB
import ODataSQL

/// The result of ``OfflineStore/verify(at:protection:)``.
///
/// ```swift
/// let verification = try await OfflineStore.verify(at: directory, protection: protection)
/// if !verification.isWhole { show(verification.problems) }
/// ```
public struct StoreVerification: Sendable {
    /// The damaged places in the files.
    public var damages: [EncryptedDatabase.Damage] = []
    /// The findings of SQLite's own check and of the engine's tables, one sentence each.
    public var problems: [String] = []
    /// Findings that are no damage: an uncommitted transaction at the end of the log.
    public var notes: [String] = []

    /// Whether nothing was found.
    public var isWhole: Bool { damages.isEmpty && problems.isEmpty }
}

extension OfflineStore {
    /// Reads a whole store and reports damage: in every byte of its files, then in the rows and indexes, then in
    /// the queue.
    ///
    /// A store with damaged files is not opened, since SQLite would cut the log off at the damage. Readable
    /// content stays as it is. An unencrypted store gets SQLite's own check only. Nothing is written in either
    /// case: an earlier version is not upgraded, and a log is not moved into the database. Only the index of a
    /// log (`-shm`) may be created, which SQLite rebuilds whenever it is missing.
    ///
    /// - Parameters:
    ///   - directory: The directory of the store.
    ///   - protection: The key of the store.
    /// - Returns: The findings.
    /// - Throws: ``OfflineError/noStore(path:)``; `StoreError` for a wrong key, a newer version and an unreadable
    ///   key block.
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
    /// Whether a file is a store with an interrupted creation: it is empty, and the key opens it.
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
