import GRDB
import ODataService
import Synchronization

/// A read of a served request that ends as soon as its task is cancelled, even while it waits for a connection.
///
/// An asynchronous read of GRDB waits for its turn before it ends: the request of a closed connection would count against the
/// limits until all reads before it have ended. A read that has begun ends at the next check of its budget.
private final class CancellableRead<Value: Sendable>: Sendable {
    private enum State {
        case new
        case waiting(CheckedContinuation<Value, any Error>)
        case reading
        case left
    }

    private let state = Mutex(State.new)

    /// Begins to wait. If the task is cancelled already, the continuation is resumed with `CancellationError`.
    ///
    /// - Returns: Whether the read is to be asked for.
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
    /// - Returns: The continuation that takes the result; `nil` if the task was cancelled.
    func begin() -> CheckedContinuation<Value, any Error>? {
        state.withLock { state in
            guard case .waiting(let continuation) = state else { return nil }
            state = .reading
            return continuation
        }
    }

    /// Whether the task was cancelled.
    var isLeft: Bool { state.withLock { if case .left = $0 { true } else { false } } }

    /// Ends the wait for a connection.
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
    /// Reads in one transaction, within the budget of a request if it has one. The wait for a connection ends as soon as the task
    /// is cancelled.
    ///
    /// - Throws: `CancellationError`; the errors of ``RequestBudget/running(on:unless:_:)`` and of `body`.
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
