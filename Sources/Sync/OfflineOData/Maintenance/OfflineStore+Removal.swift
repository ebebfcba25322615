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

    /// Removes a store with all its pending changes. Other files in the directory stay.
    ///
    /// The store must not be open in any process. ``status()`` shows beforehand which changes would be lost.
    ///
    /// ```swift
    /// try store.close()
    /// try OfflineStore.remove(at: directory)
    /// ```
    /// - Parameter directory: the directory of the store. Nothing happens if it contains none.
    /// - Throws: ``OfflineError/stillOpen(path:)`` while the store is open; ``OfflineError/busy(processID:)`` while
    ///   another process is synchronising it; ``OfflineError/fileAccess(path:reason:)``.
    public static func remove(at directory: String) throws(OfflineError) {
        try remove(at: directory, withDirectory: false)
    }

    /// - Parameter withDirectory: whether the directory is removed too, with all its other files.
    static func remove(at directory: String, withDirectory: Bool) throws(OfflineError) {
        let database = StoreFiles.database(in: directory)
        guard FileManager.default.fileExists(atPath: withDirectory ? directory : database) else { return }
        let lock = try SyncLock(path: StoreFiles.lock(in: directory))
        let closed = try closed(database, in: directory)
        defer { withExtendedLifetime((lock, closed)) {} }
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

    /// Takes the lock that no process has while a connection to the database is open.
    ///
    /// - Returns: `nil` if the file cannot be locked for another reason: it is removed all the same.
    private static func closed(_ database: String, in directory: String) throws(OfflineError) -> ExclusiveDatabase? {
        do throws(EncryptedDatabaseError) {
            return try ExclusiveDatabase(path: database)
        } catch {
            if case .busy = error { throw .stillOpen(path: directory) }
            return nil
        }
    }
}
