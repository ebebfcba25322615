import EncryptedSQLite
import Foundation
import GRDB
import Synchronization

/// The lock under which an encrypted database is read without writing anything: nobody else, in this process or another, can
/// have the database open meanwhile.
package final class QuietLock: Sendable {
    private let database: Mutex<ExclusiveDatabase?>

    /// Takes the lock.
    ///
    /// - Throws: `EncryptedDatabaseError.busy(path:)` while the database is open elsewhere.
    package init(path: String) throws(EncryptedDatabaseError) {
        database = Mutex(try ExclusiveDatabase(path: path))
    }

    /// Gives the lock back; once nobody holds this object, it is given back anyway.
    package func release() { database.withLock { $0 = nil } }

    /// The room in bytes below which a device counts as full: SQLite makes the index of a log 32 KiB long at least.
    private static let neededRoom = 64 << 10

    /// Whether an error at opening comes of a full device, so that the database can still be read quietly.
    package static func mayHelp(_ error: StoreError, path: String) -> Bool {
        switch error {
        case .diskFull: true
        // A file that cannot be made beside the database.
        case .inputOutput: isFull(path)
        default: false
        }
    }

    /// Whether the device of a file has no room left.
    package static func isFull(_ path: String) -> Bool {
        var system = statvfs()
        guard statvfs(path, &system) == 0 else { return false }
        return UInt64(system.f_bavail) * UInt64(system.f_frsize) < UInt64(neededRoom)
    }
}
