import GRDB
import GRDBSQLite

extension Database {
    /// Whether the main database of the connection cannot be written: SQLite opens a file that it may only read
    /// without saying so.
    func isMainReadOnly() throws -> Bool {
        guard let connection = sqliteConnection else { return true }
        return sqlite3_db_readonly(connection, "main") == 1
    }
}
