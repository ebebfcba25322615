import EncryptedSQLite
import Foundation
import GRDB
import ODataSQL
public import Secrets

/// The treatment of values in a copy of a store.
public enum CopiedValues: Sendable {
    /// Values are copied unchanged.
    case shown
    /// Values are replaced: texts with as many `x`, numbers with 0, bytes with zeros, keys with other unique
    /// values. Facts for support stay: rows and their internal ids, the queue with kinds, states, times, statuses
    /// and codes, defining queries, metadata.
    case masked
}

extension OfflineStore.Maintenance {
    /// Creates a copy of the store for support, encrypted under another key.
    ///
    /// The copy is one file with a consistent snapshot. Nothing else of the store is in it: neither its key nor
    /// free pages. The store stays in use meanwhile. For an unencrypted store, the indexes of `$search` are left
    /// out.
    ///
    /// - Parameters:
    ///   - path: A file that does not exist, in a folder that does.
    ///   - key: Opens the copy; hand it over on another way than the file.
    ///   - values: Whether values are shown or masked.
    /// - Throws: `EncryptedDatabaseError` (`alreadyExists` and others) and `DatabaseError`; nothing is left
    ///   behind then.
    public func copy(to path: String, key: KeySource, values: CopiedValues = .masked) async throws {
        try EncryptedDatabase.create(at: path, key: key)
        let (directory, database, progressChannel) = (store.directory, store.database, store.progressChannel)
        // A running synchronisation reports its own steps.
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
                // Pages without the space that encryption reserves cannot be copied directly.
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
