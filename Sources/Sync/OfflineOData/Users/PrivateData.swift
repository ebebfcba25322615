import GRDB
import ODataModel
import ODataSQL

/// All data in a store that belong to its user: everything except the rows of loaded shared queries, with the
/// properties that these queries bring.
struct PrivateData {
    let mapping: StorageMapping
    let indexes: PropertyIndexes

    /// Removes the user's data. No change is pending in the store.
    ///
    /// The tables are listed from the file, so that none can be forgotten.
    func remove(in database: Database) throws {
        // Overwrites deleted data; this is the default only on Debian.
        try database.setPragma(.secureDelete, "ON")
        // The words of removed rows stay in the pages of search indexes, which are rebuilt.
        let searches = try indexes.list(in: database).filter(\.isSearch)
        for index in searches { try indexes.drop(index, in: database) }
        let queries = try QueryTable.all(in: database)
        let shared = queries.filter { $0.isShared && $0.isLoaded }
        let isShared = Set(shared.map(\.id))
        for query in queries where !isShared.contains(query.id) { try remove(query, in: database) }
        let list = "(\(isShared.sorted().map(String.init).joined(separator: ",")))"
        try removeRows(unlessOwnedBy: list, in: database)
        try unloadRest(of: shared, in: database)
        try removeStreams(unlessOf: shared.filter(\.retrievesStreams), in: database)
        try removeEngineRows(unlessOf: list, in: database)
        try ServiceData.removeParameters(in: database)
        try database.execute(sql: "UPDATE outpost_query SET is_fresh = 0, is_probed = 0 WHERE id NOT IN \(list)")
        for index in searches { try indexes.createSearch(on: index.set, in: database) }
    }

    /// Removes the rows that only one query holds, and the properties that only it has brought of other rows.
    private func remove(_ query: StoredQuery, in database: Database) throws {
        let links = try ExpandedRelations.links(of: query, mapping)
        let removals = query.sets(in: mapping).compactMap { mapping.tables[$0] }.map {
            QueryRemoval(query: query.id, table: $0, mapping: mapping, links: links)
        }
        for removal in removals { try removal.begin(in: database) }
        for removal in removals {
            var last = Int64.min
            while let step = try removal.removeSome(after: last, in: database) { last = step.last }
        }
        try QueryTable.markNotLoaded(query.id, in: database)
        try QueryTable.forgetLinks(of: query.id, in: database)
        try database.execute(
            sql: "UPDATE outpost_query SET last_download = NULL WHERE id = ?", arguments: [query.id])
    }

    /// Removes the rows that no shared query owns, such as local creations, and the relations of removed rows.
    private func removeRows(unlessOwnedBy list: String, in database: Database) throws {
        for table in mapping.tables.values.sorted(by: { $0.set < $1.set }) {
            let name = table.table.sqlIdentifier
            guard let id = table.rowID?.sqlIdentifier,
                let owner = table.visibility?.ownerColumn.sqlIdentifier
            else {
                try database.execute(sql: "DELETE FROM \(name)")
                continue
            }
            // A shared query that was a member has to bring it again.
            let holders = try Int64.fetchSet(
                database,
                sql: """
                    SELECT DISTINCT m.query_id FROM outpost_member AS m JOIN \(name) AS t ON t.\(id) = m.row_id
                    WHERE m.entity_set = ? AND m.query_id IN \(list) AND t.\(owner) NOT IN \(list)
                    """, arguments: [table.set])
            for query in try QueryTable.all(in: database) where holders.contains(query.id) {
                try QueryTable.requireComparison(of: query, in: database)
            }
            try database.execute(sql: "DELETE FROM \(name) WHERE \(owner) NOT IN \(list)")
        }
        for table in mapping.tables.values {
            for storage in table.navigation.values {
                guard case .link(let target, let link, let source, let other) = storage else { continue }
                for (column, end) in [(source, table), (other, mapping.tables[target])] {
                    guard let end, let id = end.rowID else { continue }
                    try database.execute(
                        sql: """
                            DELETE FROM \(link.sqlIdentifier)
                            WHERE \(column.sqlIdentifier) NOT IN
                                (SELECT \(id.sqlIdentifier) FROM \(end.table.sqlIdentifier))
                            """)
                }
            }
        }
    }

    /// Unloads the properties that no shared query brings, for example from the response to a change.
    private func unloadRest(of shared: [StoredQuery], in database: Database) throws {
        for set in Set(shared.flatMap { $0.sets(in: mapping) }).sorted() {
            guard let table = mapping.tables[set], let id = table.rowID else { continue }
            let columns = HeldColumns(table: table, mapping: mapping, in: database)
            guard try !columns.areWhole(but: 0) else { continue }
            let loader = try BulkLoader(set: set, mapping: mapping, in: database)
            let rows = try Int64.fetchAll(
                database,
                sql: "SELECT \(id.sqlIdentifier) FROM \(table.table.sqlIdentifier)")
            for row in rows { try loader.unload(row, but: columns.held(row, but: 0)) }
        }
    }

    /// Removes the streams of entities that none of the given queries holds.
    private func removeStreams(unlessOf queries: [StoredQuery], in database: Database) throws {
        let list = "(\(queries.map { String($0.id) }.joined(separator: ",")))"
        try database.execute(sql: "DELETE FROM outpost_stream WHERE is_local = 1 OR is_complete = 0")
        let sets = try String.fetchAll(database, sql: "SELECT DISTINCT entity_set FROM outpost_stream")
        for set in sets {
            var isHeld = "FALSE"
            if let table = mapping.tables[set], let id = table.rowID?.sqlIdentifier,
                let owner = table.visibility?.ownerColumn.sqlIdentifier
            {
                isHeld = """
                    row_id IN (SELECT \(id) FROM \(table.table.sqlIdentifier) WHERE \(owner) IN \(list))
                        OR row_id IN (SELECT m.row_id FROM outpost_member AS m
                            WHERE m.entity_set = outpost_stream.entity_set AND m.query_id IN \(list))
                    """
            }
            try database.execute(
                sql: "DELETE FROM outpost_stream WHERE entity_set = ? AND NOT (\(isHeld))", arguments: [set])
        }
    }

    /// Empties the engine's tables and unknown tables, except for records about the rows that stay.
    private func removeEngineRows(unlessOf list: String, in database: Database) throws {
        let rows = mapping.tables.values.flatMap { table in
            [table.table]
                + table.navigation.values.compactMap { storage in
                    if case .link(_, let link, _, _) = storage { link } else { nil }
                }
        }
        // Links of streams are removed with them.
        let kept = ServiceData.kept.union(rows)
            .union(["outpost_stream", "outpost_stream_chunk", OfflineLayout.hiddenOwnerTable])
        for table in try StoreTable.all(in: database) where !table.isVirtual && !kept.contains(table.name) {
            switch table.name {
            case "outpost_member", "outpost_unreadable":
                try database.execute(
                    sql: "DELETE FROM \(table.name) WHERE query_id IS NULL OR query_id NOT IN \(list)")
            case "outpost_link":
                try removeLinks(in: database)
            default:
                try database.execute(sql: "DELETE FROM \(table.name.sqlIdentifier)")
            }
        }
    }

    /// Removes the addresses of removed entities.
    private func removeLinks(in database: Database) throws {
        for set in try String.fetchAll(database, sql: "SELECT DISTINCT entity_set FROM outpost_link") {
            let table = mapping.tables[set]
            let isHere = table?.rowID.map { id in
                "row_id IN (SELECT \(id.sqlIdentifier) FROM \(table?.table.sqlIdentifier ?? ""))"
            }
            try database.execute(
                sql: "DELETE FROM outpost_link WHERE entity_set = ? AND NOT (\(isHere ?? "FALSE"))", arguments: [set])
        }
    }
}
