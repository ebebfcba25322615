import Foundation
import GRDB
import ODataModel
import ODataSQL

/// The statements that recreate the tables of a damaged store.
struct SalvagedSchema {
    struct Statement {
        let type: String
        let name: String
        let sql: String
    }

    let tables: [Statement]
    /// Indexes, triggers and views.
    let others: [Statement]

    private init(_ statements: [Statement]) {
        // Indexes for text search are recreated on demand.
        let virtual = statements.filter { $0.sql.hasPrefix("CREATE VIRTUAL") }.map(\.name)
        let kept = statements.filter { statement in
            !virtual.contains { name in
                statement.name == name || statement.name.hasPrefix(name + "_") || statement.sql.contains("\"\(name)\"")
            }
        }
        tables = kept.filter { $0.type == "table" }
        others = kept.filter { $0.type != "table" }
    }

    /// Reads the statements that SQLite finds.
    init(of database: Database) throws { self.init(try Self.statements(in: database)) }

    /// Collects the statements found in the pages, the engine's own tables, and the tables that the metadata of
    /// the service make.
    ///
    /// - Parameter origin: the service of the store, used if the file cannot tell it.
    init(carvedBy carver: StoreCarver, origin: StoreOrigin?) throws {
        let found = carver.statements.compactMap { statement in
            statement.sql.flatMap { sql in
                statement.name.hasPrefix("sqlite_")
                    ? nil : Statement(type: statement.type, name: statement.name, sql: sql)
            }
        }
        var seen: Set<String> = []
        var all = found.filter { seen.insert($0.name).inserted }
        let settings = try Self.settings(carver, all)
        let version = settings.text("engine.version").flatMap { Int($0) } ?? EngineSchema.version
        let known = try Self.scratch { database in
            for statement in EngineSchema.tables(of: min(max(version, 1), EngineSchema.version)) {
                try database.execute(sql: statement)
            }
            guard let model = try settings.model() ?? origin.map({ try EngineSet.removing(from: $0.model) }) else {
                return
            }
            try OfflineLayout(model: model).create(in: database)
        }
        all += known.filter { seen.insert($0.name).inserted }
        self.init(all)
    }

    private static func statements(in database: Database) throws -> [Statement] {
        let rows = try Row.fetchAll(
            database,
            sql: "SELECT type, name, sql FROM sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%'")
        return rows.map { Statement(type: $0["type"], name: $0["name"], sql: $0["sql"]) }
    }

    /// The statements of a database in memory.
    private static func scratch(_ body: (Database) throws -> Void) throws -> [Statement] {
        var configuration = Configuration()
        configuration.prepareDatabase { TextComparison.register(in: $0) }
        return try DatabaseQueue(configuration: configuration).write { database in
            try body(database)
            return try statements(in: database)
        }
    }

    /// The settings of the store that were found, by name.
    private struct Found {
        let values: [String: [UInt8]]

        func text(_ name: String) -> String? { values[name].map { String(decoding: $0, as: UTF8.self) } }

        /// The model of the tables.
        func model() throws -> EntityDataModel? {
            if let bytes = values[LocalModel.setting], let model = try? CSDLReader.read(xml: bytes) { return model }
            return values["service.metadata"].flatMap { try? CSDLReader.read($0) }
        }
    }

    private static func settings(_ carver: StoreCarver, _ found: [Statement]) throws -> Found {
        let queue = try DatabaseQueue()
        return try queue.write { database in
            // All tables, so that no other one is mistaken for it.
            var names: [String] = []
            for statement in EngineSchema.statements { try database.execute(sql: statement) }
            names += try statements(in: database).filter { $0.type == "table" }.map(\.name)
            _ = try carver.copyRows(of: ["outpost_setting"], among: names, to: database)
            let rows = try Row.fetchAll(database, sql: "SELECT name, CAST(value AS BLOB) FROM outpost_setting")
            var values: [String: [UInt8]] = [:]
            for row in rows { values[row[0]] = Array(row[1] as Data) }
            return Found(values: values)
        }
    }
}
