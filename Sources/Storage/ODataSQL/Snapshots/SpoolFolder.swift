import Foundation
import Synchronization

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// The folder of this process for temporary files, inside a folder that all processes of the user share.
///
/// The files are encrypted with keys that only this process knows. Each process holds a lock on its folder, which
/// is released even if the process is killed. The next process that needs a folder removes folders without a lock.
package final class SpoolFolder: Sendable {
    let path: String
    /// The file descriptor with the lock, which is held while the process runs.
    private let lock: Int32

    private static let current = Mutex<SpoolFolder?>(nil)
    private static let lockName = "lock"

    private init(path: String, lock: Int32) {
        self.path = path
        self.lock = lock
    }

    /// Returns the path of a new file.
    ///
    /// - Throws: ``StoreError`` if the folder cannot be created.
    package static func newFile(_ name: String) throws(StoreError) -> String {
        let folder = try current.withLock { current throws(StoreError) in
            // The temporary folder may have been cleared in the meantime.
            if let known = current, isOwnFolder(known.path) { return known }
            let made = try make()
            current = made
            return made
        }
        return "\(folder.path)/\(name)"
    }

    /// Removes the temporary files of processes that have ended or were killed.
    ///
    /// A folder that cannot be read or locked is not changed.
    package static func removeLeftovers() { removeLeftovers(in: sharedPath) }

    /// The folder that all processes of the user share.
    package static var sharedPath: String {
        FileManager.default.temporaryDirectory.appendingPathComponent("outpost-spool-\(getuid())").path
    }

    private static func make() throws(StoreError) -> SpoolFolder {
        let shared = sharedPath
        guard mkdir(shared, 0o700) == 0 || isOwnFolder(shared) else { throw failure(shared) }
        // Until a new folder is locked, no other process may remove it as a leftover.
        guard let gate = locked(shared, waits: true) else { throw failure(shared) }
        defer { close(gate) }
        removeUnlocked(in: shared)
        let path = "\(shared)/\(getpid())-\(String(UInt64.random(in: .min ... .max), radix: 36))"
        guard mkdir(path, 0o700) == 0, let lock = locked(path, waits: false) else { throw failure(path) }
        return SpoolFolder(path: path, lock: lock)
    }

    package static func removeLeftovers(in shared: String) {
        guard isOwnFolder(shared), let gate = locked(shared, waits: true) else { return }
        defer { close(gate) }
        removeUnlocked(in: shared)
    }

    private static func removeUnlocked(in shared: String) {
        for name in (try? FileManager.default.contentsOfDirectory(atPath: shared)) ?? [] where name != lockName {
            let path = "\(shared)/\(name)"
            guard isOwnFolder(path), let lock = locked(path, waits: false) else { continue }
            try? FileManager.default.removeItem(atPath: path)
            close(lock)
        }
    }

    /// Opens and locks the lock file of a folder that was checked.
    ///
    /// - Returns: The file descriptor; `nil` if another process holds the lock.
    private static func locked(_ folder: String, waits: Bool) -> Int32? {
        let descriptor = open("\(folder)/\(lockName)", O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { return nil }
        guard flock(descriptor, waits ? LOCK_EX : LOCK_EX | LOCK_NB) == 0 else {
            close(descriptor)
            return nil
        }
        return descriptor
    }

    /// Returns whether a path is a folder of this user that only this user can access, and not a symbolic link.
    private static func isOwnFolder(_ path: String) -> Bool {
        var status = stat()
        guard lstat(path, &status) == 0 else { return false }
        return status.st_mode & S_IFMT == S_IFDIR && status.st_uid == getuid() && status.st_mode & 0o077 == 0
    }

    private static func failure(_ path: String) -> StoreError {
        .database(
            code: 14,
            message: "temporary files need the folder \(path), which must belong to this user alone; remove what is "
                + "there, or set TMPDIR to another folder")
    }
}

/// The temporary files with snapshots for later pages.
public enum SpoolFiles {
    /// Removes the temporary files of processes that have ended or were killed.
    ///
    /// This also happens before a process writes its first snapshot. A long-running server should call it at its
    /// start.
    public static func removeLeftovers() { SpoolFolder.removeLeftovers() }
}
