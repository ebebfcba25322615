import EncryptedSQLite
import Foundation

/// The files of a store in its directory.
enum StoreFiles {
    /// The encrypted database: entities, queue, settings.
    static func database(in directory: String) -> String { directory + "/store.db" }
    /// The lock of the synchronising process.
    static func lock(in directory: String) -> String { directory + "/sync.lock" }

    /// All files of the database. The main file comes first: without it, the log cannot be opened by mistake.
    static func databaseFiles(in directory: String) -> [String] {
        let path = database(in: directory)
        return ["", "-wal", "-shm", "-journal"].map { path + $0 } + EncryptedDatabase.lostLogs(besides: path)
    }

    /// Notes about the files of an encrypted store, one sentence each.
    static func notes(in directory: String) -> [String] {
        let path = database(in: directory)
        var notes = EncryptedDatabase.lostLogs(besides: path).map { copy in
            "Some committed changes could not be recovered after a crash or a fault of the disk. "
                + "The log that holds them was kept as \((copy as NSString).lastPathComponent)."
        }
        let latest = EncryptedDatabase.latestFormat
        if let version = try? EncryptedDatabase.formatVersion(at: path), version < latest {
            notes.append(
                "The store has format \(version) of the encryption. It is brought to format \(latest) when it is "
                    + "opened while no other program has it open.")
        }
        return notes
    }

    /// Creates a directory that only its owner can enter.
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

    /// Removes the files of a failed creation, which still holds the lock.
    static func remove(in directory: String, withDirectory: Bool) {
        // Files are removed by their names, and the directory only if it is empty.
        for path in databaseFiles(in: directory) { unlink(path) }
        unlink(lock(in: directory))
        if withDirectory { rmdir(directory) }
    }
}
