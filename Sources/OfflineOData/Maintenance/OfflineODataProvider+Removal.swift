import Foundation

extension OfflineODataProvider {
    /// Removes a store with all changes that wait in it; what else the directory holds stays.
    ///
    /// The store must not be open in this process. ``status()`` tells beforehand what would be lost.
    ///
    /// ```swift
    /// try store.close()
    /// try OfflineODataProvider.remove(at: directory)
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
        var paths = StoreFiles.databaseFiles(in: directory)
        if withDirectory { paths.append(directory) }
        for path in paths where FileManager.default.fileExists(atPath: path) {
            do {
                try FileManager.default.removeItem(atPath: path)
            } catch {
                throw .fileAccess(path: path, reason: error.localizedDescription)
            }
        }
    }
}
