import GRDB
import ODataModel
import ODataService

/// An incremental run of a compiled query. Each run opens its statements, reads some rows and closes the
/// statements; the next run continues after the last row.
package struct PageRun: Sendable {
    /// The reasons for which a run stops.
    package enum Outcome: Hashable, Sendable {
        /// The caller has enough rows for now.
        case paused
        /// The page is full, and more rows follow.
        case pageIsFull
        /// There are no more rows.
        case ended
    }

    let compiled: CompiledQuery
    /// The snapshot from which rows are read; `nil` for the tables.
    private let snapshot: ResultSnapshots.Snapshot?
    private let budget: RequestBudget?
    /// The sort values of the last row; `nil` before the first row.
    private(set) var position: [DatabaseValue]?
    /// The number of rows that still fit on the page; `nil` for no limit.
    private var pageLeft: Int?
    /// Whether the page has become longer than the limit of the current statement.
    private var isExtended = false
    /// The remainder of `$top`.
    private(set) var topLeft: Int?

    /// Starts at the first row, or after the row of a token.
    package init(
        _ compiled: CompiledQuery, after token: PageToken?, pageSize: Int?,
        snapshot: ResultSnapshots.Snapshot? = nil, budget: RequestBudget? = nil
    ) throws {
        let compiled = snapshot?.compiled ?? compiled
        self.compiled = compiled
        self.snapshot = snapshot
        self.budget = budget
        pageLeft = pageSize
        topLeft = compiled.top
        guard let token else { return }
        guard token.values.count == compiled.order.count, compiled.canResume else { throw PageToken.foreign }
        position = token.values
        topLeft = token.remaining
    }

    /// Reads rows until `row` returns `false`, the page is full, or there are no more rows.
    ///
    /// - Parameters:
    ///   - database: a connection; no statement stays open on it.
    ///   - row: receives a row and returns whether it needs more rows.
    mutating func run(in database: Database, _ row: (StoredRow) throws -> Bool) throws -> Outcome {
        guard let snapshot else { return try read(in: database, row) }
        let budget = budget
        return try snapshot.pool.read { spool in try budget.running(on: spool) { try read(in: spool, row) } }
    }

    private mutating func read(in database: Database, _ row: (StoredRow) throws -> Bool) throws -> Outcome {
        if topLeft == 0 { return .ended }
        repeat {
            isExtended = false
            for fragment in statements() {
                let statement = try StatementCache.statement(fragment.sql, in: database)
                let cursor = try Row.fetchCursor(statement, arguments: StatementArguments(fragment.arguments))
                let stored = StoredRow(statement: statement.sqliteStatement)
                var outcome: Outcome?
                do {
                    // A loop over `next()` takes longer for each row. This loop can only be left by throwing an
                    // error.
                    try cursor.forEach { _ in
                        outcome = try take(stored, cursor, row: row)
                        if outcome != nil { throw Enough() }
                    }
                } catch is Enough {}
                if let outcome { return outcome }
                // The statement's limit was for a shorter page.
                if isExtended { break }
            }
        } while isExtended
        return .ended
    }

    /// Returns the statements for the rows after ``position``, which are run one after the other.
    private func statements() -> [SQLFragment] {
        if let position {
            let limit = Self.limit(pageLeft, topLeft)
            return compiled.pages(after: position).map { "\($0) LIMIT \(bind: limit)" }
        }
        let top = Self.limit(pageLeft, topLeft)
        return [compiled.firstPage(limit: Int64.fromDatabaseValue(top).map { Int($0) }, offset: compiled.skip)]
    }

    /// An error that ends a loop over rows.
    private struct Enough: Error {}

    /// Processes the current row of a statement.
    ///
    /// - Returns: The reason for which the run ends with this row; `nil` if it continues.
    private mutating func take(
        _ stored: StoredRow, _ cursor: RowCursor, row: (StoredRow) throws -> Bool
    ) throws -> Outcome? {
        if pageLeft == 0 { return .pageIsFull }
        try budget?.takeRows()
        let wantsMore = try row(stored)
        pageLeft = pageLeft.map { $0 - 1 }
        topLeft = topLeft.map { $0 - 1 }
        if topLeft == 0 { return .ended }
        // Rows without a unique key are read in a single run.
        guard pageLeft == 0 || (!wantsMore && compiled.canResume) else { return nil }
        position = compiled.plan.sort.map { stored.value($0) }
        if !wantsMore, pageLeft != 0 { return .paused }
        guard compiled.canResume else {
            if try cursor.next() == nil { return .ended }
            throw ODataError(status: 500, code: "InternalError", message: "Rows without a key were not kept.")
        }
        // A page ends with a row whose values fit into a token.
        if pageLeft == 0, let token = token(now: ODataDateTimeOffset(seconds: 0)), !token.isShort {
            pageLeft = 1
            if !wantsMore { return .paused }
            isExtended = true
        }
        return nil
    }

    /// Returns one row more than the page holds, to detect whether another page follows; -1 for no limit.
    private static func limit(_ page: Int?, _ top: Int?) -> DatabaseValue {
        let page = page.map { $0 == .max ? $0 : $0 + 1 }
        let least = [page, top].compactMap { $0 }.min()
        return (least ?? -1).databaseValue
    }

    /// Returns the token for the next page.
    func token(now: ODataDateTimeOffset) -> PageToken? {
        position.map {
            PageToken(
                digest: compiled.digest, now: now, remaining: topLeft, values: $0, snapshot: snapshot?.id)
        }
    }
}
