import GRDB

/// A statement that is prepared on first use.
final class LazyStatement {
    private let sql: String
    private let database: Database
    private var statement: BoundStatement?

    init(_ sql: String, in database: Database) {
        self.sql = sql
        self.database = database
    }

    /// The prepared statement.
    ///
    /// - Throws: Errors of SQLite if the statement cannot be prepared.
    var prepared: BoundStatement {
        get throws {
            if let statement { return statement }
            let made = try BoundStatement(sql, in: database)
            statement = made
            return made
        }
    }
}
