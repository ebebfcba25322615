import GRDB

/// The numbers of rows, which are unique over the lifetime of a table.
enum RowNumbers {
    /// The last number that a table assigned; `nil` if it assigned none, or does not count.
    static func last(of table: String, in database: Database) throws -> Int64? {
        try Int64.fetchOne(database, sql: "SELECT seq FROM sqlite_sequence WHERE name = ?", arguments: [table])
    }

    /// Lets a table continue after a number.
    static func setLast(_ number: Int64, of table: String, in database: Database) throws {
        try database.execute(sql: "DELETE FROM sqlite_sequence WHERE name = ?", arguments: [table])
        try database.execute(sql: "INSERT INTO sqlite_sequence(name, seq) VALUES (?, ?)", arguments: [table, number])
    }
}
