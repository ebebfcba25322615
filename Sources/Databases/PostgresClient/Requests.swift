import Synchronization

/// The place at which a caller waits for a value. It is filled once: with the value, an error, or a cancellation.
final class Ticket<Value: Sendable>: Sendable {
    private enum Slot {
        case new
        case waiting(CheckedContinuation<Result<Value, PostgresError>, Never>)
        case done(Result<Value, PostgresError>)
    }

    private let slot = Mutex(Slot.new)

    /// Whether nobody waits any more.
    var isDone: Bool {
        slot.withLock { if case .done = $0 { true } else { false } }
    }

    /// Fills the place.
    ///
    /// - Returns: `false` if it was filled before.
    @discardableResult
    func fill(_ result: Result<Value, PostgresError>) -> Bool {
        let (isFirst, waiting) = slot.withLock {
            slot -> (Bool, CheckedContinuation<Result<Value, PostgresError>, Never>?) in
            switch slot {
            case .done: return (false, nil)
            case .new:
                slot = .done(result)
                return (true, nil)
            case .waiting(let continuation):
                slot = .done(result)
                return (true, continuation)
            }
        }
        waiting?.resume(returning: result)
        return isFirst
    }

    /// Waits for the value.
    ///
    /// - Parameter send: Orders the value. It is not called if the task is cancelled already.
    func value(ordering send: @Sendable () -> Void) async throws(PostgresError) -> Value {
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let early = slot.withLock { slot -> Result<Value, PostgresError>? in
                    if case .done(let result) = slot { return result }
                    slot = .waiting(continuation)
                    return nil
                }
                if let early { continuation.resume(returning: early) } else { send() }
            }
        } onCancel: {
            fill(.failure(.cancelled))
        }
        return try result.get()
    }
}

/// Statements that a connection sends with one sync. Outside a transaction they are one of their own (trap 4).
struct Request: Sendable {
    let ticket = Ticket<[PostgresRows]>()
    let statements: [PostgresStatement]
    /// The end of the wait for a connection.
    let deadline: ContinuousClock.Instant
    /// Whether the statements belong to an open transaction, and cannot be sent again alone.
    let isInTransaction: Bool
    /// Whether the statements were sent again because a prepared one was gone.
    var isSecondTry = false
    /// Whether this is the first statement of a connection.
    var isGreeting = false
}

/// A COPY into a table.
struct CopyRequest: Sendable {
    let ticket = Ticket<Int>()
    /// The statement.
    let text: String
    /// The data in pieces.
    let pieces: [[UInt8]]
}

/// A leased connection. After a loss, the connection has another generation.
struct Lease: Hashable, Sendable {
    let link: Int
    let generation: Int
}

/// A request for a lease.
struct LeaseRequest: Sendable {
    let ticket = Ticket<Lease>()
    let deadline: ContinuousClock.Instant
}

/// An order for the poll thread.
enum Order: Sendable {
    case point(Request)
    case lease(LeaseRequest)
    case work(Request, Lease)
    case copy(CopyRequest, Lease)
    case release(Lease)
    case connected(link: Int, generation: Int, Connected)
    case listen(String)
}
