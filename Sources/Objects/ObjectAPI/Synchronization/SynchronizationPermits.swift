import Synchronization

/// A limit of the exchanges that run at the same time. One that exceeds the limit waits for the end of another one.
///
/// ```swift
/// var synchronization = SynchronizationProfile(connect: connect)
/// synchronization.permits = SynchronizationPermits(limit: 4)
/// ```
public final class SynchronizationPermits: Sendable {
    private struct State {
        var free: Int
        var last = 0
        var waiting: [(id: Int, continuation: CheckedContinuation<Void, any Error>)] = []
    }

    /// The permits that all databases of the process share unless a profile names others: 32.
    public static let process = SynchronizationPermits(limit: 32)

    /// The number of exchanges that run at the same time, 1 or more.
    public let limit: Int
    private let state: Mutex<State>

    /// Creates permits.
    ///
    /// - Parameter limit: the number of exchanges that run at the same time; less than 1 counts as 1.
    public init(limit: Int) {
        self.limit = max(1, limit)
        state = Mutex(State(free: max(1, limit)))
    }

    /// Runs a closure when a permit is free.
    ///
    /// - Throws: `CancellationError` if the task is cancelled while it waits; the error of the closure.
    func withPermit<Value: Sendable>(_ body: () async throws -> Value) async throws -> Value {
        try await take()
        defer { giveBack() }
        return try await body()
    }

    private func take() async throws {
        let id = state.withLock { state in
            state.last += 1
            return state.last
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                // A cancellation that comes first finds nothing to take out of the line, and is seen here.
                let outcome = state.withLock { state -> Result<Void, any Error>? in
                    if Task.isCancelled { return .failure(CancellationError()) }
                    if state.free > 0 {
                        state.free -= 1
                        return .success(())
                    }
                    state.waiting.append((id, continuation))
                    return nil
                }
                if let outcome { continuation.resume(with: outcome) }
            }
        } onCancel: {
            let waiting = state.withLock { state in
                state.waiting.firstIndex { $0.id == id }.map { state.waiting.remove(at: $0).continuation }
            }
            waiting?.resume(throwing: CancellationError())
        }
    }

    private func giveBack() {
        let next = state.withLock { state -> CheckedContinuation<Void, any Error>? in
            guard !state.waiting.isEmpty else {
                state.free += 1
                return nil
            }
            return state.waiting.removeFirst().continuation
        }
        next?.resume()
    }
}
