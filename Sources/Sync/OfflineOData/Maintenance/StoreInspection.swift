import EncryptedSQLite
import ErrorCodes
import Foundation
import GRDB
import ODataModel
import ODataSQL

/// Inspects the content of a store and leaves its files unchanged: an older store is not upgraded, and a log is
/// not moved into the database.
enum StoreInspection {
    /// The findings of SQLite's own check and of the engine's tables, one sentence each.
    ///
    /// - Parameters:
    ///   - path: the database; an encrypted one is unlocked.
    ///   - directory: the directory of the store, for messages.
    /// - Throws: ``OfflineError/noStore(path:)``; `StoreError` for a newer version, and if nothing can be read.
    static func problems(at path: String, in directory: String, isEncrypted: Bool) async throws -> [String] {
        if let damage = StoreDatabase.damageOfCutFile(path, isEncrypted: isEncrypted) {
            return [StoreError.corrupt(message: damage).description]
        }
        do {
            do {
                return try await problems(in: try open(path, isEncrypted: isEncrypted), at: path, of: directory)
            } catch let error as DatabaseError {
                throw StoreError(error, path: path)
            }
        } catch let error as StoreError where isEncrypted && QuietLock.mayHelp(error, path: path) {
            guard let lock = try? QuietLock(path: path) else { throw error }
            defer { lock.release() }
            let location = EncryptedDatabase.quietURI(forPath: path)
            return try await problems(in: try open(location, isReadOnly: true), at: path, of: directory)
        }
    }

    private static func problems(
        in database: DatabaseQueue, at path: String, of directory: String
    ) async throws -> [String] {
        defer { try? database.close() }
        return try await database.read { database in
            let version = try version(in: database, at: path, of: directory)
            return try integrityProblems(in: database) + engineProblems(version, in: database)
        }
    }

    private static func open(_ path: String, isEncrypted: Bool) throws -> DatabaseQueue {
        // The last connection moves the log or a hot journal into the database when it closes, unless it is
        // read-only. Without either file, only a writing connection removes the files that SQLite creates beside
        // an open database.
        let isReadOnly = size(path + "-wal") > 0 || size(path + "-journal") > 0
        return try open(isEncrypted ? EncryptedDatabase.uri(forPath: path) : path, isReadOnly: isReadOnly)
    }

    private static func open(_ location: String, isReadOnly: Bool) throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.foreignKeysEnabled = false
        configuration.busyMode = .timeout(5)
        configuration.label = "outpost.inspection"
        configuration.readonly = isReadOnly
        configuration.prepareDatabase { database in
            // A temporary file would be plain.
            try database.setPragma(.temporaryStore, "MEMORY")
            StoreFunctions.register(in: database)
            TextComparison.register(in: database)
        }
        return try DatabaseQueue(path: location, configuration: configuration)
    }

    private static func size(_ path: String) -> Int64 {
        let attributes = try? FileManager.default.attributesOfItem(atPath: path)
        return (attributes?[.size] as? NSNumber)?.int64Value ?? 0
    }

    /// The version of the engine's tables.
    private static func version(in database: Database, at path: String, of directory: String) throws -> Int {
        guard case .store = try OfflineLayout.presence(in: database, path: path) else {
            throw OfflineError.noStore(path: directory)
        }
        let version = Int(try Settings.text("engine.version", in: database) ?? "") ?? 1
        guard version <= EngineSchema.version else {
            throw StoreError.newerVersion(path: path, found: version, supported: EngineSchema.version)
        }
        guard try Settings.text("service.root", in: database) != nil else {
            throw OfflineError.noStore(path: directory)
        }
        return max(version, 1)
    }

    private static func integrityProblems(in database: Database) throws -> [String] {
        do {
            return try database.integrityProblems()
        } catch let error as DatabaseError {
            return [message(error)]
        }
    }

    /// The faults of the model, the defining queries and the queue.
    private static func engineProblems(_ version: Int, in database: Database) throws -> [String] {
        do {
            // With the app's own sets, whether or not the caller names them.
            let kept = try LocalModel.kept(in: database) ?? Settings.bytes("service.metadata", in: database)
            guard let kept else { return ["The metadata of the service are gone."] }
            let model = try CSDLReader.read(kept)
            let mapping = OfflineLayout(model: model).mapping
            let inTables = try presentTables(of: version, in: database).read { engine in
                _ = try QueueTable(model: model).requests(in: engine)
                return try QueryTable.all(in: engine).compactMap { query -> String? in
                    guard let table = mapping.tables[query.entitySet]?.table else { return nil }
                    return try database.tableExists(table) ? nil : "The query \(query.name) has no table."
                }
            }
            return try inTables + StreamHoles.problems(in: database)
        } catch let error as DatabaseError {
            return [message(error)]
        } catch let error as any CodedError {
            return ["\(error)"]
        }
    }

    private static func message(_ error: DatabaseError) -> String {
        error.message ?? "SQLite cannot read the database (\(error.extendedResultCode.rawValue))."
    }

    /// The queue and the defining queries of a store, copied into memory and upgraded there.
    private static func presentTables(of version: Int, in database: Database) throws -> DatabaseQueue {
        let copy = try DatabaseQueue()
        try copy.write { target in
            for statement in EngineSchema.tables(of: version) { try target.execute(sql: statement) }
            var tables = [QueueTable.name, "outpost_query", "outpost_dependency"]
            try tables.removeAll { try !target.tableExists($0) }
            for table in tables {
                let rows = try Row.fetchCursor(database, sql: "SELECT * FROM \(table)")
                while let row = try rows.next() {
                    let columns: [String] = row.columnNames.map(\.sqlIdentifier)
                    let marks = columns.map { _ in "?" }.joined(separator: ", ")
                    try target.execute(
                        sql: "INSERT INTO \(table)(\(columns.joined(separator: ", "))) VALUES (\(marks))",
                        arguments: StatementArguments(row.databaseValues))
                }
            }
            try EngineSchema.upgrade(from: version, in: target)
        }
        return copy
    }
}
