import EncryptedSQLite
import Foundation
import GRDB

/// A look at an encrypted database beside its log, by a connection that only reads, before one that writes is opened.
///
/// A file that was cut is refused here: SQLite would find zeros in the place of what is missing, and moving the log into it
/// would make them genuine. As long as this connection is open, nobody moves the log by closing the database, whatever else
/// is wrong with it.
struct LogInspection {
    private let connection: DatabaseQueue

    /// Opens the connection and looks.
    ///
    /// - Throws: ``StoreError/corrupt(message:)`` for a file that was cut; `DatabaseError` where SQLite cannot read it.
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

    /// Within a transaction, so that the file and the log belong together.
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
