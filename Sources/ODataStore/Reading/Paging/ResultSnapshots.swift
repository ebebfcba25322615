import Foundation
import GRDB
import GRDBSQLite
import ODataModel
import ODataService
import Secrets
import Synchronization

/// Results whose rows nothing tells apart, kept so that all their pages are those of one state (rule 21).
///
/// They lie in an encrypted temporary file of their own, whose key nobody knows but this object; it goes with it.
final class ResultSnapshots: Sendable {
    /// How many results are kept; the oldest one makes room.
    static let capacity = 16
    /// The most rows of one result.
    static let maxRows = 1_000_000

    private struct State {
        var file: StoreDatabase?
        /// The tables by identifier, oldest first, with the caller whose result each is.
        var tables: [(id: String, name: String, principal: Principal?)] = []
        var count = 0
    }

    private let state = Mutex(State())
    private let path = FileManager.default.temporaryDirectory
        .appendingPathComponent("outpost-\(UUID().uuidString).snapshots").path

    deinit {
        state.withLock { state in
            guard let file = state.file else { return }
            try? file.close()
            for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + suffix) }
        }
    }

    /// One kept result: the file it lies in, the query that reads it, and what tokens name it by.
    struct Snapshot: Sendable {
        let id: String
        let compiled: CompiledQuery
        let pool: DatabasePool
        /// Whose file it is: as long as a page is read, that stays.
        fileprivate let owner: ResultSnapshots
    }

    /// Runs a query to its end and keeps its rows, `$skip` and `$top` applied.
    ///
    /// - Parameter principal: the caller, who alone may read it.
    /// - Throws: ``ODataError`` 507 when there are more than ``maxRows``.
    func take(_ compiled: CompiledQuery, _ database: Database, for principal: Principal?) throws -> Snapshot {
        let pool = try open()
        let (id, name) = state.withLock { state in
            state.count += 1
            return (UUID().uuidString.lowercased(), "s\(state.count)")
        }
        let columns = compiled.columns.indices.map { "c\($0)" }
        let fragment = compiled.firstPage(limit: compiled.top, offset: compiled.skip)
        try pool.write { spool in
            try spool.execute(
                sql: "CREATE TABLE \(name) (\((["n INTEGER PRIMARY KEY"] + columns).joined(separator: ", ")))")
            let marks = databaseQuestionMarks(count: columns.count)
            let insert = try spool.makeStatement(
                sql: "INSERT INTO \(name) (\(columns.joined(separator: ", "))) VALUES (\(marks))")
            let select = try database.makeStatement(sql: fragment.sql)
            let cursor = try Row.fetchCursor(select, arguments: StatementArguments(fragment.arguments))
            var rows = 0
            while try cursor.next() != nil {
                rows += 1
                guard rows <= Self.maxRows else {
                    throw ODataError(
                        status: 507, code: "ResultTooLarge",
                        message: "The result has more than \(Self.maxRows) rows that nothing tells apart.")
                }
                let row = StoredRow(statement: select.sqliteStatement)
                try insert.execute(arguments: StatementArguments(columns.indices.map { row.value($0) }))
            }
        }
        let dropped = state.withLock { state -> [String] in
            state.tables.append((id, name, principal))
            let excess = max(0, state.tables.count - Self.capacity)
            let names = state.tables.prefix(excess).map(\.name)
            state.tables.removeFirst(excess)
            return names
        }
        for table in dropped { try pool.write { try $0.execute(sql: "DROP TABLE \(table)") } }
        return Snapshot(id: id, compiled: Self.reading(name, compiled), pool: pool, owner: self)
    }

    /// A result that was kept for a caller.
    ///
    /// - Throws: ``ODataError`` 410 when it is gone, or another caller's.
    func find(_ id: String, _ compiled: CompiledQuery, for principal: Principal?) throws -> Snapshot {
        let found = state.withLock { state in
            state.tables.first { $0.id == id && $0.principal == principal }.flatMap { table in
                state.file.map { (table.name, $0.pool) }
            }
        }
        guard let (name, pool) = found else {
            throw ODataError(
                status: 410, code: "SnapshotGone",
                message: "The result that this page belongs to is no longer kept; ask for the first page again.",
                target: "$skiptoken")
        }
        return Snapshot(id: id, compiled: Self.reading(name, compiled), pool: pool, owner: self)
    }

    /// The query that reads a kept result in its order.
    private static func reading(_ table: String, _ compiled: CompiledQuery) -> CompiledQuery {
        var result = compiled
        result.origin = compiled.digest
        result.common = []
        result.columns = compiled.columns.indices.map { "\(name: "c\($0)")" } + ["\"n\""]
        result.from = "\(name: table)"
        result.conditions = []
        result.order = [CompiledQuery.SortTerm(sql: "\"n\"", isNullable: false, isDescending: false)]
        result.plan.sort = [compiled.columns.count]
        result.canResume = true
        result.top = nil
        result.skip = nil
        return result
    }

    private func open() throws -> DatabasePool {
        try state.withLock { state in
            if let file = state.file { return file.pool }
            var options = StoreDatabase.Options()
            options.writerCacheBytes = 2 << 20
            options.readerCacheBytes = 2 << 20
            let file = try StoreDatabase.open(
                path: path, protection: .encrypted(.key(.generate())), options: options)
            state.file = file
            return file.pool
        }
    }
}
