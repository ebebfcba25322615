import Foundation
import GRDB
import GRDBSQLite
import ODataModel
import ODataService
import Secrets
import Synchronization

/// Snapshots of results without a unique key, so that all pages of a result show the same state.
///
/// They are stored in an encrypted temporary file, which is deleted together with this object. Only this object
/// knows the key.
package final class ResultSnapshots: Sendable {
    /// The maximum number of rows of a result.
    static let maxRows = 1_000_000

    /// The table of a result, which is dropped together with this object.
    fileprivate final class Table: Sendable {
        let name: String
        /// The caller to whom the result belongs.
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

    /// A snapshot of a result: its file, the query that reads it, and the id in tokens.
    package struct Snapshot: Sendable {
        let id: String
        let compiled: CompiledQuery
        let pool: DatabasePool
        /// The table and its file must exist while a page is read.
        fileprivate let table: Table
        fileprivate let owner: ResultSnapshots
    }

    /// Runs a query to the end and stores its rows, with `$skip` and `$top` applied.
    ///
    /// - Parameters:
    ///   - principal: the caller, who alone may read the snapshot.
    ///   - budget: the budget of the request.
    /// - Throws: ``ODataError`` 413 if there are more than ``maxRows`` rows, or the caller's limit for snapshots is
    ///   exceeded.
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

    /// The approximate number of bytes of a row in addition to its values.
    private static let rowOverhead = 16
    /// The number of bytes after which the memory is accounted for.
    private static let accountedBytes = 64 << 10

    /// Returns a snapshot of a caller.
    ///
    /// - Throws: ``ODataError`` 410 if it does not exist anymore or belongs to another caller.
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

    /// Returns the query that reads a snapshot in its order.
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
