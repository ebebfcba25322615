import EncryptedSQLite
import Foundation
import GRDB
import ODataSQL
public import Secrets

/// Whether a copy of a store shows the values of its entities.
public enum CopiedValues: Sendable {
    /// As they are.
    case shown
    /// Replaced: texts by as many `x`, numbers by 0, bytes by zeros, keys by others that are as unique. What
    /// support needs stays: rows and their internal ids, the queue with kinds, states, times, statuses and codes,
    /// defining queries, metadata.
    case masked
}

extension OfflineStore.Maintenance {
    /// Makes a copy of the store for support, encrypted under another key.
    ///
    /// The copy is one file, of one moment, and nothing else of the store is in it: neither its key nor pages that
    /// it does not use any more. The store stays in use meanwhile. Of a store that is not encrypted, the indexes of
    /// `$search` are left out.
    ///
    /// - Parameters:
    ///   - path: A file that does not exist, in a folder that does.
    ///   - key: Opens the copy; hand it over on another way than the file.
    ///   - values: Whether values are shown or masked.
    /// - Throws: `EncryptedDatabaseError` (`alreadyExists` and others) and `DatabaseError`; nothing is left behind then.
    public func copy(to path: String, key: KeySource, values: CopiedValues = .masked) async throws {
        try EncryptedDatabase.create(at: path, key: key)
        let (directory, database, progressChannel) = (store.directory, store.database, store.progressChannel)
        // A synchronisation that is under way tells its own steps.
        let isAlone = progressChannel.state == .open
        if isAlone {
            progressChannel.begin(.copy)
            progressChannel.enter(.sendingStore)
            progressChannel.step(.sendingEntityStoreDatabase)
        }
        defer { if isAlone { progressChannel.enter(.open) } }
        do {
            var configuration = Configuration()
            configuration.prepareDatabase { database in
                try database.setPragma(.temporaryStore, "MEMORY")
                try database.setPragma(.secureDelete, "ON")
                TextComparison.register(in: database)
            }
            let target = try DatabaseQueue(path: EncryptedDatabase.uri(forPath: path), configuration: configuration)
            if try EncryptedDatabase.isEncrypted(at: StoreFiles.database(in: directory)) {
                try database.pool.backup(to: target)
            } else {
                // Pages without the room that encrypted ones reserve cannot be taken over.
                let pool = database.pool
                try await target.write { target in
                    try pool.read { try StoreSalvage.copyAll(from: $0, to: target) }
                }
            }
            try await target.writeWithoutTransaction { database in
                // One file, without a log beside it.
                try database.setPragma(.journalMode, "DELETE")
                if values == .masked {
                    try database.inTransaction {
                        try ValueMask.apply(in: database); return .commit
                    }
                }
                try database.execute(sql: "VACUUM")
            }
            try target.close()
            try EncryptedDatabase.lock(at: path)
        } catch {
            try? EncryptedDatabase.lock(at: path)
            for suffix in ["", "-wal", "-shm", "-journal"] {
                try? FileManager.default.removeItem(atPath: path + suffix)
            }
            throw error
        }
    }
}
