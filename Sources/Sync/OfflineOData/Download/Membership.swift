import GRDB
import ODataModel
import ODataSQL

/// The queries that hold the rows of a table: one query owns a row, the others are recorded in the membership
/// table.
struct Membership {
    let table: TableStorage
    /// The query for which rows are downloaded.
    let query: Int64
    let database: Database
    /// Whether the query's rows are still hidden.
    let isHidden: Bool

    init(table: TableStorage, query: Int64, in database: Database) throws {
        self.table = table
        self.query = query
        self.database = database
        isHidden = try Self.isHidden(query, in: database)
    }

    /// Decides who owns an existing row. The loader gives a local or hidden row to the new query.
    func join(_ rowID: Int64, owner: Int64) throws {
        if owner == 0 {
            guard isHidden else {
                try Self.endUploaded(rowID, table, in: database)
                return try Rows.setOwner(query, table, rowID: rowID, in: database)
            }
            // A visible row stays visible: the query takes it over when it is complete, which may never happen.
            try Rows.setOwner(0, table, rowID: rowID, in: database)
            return try add(query, rowID)
        }
        if try Self.isHidden(owner, in: database) {
            try Rows.setOwner(query, table, rowID: rowID, in: database)
            return try add(owner, rowID)
        }
        try add(query, rowID)
    }

    /// Ends the membership of the query in a row with another owner.
    ///
    /// - Returns: whether it was a member.
    func leave(_ rowID: Int64) throws -> Bool {
        try remove(query, rowID)
        return database.changesCount > 0
    }

    /// Gives a row of the query to another query that holds it.
    ///
    /// - Returns: the other query; `nil` if there is none.
    func handOver(_ rowID: Int64) throws -> Int64? {
        guard let heir = try heir(of: rowID) else { return nil }
        try Rows.setOwner(heir, table, rowID: rowID, in: database)
        try remove(heir, rowID)
        return heir
    }

    /// The query that takes a row over from its owner: one with visible rows, if there is one.
    func heir(of rowID: Int64) throws -> Int64? {
        let statement = try database.cachedStatement(
            sql: """
                SELECT query_id FROM outpost_member WHERE entity_set = ? AND row_id = ?
                ORDER BY query_id IN (SELECT id FROM outpost_hidden_owner), query_id LIMIT 1
                """)
        return try Int64.fetchOne(statement, arguments: [table.set, rowID])
    }

    /// Gives a changed row of the query to another query that holds it. While that query still loads, the row has
    /// no owner, so that the changes stay visible; the query takes it over when it is complete.
    ///
    /// - Returns: the owner, 0 for none; `nil` if no other query holds the row.
    func handOverChanged(_ rowID: Int64) throws -> Int64? {
        guard let heir = try heir(of: rowID) else { return nil }
        guard try Self.isHidden(heir, in: database) else { return try handOver(rowID) }
        try Rows.setOwner(0, table, rowID: rowID, in: database)
        // The other query may never be complete.
        try Self.markUploaded(rowID, of: table.set, in: database)
        return 0
    }

    func add(_ query: Int64, _ rowID: Int64) throws {
        try database.execute(
            sql: "INSERT OR IGNORE INTO outpost_member(entity_set, row_id, query_id) VALUES (?, ?, ?)",
            arguments: [table.set, rowID, query])
    }

    func remove(_ query: Int64, _ rowID: Int64) throws {
        try database.execute(
            sql: "DELETE FROM outpost_member WHERE entity_set = ? AND row_id = ? AND query_id = ?",
            arguments: [table.set, rowID, query])
    }

    /// Marks a row as uploaded, with a server version that no download has brought yet. If no query holds the
    /// row, the next download decides about it.
    static func markUploaded(_ rowID: Int64, of set: String, in database: Database) throws {
        try database.cachedStatement(
            sql: "INSERT OR IGNORE INTO outpost_uploaded(entity_set, row_id) VALUES (?, ?)"
        ).execute(arguments: [set, rowID])
    }

    /// Removes the mark *uploaded* from a row that a query owns now.
    static func endUploaded(_ rowID: Int64, _ table: TableStorage, in database: Database) throws {
        try database.execute(
            sql: "DELETE FROM outpost_uploaded WHERE entity_set = ? AND row_id = ?", arguments: [table.set, rowID])
    }

    private static func isHidden(_ query: Int64, in database: Database) throws -> Bool {
        try Bool.fetchOne(
            database, sql: "SELECT EXISTS(SELECT 1 FROM outpost_hidden_owner WHERE id = ?)", arguments: [query])
            ?? false
    }

    /// Makes a loaded query the owner of its rows that a loading query owns, so that a row is visible as soon as
    /// one of its queries is complete. Local rows and locally deleted rows that it brought are included: after an
    /// undo of the deletion, the row belongs to the query.
    static func claimHiddenRows(of query: Int64, _ table: TableStorage, in database: Database) throws {
        guard let column = table.visibility?.ownerColumn, let id = table.rowID else { return }
        let (owner, row) = (column.sqlIdentifier, id.sqlIdentifier)
        let rows = try Row.fetchAll(
            database,
            sql: """
                SELECT m.row_id, COALESCE(t.\(owner), b.owner) AS owner FROM outpost_member AS m
                LEFT JOIN \(table.table.sqlIdentifier) AS t ON t.\(row) = m.row_id
                LEFT JOIN outpost_before AS b ON b.entity_set = m.entity_set AND b.row_id = m.row_id
                WHERE m.entity_set = ? AND m.query_id = ?
                    AND (COALESCE(t.\(owner), b.owner) = 0
                        OR COALESCE(t.\(owner), b.owner) IN (SELECT id FROM outpost_hidden_owner))
                """, arguments: [table.set, query])
        for row in rows {
            let rowID: Int64 = row[0]
            let previous: Int64 = row[1]
            try Rows.setOwner(query, table, rowID: rowID, in: database)
            try BeforeImages.setOwner(query, set: table.set, rowID: rowID, in: database)
            try database.execute(
                sql: "DELETE FROM outpost_member WHERE entity_set = ? AND row_id = ? AND query_id = ?",
                arguments: [table.set, rowID, query])
            guard previous != 0 else {
                try endUploaded(rowID, table, in: database)
                continue
            }
            try database.execute(
                sql: "INSERT OR IGNORE INTO outpost_member(entity_set, row_id, query_id) VALUES (?, ?, ?)",
                arguments: [table.set, rowID, previous])
        }
    }
}
