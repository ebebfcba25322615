import EncryptedSQLite
import Foundation
import Secrets

extension OfflineStore {
    /// Returns whether there is a store in a directory.
    public static func exists(at directory: String) -> Bool {
        FileManager.default.fileExists(atPath: StoreFiles.database(in: directory))
    }

    /// Replaces the key of a closed store.
    ///
    /// - Throws: `EncryptedDatabaseError`; the former key opens the store then.
    public static func rekey(
        at directory: String, from old: KeySource, to new: KeySource
    ) throws(EncryptedDatabaseError) {
        try EncryptedDatabase.rekey(at: StoreFiles.database(in: directory), from: old, to: new)
    }

    /// Removes a store with all changes that wait in it; what else the directory holds stays.
    ///
    /// The store must not be open in this process. ``status()`` tells beforehand what would be lost.
    ///
    /// ```swift
    /// try store.close()
    /// try OfflineStore.remove(at: directory)
    /// ```
    /// - Parameter directory: where the store was made; nothing happens where there is none.
    /// - Throws: ``OfflineError/busy(processID:)`` while another process is syncing it;
    ///   ``OfflineError/fileAccess(path:reason:)``.
    public static func remove(at directory: String) throws(OfflineError) {
        try remove(at: directory, withDirectory: false)
    }

    /// - Parameter withDirectory: whether the directory goes too, with whatever else it holds.
    static func remove(at directory: String, withDirectory: Bool) throws(OfflineError) {
        let database = StoreFiles.database(in: directory)
        guard FileManager.default.fileExists(atPath: withDirectory ? directory : database) else { return }
        let lock = try SyncLock(path: StoreFiles.lock(in: directory))
        defer { withExtendedLifetime(lock) {} }
        let notes = IncarnationNotes.standard
        if let file = notes.identity(of: database) { notes.incarnations(in: file).forEach(notes.remove) }
        for path in StoreFiles.databaseFiles(in: directory) {
            guard unlink(path) == 0 || errno == ENOENT else {
                throw .fileAccess(path: path, reason: String(cString: strerror(errno)))
            }
        }
        guard withDirectory, FileManager.default.fileExists(atPath: directory) else { return }
        do {
            try FileManager.default.removeItem(atPath: directory)
        } catch {
            throw .fileAccess(path: directory, reason: error.localizedDescription)
        }
    }
}
