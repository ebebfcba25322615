import GRDB
import ODataSQL

/// Columns whose values no two rows of a table have in common.
///
/// A statement with `OR REPLACE`, or a conflict clause `REPLACE`, takes out the row that is in the way, and SQLite fires no
/// trigger for it unless `recursive_triggers` is on, which would alter what the database's own triggers do. So triggers
/// look that row up beforehand, by each key of its table.
struct UniqueKey: Sendable {
    /// The columns with the collations by which their values are the same; none for the number of a row.
    let columns: [(name: String, collation: String?)]
    /// Whether it is the number by which SQLite finds rows.
    let isRowID: Bool
    /// Whether a column is computed from others, which a statement changes without naming it.
    let isGenerated: Bool
    /// The index where it stands on its own and may be dropped: without it, each look-up would read the whole table.
    let index: String?

    /// What is done that may replace a row.
    enum Event: String, CaseIterable {
        case insert, update
    }

    /// What a trigger begins with, up to its body, that runs before an event of a table.
    ///
    /// - Parameter schema: `main.` in front of SQLite's own table of all indexes; nothing in triggers of the database itself.
    func trigger(before event: Event, of table: String, schema: String = "") -> String {
        var text = "BEFORE \(event.rawValue.uppercased())"
        // A statement may call the number of a row by several names.
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

    /// Whether the row `r` has the key of `NEW`.
    var condition: String {
        columns.map { column in
            let name = column.name.sqlIdentifier
            let collation = column.collation.map { " COLLATE \($0.sqlIdentifier)" } ?? ""
            return "r.\(name) = NEW.\(name)\(collation)"
        }.joined(separator: " AND ")
    }

    // MARK: Reading

    /// The keys of a table, and whether there are others by which no row can be looked up so: of expressions, and of a part
    /// of the rows.
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
