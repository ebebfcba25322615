import Foundation

/// The files of a store in its directory.
enum StoreFiles {
    /// The encrypted database: entities, queue, settings.
    static func database(in directory: String) -> String { directory + "/store.db" }
    /// The lock that one syncing process holds.
    static func lock(in directory: String) -> String { directory + "/sync.lock" }

    /// Makes a directory that only its owner can enter.
    ///
    /// - Returns: whether it is new.
    static func makeDirectory(_ path: String) throws(OfflineError) -> Bool {
        var isDirectory: ObjCBool = false
        if FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory) {
            guard isDirectory.boolValue else { throw .fileAccess(path: path, reason: "It is not a directory.") }
            return false
        }
        do {
            try FileManager.default.createDirectory(
                atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            return true
        } catch {
            throw .fileAccess(path: path, reason: error.localizedDescription)
        }
    }

    /// Removes what a creation that failed has left, while it holds the lock.
    static func remove(in directory: String, withDirectory: Bool) {
        // Files by their names, and the directory only if nothing else is in it.
        for suffix in ["", "-wal", "-shm", "-journal"] { unlink(database(in: directory) + suffix) }
        unlink(lock(in: directory))
        if withDirectory { rmdir(directory) }
    }
}
