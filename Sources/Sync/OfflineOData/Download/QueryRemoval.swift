import GRDB
import ODataModel
import ODataSQL

/// Removes a defining query, and the rows that only it holds, in steps that are transactions.
struct QueryRemoval: Sendable {
    let query: Int64
    let table: TableStorage
    let mapping: StorageMapping
    /// The link-table relations that the query expands for the rows of this table.
    private let links: [String: NavigationStorage]

    /// - Parameter links: the link-table relations that the query expands, by entity set.
    init(
        query: Int64, table: TableStorage, mapping: StorageMapping, links: [String: [String: NavigationStorage]]
    ) {
        self.query = query
        self.table = table
        self.mapping = mapping
        self.links = links[table.set] ?? [:]
    }

    /// The most rows that one step deletes.
    static let step = 500

    /// Hides the query's rows, after rows of other queries and rows with local changes were handed over.
    func begin(in database: Database) throws {
        guard !links.isEmpty else { return try giveAway(in: database) }
        // Local changes of relations stay on top of the rows that the query has brought.
        try Relations(mapping: mapping).beneathWaiting(QueueTable(model: mapping.model), in: database) {
            try giveAway(in: database)
        }
    }

    private func giveAway(in database: Database) throws {
        guard let column = table.visibility?.ownerColumn, let id = table.rowID else { return }
        var applier = try RowApplier(table: table, mapping: mapping, query: query, in: database)
        let shared = try Int64.fetchAll(
            database,
            sql: """
                SELECT t.\(id.sqlIdentifier) FROM \(table.table.sqlIdentifier) AS t
                WHERE t.\(column.sqlIdentifier) = ?1 AND (
                    EXISTS(SELECT 1 FROM outpost_member AS m
                        WHERE m.entity_set = ?2 AND m.row_id = t.\(id.sqlIdentifier))
                    OR EXISTS(SELECT 1 FROM outpost_before AS b
                        WHERE b.entity_set = ?2 AND b.row_id = t.\(id.sqlIdentifier)))
                """, arguments: [query, table.set])
        for rowID in shared {
            try applier.release(rowID)
            try letGoOfRelations(of: rowID, in: database)
        }
        for rowID in try Containment(mapping: mapping).rows(containingChanges: table, in: database)
        where try Rows.owner(table, rowID: rowID, in: database) == query {
            try applier.release(rowID)
        }
        // Locally deleted rows that it holds: after an undo of the deletion, no query holds them.
        let deleted = try Int64.fetchAll(
            database, sql: "SELECT row_id FROM outpost_before WHERE entity_set = ? AND owner = ?",
            arguments: [table.set, query])
        for rowID in deleted { try applier.release(rowID) }
        // Properties of shared rows that only this query has brought are unloaded.
        if try !links.isEmpty || !HeldColumns(table: table, mapping: mapping, in: database).areWhole(but: query) {
            let members = try Int64.fetchAll(
                database, sql: "SELECT row_id FROM outpost_member WHERE query_id = ? AND entity_set = ?",
                arguments: [query, table.set])
            for rowID in members {
                try applier.release(rowID)
                try letGoOfRelations(of: rowID, in: database)
            }
        }
        try database.execute(
            sql: "DELETE FROM outpost_member WHERE query_id = ? AND entity_set = ?", arguments: [query, table.set])
        try database.execute(sql: "DELETE FROM outpost_staged WHERE query_id = ?", arguments: [query])
        try QueryTable.markNotLoaded(query, in: database)
    }

    /// Releases the relations of a shared row that only this query has brought.
    private func letGoOfRelations(of rowID: Int64, in database: Database) throws {
        guard !links.isEmpty, try Rows.owner(table, rowID: rowID, in: database) ?? 0 != 0 else { return }
        // Relations that other queries may bring are settled by their downloads.
        try ExpandedRelations(query: query, doubts: RelationDoubts(), mapping: mapping, in: database)
            .letGo(of: rowID, links)
    }

    /// Deletes some of the hidden rows, in the order of their internal ids.
    ///
    /// - Returns: the number of rows, and the last one; `nil` if none was left.
    func removeSome(after last: Int64, in database: Database) throws -> (count: Int, last: Int64)? {
        guard let column = table.visibility?.ownerColumn, let id = table.rowID else { return nil }
        let loader = try BulkLoader(set: table.set, mapping: mapping, in: database)
        let rows = try Int64.fetchAll(
            database,
            sql: """
                SELECT \(id.sqlIdentifier) FROM \(table.table.sqlIdentifier)
                WHERE \(id.sqlIdentifier) > ? AND \(column.sqlIdentifier) = ?
                ORDER BY \(id.sqlIdentifier) LIMIT \(Self.step)
                """, arguments: [last, query])
        for rowID in rows { try loader.delete(rowID) }
        return rows.last.map { (rows.count, $0) }
    }

    func finish(in database: Database) throws {
        try database.execute(sql: "DELETE FROM outpost_member WHERE query_id = ?", arguments: [query])
        try QueryTable.remove(query, in: database)
    }
}
