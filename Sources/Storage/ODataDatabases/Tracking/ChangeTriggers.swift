import Foundation
import GRDB
import ODataSQL
import ODataStore

/// Triggers and a table in a served database that record changes of all programs. They are optional; with them,
/// a request for changes does not compare all rows.
///
/// The triggers use only built-in functions of SQLite, since other programs run them. The table
/// `outpost_change` contains the name of the set and the `quote()` of each key value. Processed notes are
/// deleted.
public enum ChangeTriggers {
    static let table = "outpost_change"

    /// Returns the triggers of a table with their names.
    private static func triggers(_ tracked: TrackedTable) -> [(name: String, sql: String)] {
        let name = tracked.storage.table
        func key(_ row: String) -> String {
            tracked.keyColumns.map { "quote(\(row).\($0.sqlIdentifier))" }.joined(separator: " || ' ' || ")
        }
        let insertion = "INSERT INTO \(table) (name, row)"
        func note(_ row: String) -> String { "\(insertion) VALUES (\(tracked.storage.set.sqlLiteral), \(key(row)));" }
        var triggers: [(name: String, sql: String)] = []
        func add(_ label: String, _ start: String, body: String) {
            let trigger = "outpost_change_\(label)_\(name)"
            // The text must be the one that SQLite stores.
            triggers.append((trigger, "CREATE TRIGGER \(trigger.sqlIdentifier) \(start) BEGIN \(body) END"))
        }
        let events = [("insert", note("NEW")), ("update", note("OLD") + note("NEW")), ("delete", note("OLD"))]
        for (event, body) in events { add(event, "AFTER \(event.uppercased()) ON \(name.sqlIdentifier)", body: body) }
        // An index made by CREATE INDEX, and its column, can be dropped; triggers that name them would prevent it.
        let lasting = tracked.uniqueKeys.filter { $0.index == nil }
        for (number, unique) in lasting.enumerated() {
            // A row that is replaced only by its rowid has the key of the new row.
            if unique.isRowID, unique.columns.map(\.name) == tracked.keyColumns { continue }
            for event in UniqueKey.Event.allCases {
                // Another trigger records the row itself.
                let itself = event == .insert ? "NEW" : "OLD"
                let body = """
                    \(insertion) SELECT \(tracked.storage.set.sqlLiteral), \(key("r")) FROM \(name.sqlIdentifier) AS r \
                    WHERE \(unique.condition) AND \(key("r")) <> \(key(itself));
                    """
                add("before_\(event)_\(number)", unique.trigger(before: event, of: name), body: body)
            }
        }
        return triggers
    }

    /// Creates the table and the triggers. Triggers of earlier versions, or for other keys, are replaced.
    static func install(_ tables: [TrackedTable], in database: Database) throws {
        try database.execute(
            sql: """
                CREATE TABLE IF NOT EXISTS \(table) (
                  seq INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL, row TEXT NOT NULL
                )
                """)
        let wanted = tables.flatMap(triggers)
        let texts = Dictionary(wanted.map { ($0.name, $0.sql) }, uniquingKeysWith: { first, _ in first })
        let known = try installed(in: database)
        for (name, sql) in known where texts[name] != sql {
            try database.execute(sql: "DROP TRIGGER \(name.sqlIdentifier)")
        }
        let missing = wanted.filter { known[$0.name] != $0.sql }
        guard !missing.isEmpty else { return }
        for trigger in missing { try database.execute(sql: trigger.sql) }
        try database.execute(sql: "INSERT INTO \(table) (name, row) VALUES (?, '')", arguments: [gap])
    }

    /// Returns the installed triggers by name.
    private static func installed(in database: Database) throws -> [String: String] {
        let rows = try Row.fetchAll(
            database,
            sql: "SELECT name, sql FROM main.sqlite_master WHERE type = 'trigger' AND name GLOB 'outpost_change_*'")
        return Dictionary(rows.map { ($0["name"], $0["sql"]) }, uniquingKeysWith: { first, _ in first })
    }

    /// The table name in a note that marks a gap: changes before it may not be recorded.
    private static let gap = ""

    /// Returns whether all triggers are installed. A table that was recreated has lost its triggers.
    static func areComplete(_ tables: [TrackedTable], in database: Database) throws -> Bool {
        let known = try installed(in: database)
        return tables.allSatisfy { triggers($0).allSatisfy { known[$0.name] != nil } }
    }

    /// Returns the rows recorded since the last call, without duplicates. The result is `nil` if the notes have
    /// a gap, for example after a backup was restored or a table was recreated.
    static func take(
        _ side: SideTables, in database: Database, tables: [String: TrackedTable]
    ) throws -> [(set: String, key: Data)]? {
        guard let last: Int64 = try side.meta("trigger_seq") else { return nil }
        let newest = try newestNote(in: database)
        guard newest >= last else { return nil }
        let rows = try Row.fetchAll(
            database, sql: "SELECT DISTINCT name, row FROM main.\(table) WHERE seq > ?", arguments: [last])
        var keys: [(set: String, key: Data)] = []
        for row in rows {
            let name: String = row["name"]
            guard name != gap else { return nil }
            guard let tracked = tables[name] else { continue }
            guard let values = literals(row["row"]), values.count == tracked.keyColumns.count else { return nil }
            keys.append((tracked.storage.set, StoredKey.encode(values)))
        }
        return keys
    }

    /// Marks all current notes as processed.
    static func skip(_ side: SideTables, in database: Database) throws {
        let newest = try newestNote(in: database)
        if try side.meta("trigger_seq") != newest { try side.setMeta("trigger_seq", newest) }
    }

    /// Deletes the processed notes.
    static func prune(_ side: SideTables, in database: Database) throws {
        guard try hasReadNotes(side, in: database), let last: Int64 = try side.meta("trigger_seq") else { return }
        try database.execute(sql: "DELETE FROM main.\(table) WHERE seq <= ?", arguments: [last])
    }

    /// Returns whether there are processed notes.
    static func hasReadNotes(_ side: SideTables, in database: Database) throws -> Bool {
        guard let last: Int64 = try side.meta("trigger_seq"), try hasTable(in: database) else { return false }
        return try Bool.fetchOne(
            database, sql: "SELECT EXISTS (SELECT 1 FROM main.\(table) WHERE seq <= ?)", arguments: [last]) ?? false
    }

    /// Returns whether the table exists. `outpost untrack` can remove it while a server uses the database.
    private static func hasTable(in database: Database) throws -> Bool {
        let sql = "SELECT EXISTS (SELECT 1 FROM main.sqlite_master WHERE type = 'table' AND name = ?)"
        return try Bool.fetchOne(database, sql: sql, arguments: [table]) ?? false
    }

    private static func newestNote(in database: Database) throws -> Int64 {
        guard try hasTable(in: database) else { return 0 }
        return try Int64.fetchOne(
            database, sql: "SELECT seq FROM main.sqlite_sequence WHERE name = ?", arguments: [table])
            ?? 0
    }

    /// Removes the table and all triggers from a database.
    ///
    /// A server that uses the database with ``ServedDatabase/Options/installsTriggers`` falls back to comparing
    /// rows.
    ///
    /// - Parameter path: the path of the database.
    /// - Returns: the number of removed triggers.
    /// - Throws: ``ForeignDatabaseError`` for a file that is not a database, cannot be written or is locked.
    @discardableResult
    public static func remove(fromDatabaseAt path: String) throws -> Int {
        let connections = try ForeignConnections(
            path: path, isReadOnly: false, readerCount: 1, busyTimeout: 5, prepare: { _ in })
        defer { try? connections.close() }
        do {
            return try connections.writer.write { database in
                let names = try installed(in: database).keys
                for name in names { try database.execute(sql: "DROP TRIGGER \(name.sqlIdentifier)") }
                try database.execute(sql: "DROP TABLE IF EXISTS \(table)")
                return names.count
            }
        } catch let error as DatabaseError {
            throw ForeignDatabaseError(error, path: path)
        }
    }

    /// Returns the values of SQL literals in the form of `quote()`, separated by spaces; `nil` if the text is
    /// malformed.
    static func literals(_ text: String) -> [DatabaseValue]? {
        var values: [DatabaseValue] = []
        var rest = text.unicodeScalars[...]
        while !rest.isEmpty {
            let isBlob = rest.starts(with: "X'".unicodeScalars)
            guard isBlob || rest.first == "'" else {
                let word = rest.prefix { $0 != " " }
                guard let value = DefaultLiteral.stored(String(word)) else { return nil }
                values.append(value)
                rest = rest.dropFirst(word.count + 1)
                continue
            }
            rest = rest.dropFirst(isBlob ? 2 : 1)
            var inner = ""
            var isClosed = false
            while let end = rest.firstIndex(of: "'") {
                inner.unicodeScalars += rest[..<end]
                rest = rest[rest.index(after: end)...]
                guard rest.first == "'" else {
                    isClosed = true
                    break
                }
                inner += "'"
                rest = rest.dropFirst()
            }
            guard isClosed else { return nil }
            rest = rest.dropFirst()
            guard isBlob else {
                values.append(inner.databaseValue)
                continue
            }
            guard let bytes = bytes(inner) else { return nil }
            values.append(bytes.databaseValue)
        }
        return values
    }

    private static func bytes(_ hexadecimal: String) -> Data? {
        let digits = Array(hexadecimal.utf8).compactMap { Character(UnicodeScalar($0)).hexDigitValue }
        guard digits.count == hexadecimal.utf8.count, digits.count % 2 == 0 else { return nil }
        return Data(stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) })
    }
}
