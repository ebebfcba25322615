import GRDB
import ODataSQL

/// Masks the values in a copy of a store, and keeps the facts for support.
///
/// The tables and columns are listed from the file: a column without an exception here is masked.
enum ValueMask {
    /// The columns of the engine's own tables that show no value of an entity.
    private static let shown: [String: Set<String>] = [
        "outpost_setting": ["name", "value"],
        "outpost_query": [
            "id", "name", "query_group", "text", "entity_set", "is_loaded", "last_download", "is_fresh",
            "retrieves_streams", "parent", "navigation", "is_probed",
        ],
        "outpost_member": ["entity_set", "row_id", "query_id"],
        "outpost_expanded": ["entity_set", "row_id", "relation", "query_id"],
        "outpost_staged": ["id", "query_id", "kind"],
        "outpost_before": ["entity_set", "row_id", "owner"],
        "outpost_queue": [
            "id", "entity_set", "row_id", "kind", "omitted", "state", "request_id", "first_sent", "attempts",
            "created_at", "priority", "change_set", "status", "code", "target", "failed_at", "conflict", "is_merged",
            "counter",
        ],
        "outpost_dependency": ["id", "request", "needs"],
        "outpost_replay": ["counter", "entity_set", "row_id"],
        "outpost_change_log": ["id", "entity_set", "row_id", "operation", "root_set", "root_row"],
        "outpost_log_record": [
            "id", "request_id", "entity_set", "row_id", "at", "operation", "component", "level", "code",
        ],
        "outpost_uploaded": ["entity_set", "row_id"],
        "outpost_shelf": ["id", "entity_set", "row_id", "table_name"],
        "outpost_alias": ["entity_set", "row_id"],
        "outpost_upserted": ["entity_set", "row_id"],
        "outpost_stream": [
            "id", "entity_set", "row_id", "property", "content_type", "length", "is_complete", "is_local",
        ],
        "outpost_stream_chunk": ["id", "stream", "position"],
        "outpost_event": ["id", "at", "kind", "requests", "failures", "bytes"],
        OfflineLayout.hiddenOwnerTable: ["id"],
    ]

    /// The columns of entity tables that show no value.
    private static let shownEverywhere: Set = [
        OfflineLayout.rowIDColumn, OfflineLayout.ownerColumn, OfflineLayout.notLoadedColumn, OfflineLayout.typeColumn,
        OfflineLayout.parentColumn,
    ]

    /// Masks a whole database. SQLite's constraints are disabled meanwhile.
    static func apply(in database: Database) throws {
        try database.setPragma(.ignoreCheckConstraints, "ON")
        defer { try? database.setPragma(.ignoreCheckConstraints, "OFF") }
        // The parameters of queries are personal, and so is the user's name.
        try database.execute(
            sql: "DELETE FROM outpost_setting WHERE name LIKE ? || '%' OR name LIKE ? || '%' OR name = ?",
            arguments: [QueryParameters.prefix, KeptTexts.prefix, OfflineStore.userSetting])
        let tables = try StoreTable.all(in: database)
        // A search index has the words of its rows.
        for table in tables where table.isVirtual { try table.drop(in: database) }
        for table in tables where !table.isVirtual { try mask(table.name, in: database) }
    }

    private static func mask(_ table: String, in database: Database) throws {
        let shown = shown[table] ?? shownEverywhere
        let columns = try String.fetchAll(
            database, sql: "SELECT name FROM pragma_table_xinfo(?) WHERE hidden = 0", arguments: [table])
        let unique = try Set(
            String.fetchAll(
                database,
                sql: """
                    SELECT DISTINCT info.name FROM pragma_index_list(?) AS list, pragma_index_info(list.name) AS info
                    WHERE list."unique" AND info.name IS NOT NULL
                    """, arguments: [table]))
        let assignments = columns.filter { !shown.contains($0) }.map { column in
            let name = column.sqlIdentifier
            return "\(name) = \(unique.contains(column) ? pseudonym(name) : blank(name))"
        }
        guard !assignments.isEmpty else { return }
        try database.execute(
            sql: "UPDATE \(table.sqlIdentifier) SET \(assignments.joined(separator: ", "))")
    }

    /// A meaningless value of the same type and length; null stays null.
    private static func blank(_ column: String) -> String {
        """
        CASE typeof(\(column))
            WHEN 'text' THEN CASE substr(\(column), 1, 1) WHEN '[' THEN '[]' WHEN '{' THEN '{}'
                ELSE substr(replace(hex(zeroblob(length(\(column)))), '0', 'x'), 1, length(\(column))) END
            WHEN 'blob' THEN zeroblob(length(\(column)))
            WHEN 'integer' THEN 0 WHEN 'real' THEN 0.0 END
        """
    }

    /// A random value of the same type, for columns with unique values; null stays null.
    private static func pseudonym(_ column: String) -> String {
        """
        CASE typeof(\(column))
            WHEN 'text' THEN lower(hex(randomblob(16)))
            WHEN 'blob' THEN randomblob(max(16, length(\(column))))
            WHEN 'integer' THEN abs(random() % 9007199254740991)
            WHEN 'real' THEN CAST(random() AS REAL) END
        """
    }
}
