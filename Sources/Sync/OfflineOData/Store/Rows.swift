import GRDB
import ODataModel
import ODataSQL

/// Reads and writes the bookkeeping columns of entity tables, and finds rows by their values.
enum Rows {
    /// The query that owns a row: 0 for local, `nil` if there is no such row.
    static func owner(_ table: TableStorage, rowID: Int64, in database: Database) throws -> Int64? {
        guard let id = table.rowID, let column = table.visibility?.ownerColumn else { return nil }
        let statement = try database.cachedStatement(
            sql: "SELECT \(column.sqlIdentifier) FROM \(table.table.sqlIdentifier) WHERE \(id.sqlIdentifier) = ?")
        return try Int64.fetchOne(statement, arguments: [rowID])
    }

    static func setOwner(_ owner: Int64, _ table: TableStorage, rowID: Int64, in database: Database) throws {
        guard let column = table.visibility?.ownerColumn else { return }
        try set(column, to: owner.databaseValue, table, rowID: rowID, in: database)
    }

    static func setETag(_ etag: String?, _ table: TableStorage, rowID: Int64, in database: Database) throws {
        guard case .column(let column) = table.etag else { return }
        try set(column, to: etag.databaseValue, table, rowID: rowID, in: database)
    }

    private static func set(
        _ column: String, to value: DatabaseValue, _ table: TableStorage, rowID: Int64, in database: Database
    ) throws {
        guard let id = table.rowID else { return }
        try database.cachedStatement(
            sql: "UPDATE \(table.table.sqlIdentifier) SET \(column.sqlIdentifier) = ? WHERE \(id.sqlIdentifier) = ?"
        ).execute(arguments: [value, rowID])
    }

    /// All rows with the given property values.
    static func all(
        _ table: TableStorage, _ values: [String: ODataValue], in database: Database
    ) throws -> [Int64] {
        guard let id = table.rowID, let condition = try condition(table, values) else { return [] }
        return try Int64.fetchAll(
            database, sql: "SELECT \(id.sqlIdentifier) FROM \(table.table.sqlIdentifier) WHERE \(condition.sql)",
            arguments: condition.arguments)
    }

    /// Replaces one set of property values with another in every row that has the first: the effect of an
    /// assigned key on rows that refer to it.
    ///
    /// - Returns: the number of changed rows.
    @discardableResult
    static func replace(
        _ old: [String: ODataValue], with new: [String: ODataValue], _ table: TableStorage, in database: Database
    ) throws -> Int {
        guard let found = try condition(table, old), let assigned = try assignment(table, new) else { return 0 }
        try database.execute(
            sql: "UPDATE \(table.table.sqlIdentifier) SET \(assigned.sql) WHERE \(found.sql)",
            arguments: assigned.arguments + found.arguments)
        return database.changesCount
    }

    /// Sets property values of one row.
    static func update(
        _ table: TableStorage, rowID: Int64, _ values: [String: ODataValue], in database: Database
    ) throws {
        guard let id = table.rowID, let assigned = try assignment(table, values) else { return }
        try database.execute(
            sql: "UPDATE \(table.table.sqlIdentifier) SET \(assigned.sql) WHERE \(id.sqlIdentifier) = ?",
            arguments: assigned.arguments + [rowID])
    }

    private static func condition(
        _ table: TableStorage, _ values: [String: ODataValue]
    ) throws -> (sql: String, arguments: StatementArguments)? {
        guard let terms = try terms(table, values), !terms.isEmpty else { return nil }
        return (
            terms.map { "\($0.column.sqlIdentifier) = ?" }.joined(separator: " AND "),
            StatementArguments(terms.map(\.value))
        )
    }

    private static func assignment(
        _ table: TableStorage, _ values: [String: ODataValue]
    ) throws -> (sql: String, arguments: StatementArguments)? {
        guard let terms = try terms(table, values), !terms.isEmpty else { return nil }
        return (
            terms.map { "\($0.column.sqlIdentifier) = ?" }.joined(separator: ", "),
            StatementArguments(terms.map(\.value))
        )
    }

    private static func terms(
        _ table: TableStorage, _ values: [String: ODataValue]
    ) throws -> [(column: String, value: DatabaseValue)]? {
        var terms: [(column: String, value: DatabaseValue)] = []
        for (name, value) in values.sorted(by: { $0.key < $1.key }) {
            // Derived types have more columns than the type of the set.
            guard let column = table.column(at: name) else { return nil }
            terms.append((column.name, try column.codec.encode(value)))
        }
        return terms
    }
}
