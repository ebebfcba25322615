import GRDB
import GRDBSQLite

extension Database {
    /// Whether the main database of the connection is read-only. SQLite opens a file without write permission
    /// and reports no error.
    func isMainReadOnly() throws -> Bool {
        guard let connection = sqliteConnection else { return true }
        return sqlite3_db_readonly(connection, "main") == 1
    }
}
