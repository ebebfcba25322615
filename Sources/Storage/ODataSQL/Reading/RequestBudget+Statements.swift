import GRDB
import GRDBSQLite
import ODataService

extension RequestBudget {
    /// The number of SQLite's virtual machine instructions between two checks of the budget, which take well below
    /// 10 ms.
    private static let instructions: Int32 = 10_000
    /// The message of SQLite for a value that exceeds `SQLITE_LIMIT_LENGTH`.
    private static let tooLongMessage = "string or blob too big"

    /// Runs statements of the request on a connection. They are stopped when the request is cancelled or its time
    /// limit is exceeded.
    ///
    /// The body must leave no transaction open. SQLite rolls back the whole write transaction of a stopped
    /// statement, so that it must belong to this request only.
    ///
    /// - Parameters:
    ///   - database: the connection.
    ///   - isLeft: returns whether the result is no longer needed, although the request continues.
    ///   - body: runs the statements.
    /// - Throws: `CancellationError`; ``ODataError`` 503 `TimeLimit`; ``ODataError`` 413 `ResponseTooLarge` for a
    ///   single value that exceeds the request's memory; errors of `body`.
    package func running<Value>(
        on database: Database, unless isLeft: (() -> Bool)? = nil, _ body: () throws -> Value
    ) throws -> Value {
        let watch = StatementWatch(self, isLeft)
        try check()
        let connection = database.sqliteConnection
        sqlite3_progress_handler(
            connection, Self.instructions,
            { pointer in
                guard let pointer else { return 0 }
                return Unmanaged<StatementWatch>.fromOpaque(pointer).takeUnretainedValue().mustStop ? 1 : 0
            }, Unmanaged.passUnretained(watch).toOpaque())
        let formerLength = limits.heldBytes.map { sqlite3_limit(connection, SQLITE_LIMIT_LENGTH, Int32(clamping: $0)) }
        defer {
            sqlite3_progress_handler(connection, 0, nil, nil)
            if let formerLength { sqlite3_limit(connection, SQLITE_LIMIT_LENGTH, formerLength) }
            spend(Self.threadTime - watch.start)
        }
        return try withExtendedLifetime(watch) {
            do {
                return try body()
            } catch let error as DatabaseError where error.resultCode == .SQLITE_INTERRUPT && watch.mustStop {
                throw watch.isLeft ? CancellationError() : tooSlow
            } catch let error as DatabaseError
                where error.resultCode == .SQLITE_TOOBIG && error.message == Self.tooLongMessage
                && limits.heldBytes != nil
            {
                throw tooLarge
            }
        }
    }

    /// The check of the budget while statements run on a thread.
    private final class StatementWatch {
        private let budget: RequestBudget
        private let timeLeft: Duration?
        private let isAlsoLeft: (() -> Bool)?
        let start = RequestBudget.threadTime

        init(_ budget: RequestBudget, _ isLeft: (() -> Bool)?) {
            self.budget = budget
            isAlsoLeft = isLeft
            timeLeft = budget.timeLeft
        }

        var isLeft: Bool { budget.isCancelled || isAlsoLeft?() ?? false }

        var mustStop: Bool {
            if isLeft { return true }
            guard let timeLeft else { return false }
            return RequestBudget.threadTime - start >= timeLeft
        }
    }
}

extension ODataRequest {
    /// Returns the request with a budget, unless it has its own.
    package func sharing(_ budget: RequestBudget?) -> ODataRequest {
        guard let budget, self.context.budget == nil else { return self }
        var request = self
        request.context.budget = budget
        return request
    }
}

extension RequestBudget? {
    /// Runs statements of a request, within its budget if it has one (``RequestBudget/running(on:unless:_:)``).
    package func running<Value>(on database: Database, _ body: () throws -> Value) throws -> Value {
        guard let budget = self else { return try body() }
        return try budget.running(on: database, body)
    }

    /// Runs a write transaction to its end even if the caller is cancelled.
    ///
    /// Only the statements of the request are stopped, inside ``RequestBudget/running(on:unless:_:)``. Commits,
    /// savepoints and statements for other requests are not stopped; GRDB would interrupt them when the task is
    /// cancelled. Requests of an app have no budget, and GRDB cancels them as usual.
    package func shielding<Value: Sendable>(
        _ body: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        guard self != nil else { return try await body() }
        return try await Task { try await body() }.value
    }

    /// Returns the budget of a request, or a new one with the limits of the provider; `nil` if there is no limit.
    package init(of request: ODataRequest, orElse limits: RequestBudget.Limits) {
        self = request.context.budget ?? (limits == .unlimited ? nil : RequestBudget(limits))
    }
}
