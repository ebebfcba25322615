import Foundation
import GRDB
import ODataSQL

/// The rows and requests removed together with a locally deleted row: contained entities, relations, and their
/// unsent changes. They are kept until the service has accepted the deletion, so that an undo loses nothing.
struct DeletionShelf {
    let mapping: StorageMapping

    /// The deleted row that identifies a shelf.
    private struct Owner {
        let set: String
        let rowID: Int64
    }

    /// One value of a row in SQLite's types; null if all members are missing.
    private struct Cell: Codable {
        var integer: Int64?
        /// The bits of a number, so that it is restored exactly.
        var real: UInt64?
        var text: String?
        var blob: Data?

        init(_ value: DatabaseValue) {
            switch value.storage {
            case .int64(let number): integer = number
            case .double(let number): real = number.bitPattern
            case .string(let string): text = string
            case .blob(let bytes): blob = bytes
            case .null: break
            }
        }

        var value: DatabaseValue {
            integer?.databaseValue ?? real.map { Double(bitPattern: $0).databaseValue } ?? text?.databaseValue
                ?? blob?.databaseValue ?? .null
        }
    }

    // MARK: Putting

    /// Keeps the dependents of a row before its deletion, and removes their unsent changes from the queue.
    func clear(
        _ rowID: Int64, _ table: TableStorage, _ queue: QueueTable, _ before: BeforeImages, in database: Database
    ) throws {
        let contained = try Containment(mapping: mapping).requests(within: rowID, table, queue, in: database)
            .filter { $0.state != .sending }
        let links = try queue.links(set: table.set, rowID: rowID, in: database).filter { $0.state != .sending }
        try put(rowID, table, requests: (contained + links).map(\.id), in: database)
        for change in contained {
            try queue.remove(change.id, in: database)
            try before.remove(set: change.entitySet, rowID: change.rowID, in: database)
        }
    }

    /// Keeps the dependents of a row before its deletion.
    ///
    /// - Parameter requests: the queued requests that are removed too.
    private func put(_ rowID: Int64, _ table: TableStorage, requests: [Int64], in database: Database) throws {
        let owner = Owner(set: table.set, rowID: rowID)
        // Dependents of an earlier deletion that did not come back with the row.
        try drop(set: table.set, rowID: rowID, in: database)
        try putRelated(of: rowID, table, for: owner, in: database)
        for id in requests { try put("outpost_queue", where: "id = ?", [id], for: owner, in: database) }
    }

    private func putRelated(of rowID: Int64, _ table: TableStorage, for owner: Owner, in database: Database) throws {
        for navigation in table.navigation.values where navigation.target.hasPrefix(table.set + "/") {
            guard let contained = mapping.tables[navigation.target], let id = contained.rowID else { continue }
            let parent = OfflineLayout.parentColumn.sqlIdentifier
            let name = contained.table.sqlIdentifier
            let rows = try Int64.fetchAll(
                database, sql: "SELECT \(id.sqlIdentifier) FROM \(name) WHERE \(parent) = ?",
                arguments: [rowID])
            try put(contained.table, where: "\(parent) = ?", [rowID], for: owner, in: database)
            for row in rows {
                try put(
                    "outpost_before", where: "entity_set = ? AND row_id = ?", [contained.set, row], for: owner,
                    in: database)
                try putRelated(of: row, contained, for: owner, in: database)
            }
        }
        for other in mapping.tables.values {
            for case .link(let target, let link, let source, let end) in other.navigation.values {
                if other.set == table.set {
                    try put(link, where: "\(source.sqlIdentifier) = ?", [rowID], for: owner, in: database)
                }
                if target == table.set {
                    try put(link, where: "\(end.sqlIdentifier) = ?", [rowID], for: owner, in: database)
                }
            }
        }
    }

    private func put(
        _ table: String, where condition: String, _ arguments: StatementArguments, for owner: Owner,
        in database: Database
    ) throws {
        let rows = try Row.fetchAll(
            database,
            sql: "SELECT \(Self.columns(of: table)) FROM \(table.sqlIdentifier) WHERE \(condition)",
            arguments: arguments)
        for row in rows {
            try database.execute(
                sql: "INSERT INTO outpost_shelf(entity_set, row_id, table_name, content) VALUES (?, ?, ?, ?)",
                arguments: [owner.set, owner.rowID, table, try Self.content(of: row)])
        }
    }

    /// The column list of a table. For the queue, it includes the dependencies of a request.
    private static func columns(of table: String) -> String {
        table == "outpost_queue" ? "*, \(QueueTable.dependencies) AS \(dependenciesCell)" : "*"
    }

    /// The name of the cell with the dependencies of a request.
    private static let dependenciesCell = "depends"

    private static func content(of row: Row) throws -> Data {
        let cells = Dictionary(zip(row.columnNames, row.databaseValues.map(Cell.init))) { first, _ in first }
        return try JSONEncoder().encode(cells)
    }

    // MARK: Giving back

    /// Whether a row was deleted without dependents.
    func isEmpty(set: String, rowID: Int64, in database: Database) throws -> Bool {
        try Bool.fetchOne(
            database, sql: "SELECT NOT EXISTS(SELECT 1 FROM outpost_shelf WHERE entity_set = ? AND row_id = ?)",
            arguments: [set, rowID]) ?? true
    }

    /// Restores the dependents of a row, beneath later changes of its relations.
    ///
    /// - Returns: the requests that came back into the queue.
    @discardableResult
    func restore(set: String, rowID: Int64, in database: Database) throws -> [Int64] {
        let rows = try Row.fetchAll(
            database,
            sql: "SELECT table_name, content FROM outpost_shelf WHERE entity_set = ? AND row_id = ? ORDER BY id",
            arguments: [set, rowID])
        guard !rows.isEmpty else { return [] }
        let queue = QueueTable(model: mapping.model)
        let relations = Relations(mapping: mapping)
        let restored = try relations.beneathWaiting(queue, in: database) { () throws -> [Int64] in
            let waiting = try Set(queue.relations(in: database).map(\.id))
            var restored: [Int64] = []
            for row in rows {
                let table: String = row["table_name"]
                let isNew = try Self.insert(row["content"], into: table, in: database)
                if isNew, table == "outpost_queue" { restored.append(database.lastInsertedRowID) }
            }
            // The relations come back with their pending requests.
            for request in try queue.relations(in: database).reversed() where !waiting.contains(request.id) {
                try relations.takeOff(request, in: database)
            }
            return restored
        }
        try drop(set: set, rowID: rowID, in: database)
        return restored
    }

    /// - Returns: whether the row was missing before.
    @discardableResult
    private static func insert(_ content: Data, into table: String, in database: Database) throws -> Bool {
        // The model may have changed since.
        let known = try Set(String.fetchAll(database, sql: "SELECT name FROM pragma_table_info(?)", arguments: [table]))
        let kept = try Self.cells(content)
        let cells = kept.filter { known.contains($0.key) }
        guard !cells.isEmpty else { return false }
        let columns = cells.keys.map(\.sqlIdentifier).joined(separator: ", ")
        let marks = cells.map { _ in "?" }.joined(separator: ", ")
        try database.execute(
            sql: "INSERT OR IGNORE INTO \(table.sqlIdentifier)(\(columns)) VALUES (\(marks))",
            arguments: StatementArguments(cells.values.map(\.value)))
        guard database.changesCount > 0 else { return false }
        if table == "outpost_queue", let id = cells["id"]?.integer, let ids = kept[dependenciesCell]?.text {
            try QueueTable.addDependencies(QueueTable.ids(ids), of: id, in: database)
        }
        return true
    }

    private static func cells(_ content: Data) throws -> [String: Cell] {
        do {
            return try JSONDecoder().decode([String: Cell].self, from: content)
        } catch {
            throw OfflineError.damagedQueue(reason: "the dependents of a deleted entity cannot be read: \(error)")
        }
    }

    /// Applies a change to all queued requests and server versions, including those on the shelf, to bring them
    /// to another model.
    static func including<Value>(in database: Database, _ body: () throws -> Value) throws -> Value {
        try including(["outpost_queue": ["id"], "outpost_before": ["entity_set", "row_id"]], in: database, body)
    }

    /// Applies a change to all rows, queued requests and server versions, including those on the shelf.
    func includingRows<Value>(in database: Database, _ body: () throws -> Value) throws -> Value {
        var keys = ["outpost_queue": ["id"], "outpost_before": ["entity_set", "row_id"]]
        for table in mapping.tables.values { keys[table.table] = table.rowID.map { [$0] } }
        return try Self.including(keys, in: database, body)
    }

    /// A row that is back in its table for a while, with the values that find it there.
    private struct Shelved {
        let id: Int64
        let table: String
        let condition: String
        let arguments: StatementArguments
    }

    /// - Parameter keys: the columns that identify a row, by table.
    private static func including<Value>(
        _ keys: [String: [String]], in database: Database, _ body: () throws -> Value
    ) throws -> Value {
        var shelved: [Shelved] = []
        for row in try Row.fetchAll(database, sql: "SELECT id, table_name, content FROM outpost_shelf ORDER BY id") {
            let table: String = row["table_name"]
            guard let columns = keys[table], try insert(row["content"], into: table, in: database) else { continue }
            let known = try cells(row["content"])
            shelved.append(
                Shelved(
                    id: row["id"], table: table,
                    condition: columns.map { "\($0.sqlIdentifier) = ?" }.joined(separator: " AND "),
                    arguments: StatementArguments(columns.map { known[$0]?.value ?? .null })))
        }
        let value = try body()
        // All rows are read before the first is deleted, since contained rows are deleted with it.
        for entry in shelved {
            let now = try Row.fetchOne(
                database,
                sql: """
                    SELECT \(columns(of: entry.table)) FROM \(entry.table.sqlIdentifier)
                    WHERE \(entry.condition)
                    """, arguments: entry.arguments)
            if let now {
                try database.execute(
                    sql: "UPDATE outpost_shelf SET content = ? WHERE id = ?",
                    arguments: [try content(of: now), entry.id])
            } else {
                try database.execute(sql: "DELETE FROM outpost_shelf WHERE id = ?", arguments: [entry.id])
            }
        }
        for entry in shelved {
            try database.execute(
                sql: "DELETE FROM \(entry.table.sqlIdentifier) WHERE \(entry.condition)",
                arguments: entry.arguments)
        }
        return value
    }

    /// Brings the shelved rows of a table to the columns of another model.
    ///
    /// - Parameters:
    ///   - dropped: the columns that are gone, or stored in another form.
    ///   - recoded: the dropped columns with values that can be converted, and their new form.
    ///   - notLoaded: the column that lists the columns that are not loaded.
    ///   - remapped: converts this list to the new table, with or without the recoded columns.
    static func remap(
        _ table: String, dropping dropped: Set<String>,
        recoding recoded: [String: (DatabaseValue) throws -> DatabaseValue], notLoaded: String,
        _ remapped: (Data?, _ withRecoded: Bool) -> Data?, in database: Database
    ) throws {
        let rows = try Row.fetchAll(
            database, sql: "SELECT id, content FROM outpost_shelf WHERE table_name = ?", arguments: [table])
        for row in rows {
            let known = try cells(row["content"])
            var cells = known.filter { !dropped.contains($0.key) }
            var isRecoded = true
            do {
                for (name, recode) in recoded {
                    guard let cell = known[name] else { continue }
                    cells[name] = Cell(try recode(cell.value))
                }
            } catch is StoredValueError {
                // Values that the new column cannot hold come back with a download.
                isRecoded = false
                cells = known.filter { !dropped.contains($0.key) }
            }
            cells[notLoaded] = Cell(remapped(cells[notLoaded]?.blob, isRecoded).databaseValue)
            try database.execute(
                sql: "UPDATE outpost_shelf SET content = ? WHERE id = ?",
                arguments: [try JSONEncoder().encode(cells), row["id"] as Int64])
        }
    }

    /// Deletes the shelf of a row, because the service has accepted the deletion or nothing can come back.
    func drop(set: String, rowID: Int64, in database: Database) throws {
        try database.execute(
            sql: "DELETE FROM outpost_shelf WHERE entity_set = ? AND row_id = ?", arguments: [set, rowID])
    }
}
