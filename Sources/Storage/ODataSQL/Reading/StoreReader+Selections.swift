import GRDB
import ODataModel
import ODataQuery
import ODataService

/// Results of dynamic queries.
extension StoreReader {
    /// The maximum number of rows of a result that is read at once.
    static let maxSelectedRows = 100_000
    /// The number of rows that are read in one transaction.
    private static let rowsOfStep = 1_000

    /// Compiles a dynamic query in a transaction, which determines the hidden rows.
    private func prepare(_ selection: BoundSelection, in database: Database) throws -> CompiledQuery {
        var options = restricting(
            SQLCompiler.Options(
                now: configuration.now(), hasHiddenOwners: try configuration.hasHiddenOwners(database)))
        options.loadedData = try configuration.loadedData(database)
        let compiled = try SQLCompiler(mapping: mapping, options: options).compile(selection)
        try compiled.requirements.check(in: database)
        return compiled
    }

    private var budget: RequestBudget? {
        configuration.limits == .unlimited ? nil : RequestBudget(configuration.limits)
    }

    /// Returns the whole result of a dynamic query.
    ///
    /// - Throws: ``ODataError`` 413 for more than 100,000 rows.
    func select(_ selection: BoundSelection, in reader: any DatabaseReader) async throws -> SelectionResult {
        let budget = budget
        return try await reading(reader, budget) { database in
            let compiled = try prepare(selection, in: database)
            let columns = selection.resultColumns
            var run = try PageRun(compiled, after: nil, pageSize: nil, budget: budget)
            var rows: [SelectionRow] = []
            _ = try run.run(in: database) { row in
                guard rows.count < Self.maxSelectedRows else { throw Self.tooLarge }
                rows.append(try Self.row(row, compiled.plan, columns: columns, in: mapping.model))
                return true
            }
            return SelectionResult(columns: columns, rows: rows)
        }
    }

    private static var tooLarge: ODataError {
        ODataError(
            status: 413, code: "ResultTooLarge",
            message:
                "The result has more than \(maxSelectedRows) rows. Read the rows one after the other, or take less.")
    }

    /// Runs a dynamic query and stores its rows, which are read afterwards.
    func snapshot(_ selection: BoundSelection, in reader: any DatabaseReader) async throws -> SelectionRun {
        let budget = budget
        return try await reading(reader, budget) { database in
            let compiled = try prepare(selection, in: database)
            let snapshot = try snapshots.take(compiled, in: database, for: principal, budget: budget)
            let run = try PageRun(compiled, after: nil, pageSize: nil, snapshot: snapshot, budget: budget)
            return SelectionRun(run: run, columns: selection.resultColumns)
        }
    }

    /// Returns the next rows of a snapshot; none at its end.
    func next(_ run: SelectionRun, in reader: any DatabaseReader) async throws -> (SelectionRun, [SelectionRow]) {
        try await reading(reader, nil) { database in
            var (run, rows) = (run, [SelectionRow]())
            let (plan, columns) = (run.run.compiled.plan, run.columns)
            guard !run.isEnded else { return (run, rows) }
            let outcome = try run.run.run(in: database) { row in
                rows.append(try Self.row(row, plan, columns: columns, in: mapping.model))
                return rows.count < Self.rowsOfStep
            }
            run.isEnded = outcome == .ended
            return (run, rows)
        }
    }

    private static func row(
        _ row: StoredRow, _ plan: ResultPlan, columns: [SelectionColumn], in model: EntityDataModel
    ) throws -> SelectionRow {
        var values: [ODataValue] = []
        values.reserveCapacity(columns.count)
        for field in plan.fields {
            guard case .value(_, _, let slot) = field else { continue }
            values.append(try slot.storage.decode(row.value(slot.index), in: model))
        }
        return SelectionRow(columns: columns, values: values)
    }

    /// Explains a dynamic query without reading rows.
    func explain(_ selection: BoundSelection, in reader: any DatabaseReader) async throws -> QueryExplanation {
        try await reading(reader, nil) { database in
            let compiled = try prepare(selection, in: database)
            let fragment = compiled.firstPage(limit: compiled.top, offset: compiled.skip)
            return QueryExplanation(
                tree: SelectionOutline(selection).lines,
                statements: [try Self.statement("rows", fragment, in: database)])
        }
    }
}

/// The state of reading a snapshot of a dynamic query's result.
struct SelectionRun: Sendable {
    var run: PageRun
    let columns: [SelectionColumn]
    var isEnded = false
}

/// The rows of a dynamic query, one after the other. They are read from a snapshot of the result, so that changes
/// meanwhile have no effect, and only some rows are in memory at a time.
///
/// ```swift
/// for try await row in try store.queries.rows(of: selection) {
///     print(try row.optional("City", as: String.self) ?? "-")
/// }
/// ```
public struct SelectionRows: AsyncSequence, Sendable {
    /// The columns.
    public let columns: [SelectionColumn]
    private let start: @Sendable () async throws -> SelectionRun
    private let following: @Sendable (SelectionRun) async throws -> (SelectionRun, [SelectionRow])

    init(
        columns: [SelectionColumn], start: @escaping @Sendable () async throws -> SelectionRun,
        following: @escaping @Sendable (SelectionRun) async throws -> (SelectionRun, [SelectionRow])
    ) {
        self.columns = columns
        self.start = start
        self.following = following
    }

    /// Returns an iterator, which makes its own snapshot.
    public func makeAsyncIterator() -> Iterator { Iterator(rows: self) }

    /// An iterator over the rows.
    public struct Iterator: AsyncIteratorProtocol {
        private let rows: SelectionRows
        private var run: SelectionRun?
        private var buffer: ArraySlice<SelectionRow> = []

        init(rows: SelectionRows) { self.rows = rows }

        /// Returns the next row; `nil` after the last one.
        ///
        /// - Throws: `ODataError`, also 413 for a result of more than 1,000,000 rows.
        public mutating func next() async throws -> SelectionRow? {
            if let row = buffer.popFirst() { return row }
            let current = if let run { run } else { try await rows.start() }
            let (run, more) = try await rows.following(current)
            self.run = run
            buffer = more[...]
            return buffer.popFirst()
        }
    }
}
