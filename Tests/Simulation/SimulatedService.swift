import Foundation
import GRDB
import HTTPTypes
import ODataDatabases
import ODataFormat
import ODataHTTP
import ODataModel
import ODataService
import Synchronization

/// The service of a run: a served database with triggers that count executions.
actor SimulatedService {
    static let root = "http://service.test/"

    private let path: String
    private let time: VirtualTime
    private let ability: ServiceAbility
    private var database: ServedDatabase
    private var handler: Handler
    private let others: DatabaseQueue
    /// The columns of each table that clients set, without marks and keys.
    private var columns = SimulatedService.firstColumns
    private var extras = 0
    /// The marks of changes that were refused at least once.
    private var refusals: Set<String> = []
    /// The marks of changes that were repeated after the service had forgotten them.
    private var forgotten: Set<String> = []
    /// The marks of changes that arrived in change sets.
    private var changeSets: Set<[String]> = []
    /// The birth marks of rows that other programs deleted.
    private var deletedByOthers: Set<String> = []

    init(path: String, ability: ServiceAbility, time: VirtualTime) async throws {
        self.path = path
        self.time = time
        self.ability = ability
        others = try DatabaseQueue(path: path)
        try await others.write { try $0.execute(sql: Self.schema) }
        (database, handler) = try await Self.open(path, ability, time)
    }

    private static func open(
        _ path: String, _ ability: ServiceAbility, _ time: VirtualTime
    ) async throws -> (ServedDatabase, Handler) {
        var options = ServedDatabase.Options()
        options.maxPageSize = 7
        options.readerCount = 1
        options.now = { time.instant }
        let database = try await ServedDatabase.open(path: path, options: options)
        let service = try await LesserService(base: database, ability: ability)
        guard ability.speaksV2 else {
            let handler = ODataHandler(provider: service)
            return (database, { await handler.handle($0, $1) })
        }
        let handler = try ODataV2Handler(provider: service, serviceRoot: "/")
        return (database, { await handler.handle($0, $1) })
    }

    /// The handler of messages for either OData version.
    private typealias Handler = @Sendable (HTTPRequest, ByteStream) async -> (HTTPResponse, ByteStream)

    /// The birth marks of the rows that every client changes. Without them, changes would rarely conflict.
    static let contested: Set = ["first P2", "first T1"]

    private static let firstColumns = ["Places": ["Name"], "Tasks": ["Title", "Amount"], "Steps": ["Title"]]

    private static let schema: String = {
        var sql = """
            PRAGMA journal_mode = wal;
            CREATE TABLE Places(
                Id TEXT PRIMARY KEY NOT NULL, Name TEXT, Mark TEXT, Born TEXT);
            CREATE TABLE Tasks(
                Id INTEGER PRIMARY KEY AUTOINCREMENT, PlaceId TEXT REFERENCES Places(Id), Title TEXT,
                Amount INTEGER NOT NULL DEFAULT 0 CHECK (Amount >= 0), Mark TEXT, Born TEXT);
            CREATE TABLE Steps(
                Id INTEGER PRIMARY KEY AUTOINCREMENT, TaskId INTEGER NOT NULL REFERENCES Tasks(Id), Title TEXT,
                Mark TEXT, Born TEXT);
            CREATE TABLE Acts(
                Mark TEXT NOT NULL, RowKey TEXT, Place TEXT NOT NULL, Kind TEXT NOT NULL, Born TEXT, Content TEXT);

            """
        for (table, columns) in firstColumns.sorted(by: { $0.key < $1.key }) { sql += triggers(of: table, columns) }
        for number in 1...8 {
            let mark = "first P\(number)"
            sql += "INSERT INTO Places VALUES ('P\(number)', 'Place \(number)', '\(mark)', '\(mark)');\n"
        }
        for number in 1...20 {
            sql += """
                INSERT INTO Tasks(PlaceId, Title, Amount, Mark, Born) VALUES
                    ('P\(number % 8 + 1)', 'Task \(number)', \(number * 5), 'first T\(number)', 'first T\(number)');

                """
        }
        return sql
    }()

    /// Returns the SQL of the triggers that record executions on a table with the new values of some columns.
    private static func triggers(of table: String, _ columns: [String]) -> String {
        let values = columns.map { "'\($0)', CAST(NEW.\($0) AS TEXT)" }.joined(separator: ", ")
        return """
            DROP TRIGGER IF EXISTS \(table)Insert;
            CREATE TRIGGER \(table)Insert AFTER INSERT ON \(table) BEGIN
                INSERT INTO Acts VALUES (
                    NEW.Mark, NEW.Id, '\(table)', 'insert', NEW.Born, json_object(\(values))); END;
            DROP TRIGGER IF EXISTS \(table)Update;
            CREATE TRIGGER \(table)Update AFTER UPDATE ON \(table) BEGIN
                INSERT INTO Acts VALUES (
                    NEW.Mark, NEW.Id, '\(table)', 'update', NEW.Born, json_object(\(values))); END;
            DROP TRIGGER IF EXISTS \(table)Delete;
            CREATE TRIGGER \(table)Delete AFTER DELETE ON \(table) BEGIN
                INSERT INTO Acts VALUES ('deleted ' || OLD.Born, OLD.Id, '\(table)', 'delete', OLD.Born, NULL); END;

            """
    }

    /// Returns whether a property was added while the service was running.
    static func isExtra(_ name: String) -> Bool { name.hasPrefix("Extra") }

    /// Returns whether a property is neither a mark nor a key nor a reference to another row.
    static func isContent(_ name: String) -> Bool { !["Id", "PlaceId", "TaskId", "Mark", "Born"].contains(name) }

    // MARK: As a service

    /// Answers a message.
    func answer(_ message: Message) async throws -> Answer {
        // Read the marks before the execution: new rows may reuse the keys of deleted ones.
        let marks = message.parts.isBatch ? try await marks(of: message) : []
        let (response, stream) = await handler(message.request, ByteStream(message.body))
        var bytes: [UInt8] = []
        while let chunk = try await stream.next() { bytes += chunk }
        if marks.count > 1, response.status.code < 400 { changeSets.insert(marks) }
        let refusals = message.parts.refusals(in: response, bytes)
        if !refusals.isEmpty {
            // If one change of a change set is refused, all are.
            let refused = message.parts.isBatch ? marks : try await self.marks(of: message)
            self.refusals.formUnion(refused)
            if refusals.contains(where: \.isForgotten) { forgotten.formUnion(refused) }
        }
        return Answer(response: response, body: bytes)
    }

    /// Returns the marks of the changes in a message, as far as they can be determined.
    func marks(of message: Message) async throws -> [String] {
        var marks: [String] = []
        for request in message.parts.requests {
            if let mark = try await mark(of: request) { marks.append(mark) }
        }
        return marks
    }

    /// Returns the mark of the change in a request; `nil` if the request changes nothing or the mark is
    /// unknown.
    private func mark(of request: BatchRequestPart) async throws -> String? {
        switch request.method {
        case "POST", "PATCH", "PUT", "MERGE":
            let properties = (try? JSONSerialization.jsonObject(with: Data(request.body))) as? [String: Any]
            return properties?["Mark"] as? String
        case "DELETE":
            let path = request.url.removingPercentEncoding ?? ""
            guard let open = path.firstIndex(of: "("), let close = path[open...].firstIndex(of: ")") else { return nil }
            let table = String(path[..<open].drop { $0 == "/" })
            guard ["Places", "Tasks", "Steps"].contains(table) else { return nil }
            let text = path[path.index(after: open)..<close].replacingOccurrences(of: "'", with: "")
            // OData 2.0 writes 64-bit numbers as 7L.
            let key = table != "Places" && text.hasSuffix("L") ? String(text.dropLast()) : text
            // A deleted row has no content, but the record of its executions remains.
            let born = try await others.read {
                try String.fetchOne(
                    $0, sql: "SELECT Born FROM Acts WHERE Place = ? AND RowKey = ? ORDER BY rowid DESC LIMIT 1",
                    arguments: [table, key])
            }
            return born.map { Ledger.deletion(of: $0) }
        default: return nil
        }
    }

    /// Stops and restarts the service.
    func restart() async throws {
        try await database.close()
        (database, handler) = try await Self.open(path, ability, time)
    }

    /// Adds a property with a value in each existing row.
    ///
    /// - Returns: The property, for the trace.
    func extend() async throws -> String {
        extras += 1
        let column = "Extra\(extras)"
        let table = ["Places", "Tasks", "Steps"][extras % 3]
        columns[table, default: []].append(column)
        let sql =
            "ALTER TABLE \(table) ADD COLUMN \(column) TEXT DEFAULT 'first \(column)';\n"
            + Self.triggers(of: table, columns[table] ?? [])
        try await database.close()
        try await others.write { try $0.execute(sql: sql) }
        (database, handler) = try await Self.open(path, ability, time)
        return "\(table)/\(column)"
    }

    // MARK: Access by others

    /// Changes rows like another program.
    ///
    /// - Returns: Whether the database accepted the change.
    func change(_ sql: String, _ arguments: StatementArguments) async throws -> Bool {
        do {
            try await others.write { try $0.execute(sql: sql, arguments: arguments) }
            return true
        } catch let error as DatabaseError where error.resultCode == .SQLITE_CONSTRAINT {
            return false
        }
    }

    /// Deletes a task like another program.
    ///
    /// - Returns: Whether the database accepted the deletion.
    func deleteTask(_ id: Int) async throws -> Bool {
        let born = try await others.read {
            try String.fetchOne($0, sql: "SELECT Born FROM Tasks WHERE Id = ?", arguments: [id])
        }
        guard try await change("DELETE FROM Tasks WHERE Id = ?", [id]) else { return false }
        if let born { deletedByOthers.insert(born) }
        return true
    }

    /// Returns the executions of each change, and the refused changes.
    func history() async throws -> ServiceHistory {
        let known = ServiceHistory(
            refusals: refusals, forgotten: forgotten, changeSets: changeSets, deletedByOthers: deletedByOthers)
        return try await others.read { database in
            var history = known
            let rows = try Row.fetchAll(
                database,
                sql: """
                    SELECT Mark, Mark IS LAG(Mark) OVER (PARTITION BY Place, RowKey ORDER BY rowid) AS IsOverItself,
                        LAG(CASE WHEN Kind <> 'delete' THEN Mark END) OVER (PARTITION BY Place, RowKey ORDER BY rowid)
                            AS Before, Place, RowKey, Kind, Born, Content
                    FROM Acts ORDER BY rowid
                    """)
            for row in rows {
                let mark: String = row["Mark"]
                var values: [String: String] = [:]
                if let content: String = row["Content"] {
                    let object = try JSONSerialization.jsonObject(with: Data(content.utf8)) as? [String: Any]
                    values = object?.compactMapValues { $0 as? String } ?? [:]
                }
                let (kind, isOverItself): (String, Bool) = (row["Kind"], row["IsOverItself"])
                var acts = history.acts[mark] ?? Acts()
                acts.count += 1
                if isOverItself { acts.overItself += 1 }
                let (place, key, before): (String, String?, String?) = (row["Place"], row["RowKey"], row["Before"])
                acts.beforehand.insert("\(place)(\(key ?? "")) \(before ?? "")")
                acts.found.append(before)
                acts.rows.append(values)
                history.acts[mark] = acts
                if kind == "insert", let born: String = row["Born"] { history.births.insert(born) }
            }
            return history
        }
    }

    /// Returns the number of executions of a mark, and the key of its row.
    func act(_ mark: String) async throws -> (count: Int, key: String?) {
        try await others.read { database in
            let keys = try String.fetchAll(database, sql: "SELECT RowKey FROM Acts WHERE Mark = ?", arguments: [mark])
            return (keys.count, keys.first)
        }
    }

    /// Returns the rows of a query as text with the given properties.
    func rows(_ query: String, _ names: [String]) async throws -> [String: String] {
        try await texts(of: query, names, at: database)
    }

    func close() async throws {
        try await database.close()
        try others.close()
    }
}
