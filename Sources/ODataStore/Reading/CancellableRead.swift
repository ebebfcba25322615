import GRDB
import ODataService
import Synchronization

/// A read of a served request, which its caller can leave while it waits for a connection.
///
/// GRDB's own asynchronous read has to wait for its turn before it ends, so that a caller who has gone would count among those
/// who are served for as long as the reads before it take. A read that has begun ends at its next check.
private final class CancellableRead<Value: Sendable>: Sendable {
    private enum State {
        case new
        case waiting(CheckedContinuation<Value, any Error>)
        case reading
        case left
    }

    private let state = Mutex(State.new)

    /// Begins to wait; a caller who has left already hears of it at once.
    func wait(_ continuation: CheckedContinuation<Value, any Error>) -> Bool {
        let isNew = state.withLock { state in
            guard case .new = state else { return false }
            state = .waiting(continuation)
            return true
        }
        if !isNew { continuation.resume(throwing: CancellationError()) }
        return isNew
    }

    /// Takes the turn.
    ///
    /// - Returns: What waits for the result; `nil` if the caller has left.
    func begin() -> CheckedContinuation<Value, any Error>? {
        state.withLock { state in
            guard case .waiting(let continuation) = state else { return nil }
            state = .reading
            return continuation
        }
    }

    /// Whether the caller has gone.
    var isLeft: Bool { state.withLock { if case .left = $0 { true } else { false } } }

    /// Ends the wait of a caller who goes.
    func leave() {
        let waiting: CheckedContinuation<Value, any Error>? = state.withLock { state in
            defer { state = .left }
            guard case .waiting(let continuation) = state else { return nil }
            return continuation
        }
        waiting?.resume(throwing: CancellationError())
    }
}

extension RequestBudget? {
    /// Reads in one transaction within the budget of a request, if it has one: who goes while the read waits for a connection
    /// is let go at once.
    ///
    /// - Throws: `CancellationError`; what ``RequestBudget/running(on:unless:_:)`` and `body` throw.
    func reading<Value: Sendable>(
        from reader: any DatabaseReader, _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws -> Value {
        guard let budget = self else { return try await reader.read(body) }
        let read = CancellableRead<Value>()
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                guard read.wait(continuation) else { return }
                reader.asyncRead { database in
                    guard let continuation = read.begin() else { return }
                    continuation.resume(
                        with: Result {
                            let database = try database.get()
                            return try budget.running(on: database, unless: { read.isLeft }) { try body(database) }
                        })
                }
            }
        } onCancel: {
            read.leave()
        }
    }
}
