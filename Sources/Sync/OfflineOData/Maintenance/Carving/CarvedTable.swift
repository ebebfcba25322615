import GRDB

/// The columns of a table that receives rows which were read without SQLite.
struct CarvedTable {
    private struct Column {
        let name: String
        let type: String
        let isRequired: Bool
        /// Its position in the primary key, from 1; 0 outside of it.
        let key: Int
        /// Whether it is computed, so that it is not written.
        let isComputed: Bool
    }

    let name: String
    /// The columns in the order of a record.
    private let columns: [Column]
    /// Whether rows have row ids.
    let hasRowIDs: Bool
    /// The position of the column that stands for the row id.
    private let rowIDColumn: Int?

    /// - Parameter database: A database with the table.
    init(_ name: String, in database: Database) throws {
        self.name = name
        let rows = try Row.fetchAll(
            database, sql: "SELECT name, type, \"notnull\", pk, hidden FROM pragma_table_xinfo(?)", arguments: [name])
        let all = rows.map { row in
            (
                column: Column(
                    name: row["name"], type: (row["type"] as String).uppercased(), isRequired: row["notnull"] == 1,
                    key: row["pk"], isComputed: row["hidden"] == 3), hidden: row["hidden"] as Int
            )
        }
        // A column that is computed on reading is in no record.
        let stored = all.filter { $0.hidden != 2 }.map(\.column)
        hasRowIDs = try StoreSalvage.hasRowIDs(name, in: database)
        if hasRowIDs {
            columns = stored
            let key = stored.indices.filter { stored[$0].key > 0 }
            rowIDColumn = key.count == 1 && stored[key[0]].type == "INTEGER" ? key[0] : nil
        } else {
            columns =
                stored.filter { $0.key > 0 }.sorted { $0.key < $1.key } + stored.filter { $0.key == 0 }
            rowIDColumn = nil
        }
    }

    /// Whether a row may belong to this table, by the number and the types of its values.
    func fits(_ row: CarvedRow) -> Bool {
        guard (row.rowID != nil) == hasRowIDs, !row.values.isEmpty, row.values.count <= columns.count else {
            return false
        }
        return zip(columns, row.values).enumerated().allSatisfy { index, pair in
            let (column, value) = pair
            if index == rowIDColumn { return value.isNull }
            switch value.storage {
            case .null: return !column.isRequired
            case .int64: return ["INTEGER", "INT", "REAL", "ANY", ""].contains(column.type)
            case .double: return ["REAL", "ANY", ""].contains(column.type)
            case .string: return ["TEXT", "ANY", ""].contains(column.type)
            case .blob: return ["BLOB", "ANY", ""].contains(column.type)
            }
        }
    }

    /// The number of values in its rows.
    var width: Int { columns.count }

    /// Inserts a row, unless there is one with its key.
    ///
    /// - Returns: whether it was inserted.
    func insert(_ row: CarvedRow, in database: Database) throws -> Bool {
        guard row.values.count <= columns.count else { return false }
        var (names, values) = ([String](), [DatabaseValue]())
        for (index, value) in row.values.enumerated() where !columns[index].isComputed && index != rowIDColumn {
            names.append(columns[index].name.sqlIdentifier)
            values.append(value)
        }
        if let rowID = row.rowID {
            names.append(rowIDColumn.map { columns[$0].name.sqlIdentifier } ?? "_rowid_")
            values.append(rowID.databaseValue)
        }
        let marks = names.map { _ in "?" }.joined(separator: ", ")
        do {
            try database.execute(
                sql:
                    "INSERT OR IGNORE INTO \(name.sqlIdentifier)(\(names.joined(separator: ", "))) VALUES (\(marks))",
                arguments: StatementArguments(values))
            return database.changesCount > 0
        } catch let error as DatabaseError where error.resultCode == .SQLITE_CONSTRAINT {
            // A row that does not fit the columns does not belong to the table.
            return false
        }
    }
}
