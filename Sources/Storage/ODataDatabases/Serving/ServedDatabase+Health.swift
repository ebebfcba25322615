import Foundation
import GRDB
import ODataSQL

extension ServedDatabase {
    /// The time for which ``checkHealth()`` waits for a lock of another program, in seconds.
    public static let healthTimeout: TimeInterval = 1

    /// Checks whether requests can be answered: the file is still the one that was opened, a new connection gets the
    /// lock for reading, and, unless the database is served read-only, the lock for writing. Nothing is changed.
    ///
    /// Open connections answer from their caches even if the file has been removed, so this check opens its own.
    ///
    /// - Throws: ``ForeignDatabaseError`` with the reason.
    public func checkHealth() async throws {
        let path = connections.path
        guard let current = FileIdentity(path: path) else { throw ForeignDatabaseError.notFound(path: path) }
        guard current == identity else { throw ForeignDatabaseError.replaced(path: path) }
        // A damaged file is not opened with its log, which SQLite would delete.
        try ForeignConnections.checkBeginning(path)
        var configuration = Configuration()
        configuration.readonly = options.isReadOnly
        configuration.busyMode = .timeout(Self.healthTimeout)
        configuration.label = "outpost.health"
        do {
            let queue = try DatabaseQueue(path: path, configuration: configuration)
            defer { try? queue.close() }
            try await queue.writeWithoutTransaction { [isReadOnly = options.isReadOnly] database in
                try database.inTransaction(isReadOnly ? .deferred : .immediate) {
                    _ = try Int.fetchOne(database, sql: "SELECT COUNT(*) FROM sqlite_master")
                    return .rollback
                }
            }
        } catch let error as DatabaseError {
            throw ForeignDatabaseError(error, path: path)
        }
    }
}

/// The identity of a file on its device, whatever its name.
struct FileIdentity: Equatable, Sendable {
    private let device: UInt64
    private let number: UInt64

    /// - Returns: `nil` if there is no such file.
    init?(path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        (device, number) = (UInt64(truncatingIfNeeded: status.st_dev), UInt64(truncatingIfNeeded: status.st_ino))
    }
}
