import EncryptedSQLite
import Foundation
import GRDB
import Synchronization

/// A lock for reading an encrypted database without writing anything. No other connection, in this process or
/// another, can have the database open at the same time.
package final class QuietLock: Sendable {
    private let database: Mutex<ExclusiveDatabase?>

    /// Takes the lock.
    ///
    /// - Throws: `EncryptedDatabaseError.busy(path:)` if the database is open elsewhere.
    package init(path: String) throws(EncryptedDatabaseError) {
        database = Mutex(try ExclusiveDatabase(path: path))
    }

    /// Releases the lock, which is otherwise released with this object.
    package func release() { database.withLock { $0 = nil } }

    /// The free space in bytes below which a device counts as full. SQLite's index of a log has at least 32 KiB.
    private static let neededRoom = 64 << 10

    /// Returns whether the error of opening a database may come from a full device, so that the database can still
    /// be read under this lock.
    package static func mayHelp(_ error: StoreError, path: String) -> Bool {
        switch error {
        case .diskFull: true
        // SQLite could not create a file beside the database.
        case .inputOutput: isFull(path)
        default: false
        }
    }

    /// Returns whether the device of a file has no free space.
    package static func isFull(_ path: String) -> Bool {
        var system = statvfs()
        guard statvfs(path, &system) == 0 else { return false }
        return UInt64(system.f_bavail) * UInt64(system.f_frsize) < UInt64(neededRoom)
    }
}
