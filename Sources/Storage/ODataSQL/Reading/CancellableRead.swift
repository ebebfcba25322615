import GRDB
import ODataService
import Synchronization

/// A read of a server request that ends immediately when its task is cancelled, even while it waits for a
/// connection.
///
/// A cancelled asynchronous read of GRDB ends only after it has waited for a connection. The request of a closed
/// connection would therefore count against the limits until all earlier reads have ended. A read that has started
/// ends at the next check of its budget.
private final class CancellableRead<Value: Sendable>: Sendable {
    private enum State {
        case new
        case waiting(CheckedContinuation<Value, any Error>)
        case reading
        case left
    }

    private let state = Mutex(State.new)

    /// Starts to wait. If the task is already cancelled, the continuation is resumed with `CancellationError`.
    ///
    /// - Returns: Whether the read must be scheduled.
    func wait(_ continuation: CheckedContinuation<Value, any Error>) -> Bool {
        let isNew = state.withLock { state in
            guard case .new = state else { return false }
            state = .waiting(continuation)
            return true
        }
        if !isNew { continuation.resume(throwing: CancellationError()) }
        return isNew
    }

    /// Starts the read.
    ///
    /// - Returns: The continuation for the result; `nil` if the task was cancelled.
    func begin() -> CheckedContinuation<Value, any Error>? {
        state.withLock { state in
            guard case .waiting(let continuation) = state else { return nil }
            state = .reading
            return continuation
        }
    }

    var isLeft: Bool { state.withLock { if case .left = $0 { true } else { false } } }

    /// Stops waiting for a connection.
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
    /// Reads in one transaction, within the budget of a request if it has one. Waiting for a connection ends
    /// immediately when the task is cancelled.
    ///
    /// - Throws: `CancellationError`; the errors of ``RequestBudget/running(on:unless:_:)`` and of `body`.
    package func reading<Value: Sendable>(
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
