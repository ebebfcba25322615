import GRDB
import ODataSQL

/// Columns with unique values in a table.
///
/// A statement with `OR REPLACE`, or a conflict clause `REPLACE`, deletes conflicting rows. SQLite fires no
/// triggers for them unless `recursive_triggers` is on, and that setting would change the effect of the
/// database's own triggers. Therefore, triggers look up such rows beforehand, by each key of the table.
struct UniqueKey: Sendable {
    /// The columns with their collations; `nil` for the rowid.
    let columns: [(name: String, collation: String?)]
    /// Whether the key is the rowid.
    let isRowID: Bool
    /// Whether a column is computed from other columns. A statement changes such a column without naming it.
    let isGenerated: Bool
    /// The name of an index made by CREATE INDEX, which may be dropped. Without the index, each look-up would
    /// read the whole table.
    let index: String?

    /// An event that may replace a row.
    enum Event: String, CaseIterable {
        case insert, update
    }

    /// Returns the SQL of a trigger before an event, up to its body.
    ///
    /// - Parameter schema: `main.` before the schema table of SQLite for a temporary trigger; empty for a
    ///   trigger in the database.
    func trigger(before event: Event, of table: String, schema: String = "") -> String {
        var text = "BEFORE \(event.rawValue.uppercased())"
        // A statement may use several names for the rowid.
        if event == .update, !isRowID, !isGenerated {
            text += " OF \(columns.map { $0.name.sqlIdentifier }.joined(separator: ", "))"
        }
        text += " ON \(schema)\(table.sqlIdentifier)"
        if let index {
            text += """
                 WHEN EXISTS (SELECT 1 FROM \(schema)sqlite_master WHERE type = 'index' \
                AND name = \(index.sqlLiteral))
                """
        }
        return text
    }

    /// The condition that the row `r` has the key of `NEW`.
    var condition: String {
        columns.map { column in
            let name = column.name.sqlIdentifier
            let collation = column.collation.map { " COLLATE \($0.sqlIdentifier)" } ?? ""
            return "r.\(name) = NEW.\(name)\(collation)"
        }.joined(separator: " AND ")
    }

    // MARK: Reading

    /// Returns the keys of a table, and whether it has unique indexes on expressions or on a part of the rows.
    /// Triggers cannot look up rows by such indexes.
    static func all(of storage: TableStorage, in database: Database) throws -> (keys: [UniqueKey], hasOthers: Bool) {
        var keys: [UniqueKey] = []
        var hasOthers = false
        if let rowID = storage.rowID {
            keys.append(UniqueKey(columns: [(rowID, nil)], isRowID: true, isGenerated: false, index: nil))
        }
        let generated = Set(
            try String.fetchAll(
                database, sql: "SELECT name FROM pragma_table_xinfo(?) WHERE hidden > 1", arguments: [storage.table]))
        let indexes = try Row.fetchAll(
            database, sql: "SELECT name, origin, partial FROM pragma_index_list(?) WHERE \"unique\" ORDER BY name",
            arguments: [storage.table])
        for index in indexes {
            let columns = try Row.fetchAll(
                database, sql: "SELECT name, coll FROM pragma_index_xinfo(?) WHERE key ORDER BY seqno",
                arguments: [index["name"]]
            ).map { (name: $0["name"] as String?, collation: $0["coll"] as String?) }
            let named = columns.compactMap { column in column.name.map { (name: $0, collation: column.collation) } }
            // A part without a name is an expression.
            guard !(index["partial"] as Bool), named.count == columns.count else {
                hasOthers = true
                continue
            }
            keys.append(
                UniqueKey(
                    columns: named, isRowID: false, isGenerated: named.contains { generated.contains($0.name) },
                    index: index["origin"] == "c" ? index["name"] : nil))
        }
        return (keys, hasOthers)
    }
}
