import Foundation
import ODataSQL
import Secrets
import Synchronization

/// An encrypted store in a folder of its own, which is made when it is first used and goes with it.
final class EncryptedStore: Sendable {
    private let folder = NSTemporaryDirectory() + "hot-paths-\(getpid())"
    private let database = Mutex<StoreDatabase?>(nil)

    deinit {
        _ = try? database.withLock { try $0?.close() }
        try? FileManager.default.removeItem(atPath: folder)
    }

    /// The store with its tables.
    func opened(_ layout: OfflineLayout) throws -> StoreDatabase {
        try database.withLock { database in
            if let database { return database }
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            let opened = try StoreDatabase.open(
                path: folder + "/store.db", protection: .encrypted(.key(.generate())))
            try opened.pool.write { try layout.create(in: $0) }
            database = opened
            return opened
        }
    }
}
