import DataVault
import Foundation
import ODataSQL
import OfflineOData

/// The making of a clone: one at a time in a directory, and what is taken back when it fails is its own alone.
enum CloneMaking {
    /// Makes a clone in a directory that holds none.
    ///
    /// - Parameters:
    ///   - given: the key that a person gave; `nil` for one that is generated as late as possible, since it stays even if the
    ///     making fails.
    ///   - create: makes the store.
    /// - Returns: the store and its key.
    /// - Throws: ``Failure`` where there is a clone by now, or where somebody else is making one; what `create` throws.
    ///   No clone is left behind then.
    static func make(
        in directory: String, key given: NewKey?, _ create: (StoreProtection) async throws -> OfflineStore
    ) async throws -> (store: OfflineStore, key: NewKey) {
        let isNew = try CloneFile.makeDirectory(directory)
        let path = directory + "/clone.lock"
        let lock = try lock(path, of: directory)
        defer { withExtendedLifetime(lock) {} }
        do {
            // It goes while it is held: nobody finds it beside the store, and whoever waits for it takes another.
            defer { unlink(path) }
            // Since the service was asked how much there is, and a person for more, others may have made one.
            try CloneFile.requireNone(in: directory)
            try await CloneFile.unfinished(in: directory)?.removeUnfinished(in: directory, given?.protection)
            let key = try given ?? NewKey.generated(for: directory)
            // Said before the store is made, so that a clone that is killed meanwhile is known as such and can be
            // made again; without it a store would be left whose key nobody knows.
            try CloneFile(key: key.place, isUnfinished: true).write(in: directory)
            return (try await filled(directory, key, create: create), key)
        } catch {
            // It stays where somebody else has put something into it.
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
                message: "\(path) cannot be written: \(String(cString: strerror(code))).",
                advice: "Is the disk full, or the directory somebody else's?")
        }
        guard let lock else {
            throw Failure(
                message: "Another command is making a clone in \(directory).",
                advice: "Wait until it is done, or name another directory after the URL.")
        }
        return lock
    }

    /// The store, once its clone says that it is complete.
    private static func filled(
        _ directory: String, _ key: NewKey, create: (StoreProtection) async throws -> OfflineStore
    ) async throws -> OfflineStore {
        let store: OfflineStore
        do {
            store = try await create(key.protection)
        } catch {
            // No store is left of it. One that is there belongs to who made it at the same time, by other means.
            CloneFile.remove(in: directory)
            throw error
        }
        do {
            try CloneFile(key: key.place).write(in: directory)
            return store
        } catch {
            try? store.close()
            try? await CloneFile(key: key.place).removeUnfinished(in: directory, key.protection)
            throw error
        }
    }
}
