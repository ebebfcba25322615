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
package final class ResultSnapshots: Sendable {
    /// The most rows of one result.
    static let maxRows = 1_000_000

    /// The table of a result, which goes with it.
    fileprivate final class Table: Sendable {
        let name: String
        /// The caller whose result it is.
        let principal: Principal?
        let pool: DatabasePool

        init(_ name: String, for principal: Principal?, in pool: DatabasePool) {
            self.name = name
            self.principal = principal
            self.pool = pool
        }

        deinit { pool.asyncWriteWithoutTransaction { [name] in try? $0.execute(sql: "DROP TABLE IF EXISTS \(name)") } }
    }

    private struct State {
        var file: StoreDatabase?
        var count = 0
    }

    private let state = Mutex(State())
    private let shelf: SnapshotShelf<Table>

    package init(_ limits: SnapshotLimits = SnapshotLimits()) { shelf = SnapshotShelf(limits) }

    deinit {
        shelf.removeAll()
        state.withLock { state in
            guard let file = state.file else { return }
            try? file.close()
            for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: file.path + suffix) }
        }
    }

    /// One kept result: the file it lies in, the query that reads it, and what tokens name it by.
    package struct Snapshot: Sendable {
        let id: String
        let compiled: CompiledQuery
        let pool: DatabasePool
        /// Keeps the table, and the file, as long as a page is read.
        fileprivate let table: Table
        fileprivate let owner: ResultSnapshots
    }

    /// Runs a query to its end and keeps its rows, `$skip` and `$top` applied.
    ///
    /// - Parameters:
    ///   - principal: the caller, who alone may read it.
    ///   - budget: the budget of the request.
    /// - Throws: ``ODataError`` 413 when there are more than ``maxRows``, or more than the caller may keep.
    func take(
        _ compiled: CompiledQuery, in database: Database, for principal: Principal?, budget: RequestBudget?
    ) throws -> Snapshot {
        let caller = principal.map { CallerID($0) } ?? budget?.caller
        try shelf.begin(caller)
        var bytes = 0
        defer { shelf.finish(bytes, caller) }
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
            var unaccounted = 0
            func account() throws {
                bytes += unaccounted
                defer { unaccounted = 0 }
                try shelf.grow(unaccounted, caller)
            }
            while try cursor.next() != nil {
                rows += 1
                guard rows <= Self.maxRows else {
                    throw ODataError(
                        status: 413, code: "ResultTooLarge",
                        message: "The result has more than \(Self.maxRows) rows that nothing tells apart. "
                            + "Ask for fewer with $filter or $top.")
                }
                let row = StoredRow(statement: select.sqliteStatement)
                unaccounted += Self.rowOverhead
                let values = columns.indices.map { column -> DatabaseValue in
                    unaccounted += row.size(column)
                    return row.value(column)
                }
                if unaccounted > Self.accountedBytes { try account() }
                try insert.execute(arguments: StatementArguments(values))
            }
            try account()
        }
        let table = Table(name, for: principal, in: pool)
        shelf.keep(table, as: id, bytes: bytes, owner: caller, at: 0)
        return Snapshot(id: id, compiled: Self.reading(name, compiled), pool: pool, table: table, owner: self)
    }

    /// The bytes of a row beside its values, about.
    private static let rowOverhead = 16
    /// The bytes that are accounted for at once.
    private static let accountedBytes = 64 << 10

    /// A result that was kept for a caller.
    ///
    /// - Throws: ``ODataError`` 410 when it is gone, or another caller's.
    func find(_ id: String, _ compiled: CompiledQuery, for principal: Principal?) throws -> Snapshot {
        guard let table = shelf.find(id, at: 0), table.principal == principal else {
            throw ODataError(
                status: 410, code: "SnapshotGone",
                message: "The result that this page belongs to is no longer kept; ask for the first page again.",
                target: "$skiptoken")
        }
        return Snapshot(
            id: id, compiled: Self.reading(table.name, compiled), pool: table.pool, table: table, owner: self)
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
                path: try SpoolFolder.newFile("outpost-\(UUID().uuidString).snapshots"),
                protection: .encrypted(.key(.generate())), options: options)
            state.file = file
            return file.pool
        }
    }
}
