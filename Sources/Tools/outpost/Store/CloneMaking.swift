import DataVault
import Foundation
import ODataSQL
import OfflineOData
import ToolLanguage

/// The creation of a clone, one at a time in a directory. A failure removes only the files of this creation.
enum CloneMaking {
    /// Creates a clone in a directory without one.
    ///
    /// - Parameters:
    ///   - given: the key that a person gave; `nil` to generate one as late as possible, because it stays
    ///     even after a failure.
    ///   - create: creates the store.
    /// - Returns: the store and its key.
    /// - Throws: ``Failure`` if the directory has a clone or another command creates one; the errors of
    ///   `create`. No clone is left behind then.
    static func make(
        in directory: String, key given: NewKey?, _ create: (StoreProtection) async throws -> OfflineStore
    ) async throws -> (store: OfflineStore, key: NewKey) {
        let isNew = try CloneFile.makeDirectory(directory)
        let path = directory + "/clone.lock"
        let lock = try lock(path, of: directory)
        defer { withExtendedLifetime(lock) {} }
        do {
            // The lock file is removed while it is locked: nobody finds it beside the store, and a waiting
            // command takes a new one.
            defer { unlink(path) }
            // Another command may have created a clone since the survey.
            try CloneFile.requireNone(in: directory)
            try await CloneFile.unfinished(in: directory)?.removeUnfinished(in: directory, given?.protection)
            let key = try given ?? NewKey.generated(for: directory)
            // Written before the store is created, so that a killed command leaves a clone that is known to
            // be unfinished and can be created again. Without the file, the key of the store would be
            // unknown.
            try CloneFile(key: key.place, isUnfinished: true).write(in: directory)
            return (try await filled(directory, key, create: create), key)
        } catch {
            // The directory stays if it has other files.
            if isNew { rmdir(directory) }
            throw error
        }
    }

    private static func lock(_ path: String, of directory: String) throws -> FileLock {
        let lock: FileLock?
        do throws(DataVaultError) {
            lock = try SystemFiles().lock(path)
        } catch {
            guard case .system(_, _, let code) = error else { throw error }
            throw Failure(
                message: "\(path) cannot be written: \(Outpost.systemReason(code)).",
                advice: "Is the disk full, or the directory somebody else's?")
        }
        guard let lock else {
            throw Failure(
                message: "Another command is making a clone in \(directory).",
                advice: "Wait until it is done, or name another directory after the URL.")
        }
        return lock
    }

    /// Returns the store after its file says that it is complete.
    private static func filled(
        _ directory: String, _ key: NewKey, create: (StoreProtection) async throws -> OfflineStore
    ) async throws -> OfflineStore {
        let store: OfflineStore
        do {
            store = try await create(key.protection)
        } catch {
            // The store of this creation is removed. Any other store belongs to a different creation at the
            // same time.
            CloneFile.remove(in: directory)
            throw error
        }
        do {
            try CloneFile(key: key.place).write(in: directory)
            if case .vault = key.place {} else { KeyUses.note(directory) }
            return store
        } catch {
            try? store.close()
            try? await CloneFile(key: key.place).removeUnfinished(in: directory, key.protection)
            throw error
        }
    }
}
