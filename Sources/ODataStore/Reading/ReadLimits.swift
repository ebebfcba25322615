import GRDB
import GRDBSQLite
import ODataService
import Synchronization

/// What one request may cost.
public struct ReadLimits: Sendable {
    /// How long SQLite may work on one piece of an answer; `nil` for no limit.
    public var time: Duration?
    /// The most rows of one answer, expanded ones included; `nil` for no limit.
    public var rows: Int?

    /// No limits.
    public init() {}

    /// Limits.
    ///
    /// - Parameters:
    ///   - time: how long SQLite may work on one piece of an answer, which is a page or 256 KB of it.
    ///   - rows: the most rows of one answer, expanded ones included.
    public init(time: Duration? = nil, rows: Int? = nil) {
        self.time = time
        self.rows = rows
    }

    /// How many instructions of its machine SQLite runs between two looks at the clock.
    private static let instructions: Int32 = 10_000

    /// Runs statements that are stopped when the time is over.
    ///
    /// - Throws: ``ODataError`` 503 with the code `TimeLimit`.
    func timed<Value>(_ database: Database, _ body: () throws -> Value) throws -> Value {
        guard let time else { return try body() }
        let deadline = Deadline(ContinuousClock.now + time)
        let connection = database.sqliteConnection
        sqlite3_progress_handler(
            connection, Self.instructions,
            { pointer in
                guard let pointer else { return 0 }
                return Unmanaged<Deadline>.fromOpaque(pointer).takeUnretainedValue().isOver ? 1 : 0
            }, Unmanaged.passUnretained(deadline).toOpaque())
        defer { sqlite3_progress_handler(connection, 0, nil, nil) }
        return try withExtendedLifetime(deadline) {
            do {
                return try body()
            } catch let error as DatabaseError where error.resultCode == .SQLITE_INTERRUPT && deadline.isOver {
                throw ODataError(
                    status: 503, code: "TimeLimit", message: "The query takes longer than \(time).")
            }
        }
    }

    private final class Deadline {
        let end: ContinuousClock.Instant
        init(_ end: ContinuousClock.Instant) { self.end = end }
        var isOver: Bool { ContinuousClock.now >= end }
    }
}

/// How many rows an answer may still have.
final class RowBudget: Sendable {
    private let limit: Int
    private let taken = Atomic<Int>(0)

    /// A budget; `nil` for no limit.
    init?(_ limits: ReadLimits) {
        guard let rows = limits.rows else { return nil }
        limit = rows
    }

    /// Takes one row.
    ///
    /// - Throws: ``ODataError`` 400 with the code `RowLimit` when there is none left.
    func take() throws {
        guard taken.wrappingAdd(1, ordering: .relaxed).newValue <= limit else {
            throw ODataError(
                status: 400, code: "RowLimit",
                message: "The answer has more than \(limit) rows; ask for fewer by $top, $filter or maxpagesize.")
        }
    }
}
