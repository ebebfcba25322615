import GRDB

/// A statement that is prepared when it is needed for the first time.
final class LazyStatement {
    private let sql: String
    private let database: Database
    private var statement: BoundStatement?

    init(_ sql: String, in database: Database) {
        self.sql = sql
        self.database = database
    }

    /// The statement.
    ///
    /// - Throws: errors of SQLite where it cannot be prepared.
    var prepared: BoundStatement {
        get throws {
            if let statement { return statement }
            let made = try BoundStatement(sql, in: database)
            statement = made
            return made
        }
    }
}
