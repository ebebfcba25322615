import EncryptedSQLite
import Foundation
import GRDB

/// A check of an encrypted database and its write-ahead log on a read-only connection, before a connection for
/// writing is opened.
///
/// Truncated files are refused. SQLite would read missing pages as zeros, and a checkpoint would then make them
/// permanent.
///
/// While this connection is open, no other connection moves the log into the database by closing it.
struct LogInspection {
    private let connection: DatabaseQueue

    /// Opens the connection and checks the database.
    ///
    /// - Throws: ``StoreError/corrupt(message:)`` if the file was truncated; `DatabaseError` if SQLite cannot read
    ///   it.
    init(path: String, location: String, busyTimeout: TimeInterval) throws {
        var configuration = Configuration()
        configuration.readonly = true
        configuration.foreignKeysEnabled = false
        configuration.busyMode = .timeout(busyTimeout)
        configuration.label = "outpost.log"
        connection = try DatabaseQueue(path: location, configuration: configuration)
        do {
            try connection.read { try Self.requireAllPages(of: path, in: $0) }
        } catch {
            close()
            throw error
        }
    }

    /// Checks that no page is missing. The caller's transaction keeps the file and the log consistent.
    private static func requireAllPages(of path: String, in database: Database) throws {
        let count: Int = try database.pragma(.pageCount) ?? 0
        let missing: Int
        do throws(EncryptedDatabaseError) {
            missing = try EncryptedDatabase.missingPages(at: path, of: count)
        } catch {
            throw StoreError(error, path: path)
        }
        guard missing > 0 else { return }
        let pages = missing == 1 ? "1 page is" : "\(missing) pages are"
        throw StoreError.corrupt(message: "the file was cut: \(pages) missing at its end, and not in its log")
    }

    func close() { try? connection.close() }
}
