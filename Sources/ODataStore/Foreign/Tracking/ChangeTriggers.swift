import Foundation
import GRDB

/// Triggers and a table in the foreign database itself that note which rows change, whoever changes them: put
/// there only when it is asked for, so that a pull costs what changed and never a scan.
///
/// They use nothing but SQLite's own functions, since other programs run them. The table `outpost_change` holds
/// the table's name and `quote()` of each key value; what was read is deleted from it.
public enum ChangeTriggers {
    static let table = "outpost_change"

    private static func names(_ table: String) -> [(event: String, name: String)] {
        ["insert", "update", "delete"].map { ($0.uppercased(), "outpost_change_\($0)_\(table)") }
    }

    /// Puts the table and the triggers there where they are missing.
    static func install(_ tables: [TrackedTable], in database: Database) throws {
        let mayHaveMissed = try !areComplete(tables, in: database)
        try database.execute(
            sql: """
                CREATE TABLE IF NOT EXISTS \(table) (
                  seq INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL, row TEXT NOT NULL
                )
                """)
        for tracked in tables {
            let name = tracked.storage.table
            func note(_ row: String) -> String {
                let key = tracked.keyColumns.map { "quote(\(row).\(quoted($0)))" }.joined(separator: " || ' ' || ")
                return "INSERT INTO \(table) (name, row) VALUES ('\(tracked.storage.set)', \(key));"
            }
            for (event, trigger) in names(name) {
                let body = event == "INSERT" ? note("NEW") : event == "DELETE" ? note("OLD") : note("OLD") + note("NEW")
                try database.execute(
                    sql: """
                        CREATE TRIGGER IF NOT EXISTS \(quoted(trigger)) AFTER \(event) ON \(quoted(name)) \
                        BEGIN \(body) END
                        """)
            }
        }
        if mayHaveMissed {
            try database.execute(sql: "INSERT INTO \(table) (name, row) VALUES (?, '')", arguments: [gap])
        }
    }

    /// What a note has for the name of a table where changes may not have been noted.
    private static let gap = ""

    /// Whether all triggers are in place: a table that was made anew has lost its own.
    static func areComplete(_ tables: [TrackedTable], in database: Database) throws -> Bool {
        let known = Set(
            try String.fetchAll(
                database,
                sql: "SELECT name FROM main.sqlite_master WHERE type = 'trigger' AND name GLOB 'outpost_change_*'"))
        return tables.allSatisfy { table in names(table.storage.table).allSatisfy { known.contains($0.name) } }
    }

    /// The rows noted since the last call, each once; `nil` when the notes have a gap, as after a backup was
    /// put back, or a table was made anew without its triggers.
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

    /// Passes over the notes so far.
    static func skip(_ side: SideTables, in database: Database) throws {
        let newest = try newestNote(in: database)
        if try side.meta("trigger_seq") != newest { try side.setMeta("trigger_seq", newest) }
    }

    /// Deletes the notes that were read.
    static func prune(_ side: SideTables, in database: Database) throws {
        guard let last: Int64 = try side.meta("trigger_seq") else { return }
        try database.execute(sql: "DELETE FROM main.\(table) WHERE seq <= ?", arguments: [last])
    }

    private static func newestNote(in database: Database) throws -> Int64 {
        try Int64.fetchOne(database, sql: "SELECT seq FROM main.sqlite_sequence WHERE name = ?", arguments: [table])
            ?? 0
    }

    /// Takes the table and all triggers out of a database again.
    ///
    /// - Parameter path: the database, which no server may have open.
    /// - Throws: ``ForeignDatabaseError``.
    public static func remove(fromDatabaseAt path: String) throws {
        let connections = try ForeignConnections(
            path: path, isReadOnly: false, readerCount: 1, busyTimeout: 5, prepare: { _ in })
        defer { try? connections.close() }
        do {
            try connections.writer.write { database in
                let triggers = try String.fetchAll(
                    database,
                    sql: "SELECT name FROM sqlite_master WHERE type = 'trigger' AND name GLOB 'outpost_change_*'")
                for name in triggers { try database.execute(sql: "DROP TRIGGER \(quoted(name))") }
                try database.execute(sql: "DROP TABLE IF EXISTS \(table)")
            }
        } catch let error as DatabaseError {
            throw ForeignDatabaseError(error, path: path)
        }
    }

    /// The values of SQL literals as `quote()` writes them, separated by spaces; `nil` when the text is none.
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
