import ODataService
import Synchronization

/// Bounds the requests that one destination serves at once, oldest first (`mobile-server.md` 5.10), and stops sending to
/// a destination that fails.
final class DestinationGate: Sendable {
    /// The reason why a request is not admitted.
    enum Refusal: Error, Hashable {
        /// The queue is full, or the wait was too long.
        case busy
        /// The destination failed repeatedly. Seconds until the next try.
        case open(retryAfter: Int)
    }

    /// The number of failures within ``failureWindow`` that open the breaker.
    static let failureLimit = 5
    /// The time in which failures count.
    static let failureWindow = Duration.seconds(10)
    /// The time for which an open breaker refuses everything.
    static let openTime = Duration.seconds(10)

    private struct Waiter {
        let number: UInt64
        let continuation: CheckedContinuation<Void, any Error>
    }

    private struct State {
        var running = 0
        var waiters: [Waiter] = []
        var next: UInt64 = 0
        var failures: [ContinuousClock.Instant] = []
        var openedAt: ContinuousClock.Instant?
        var isProbing = false
    }

    private let limit: Int
    private let queue: Int
    private let wait: Duration
    private let now: @Sendable () -> ContinuousClock.Instant
    private let state = Mutex(State())

    /// Creates a gate.
    ///
    /// - Parameters:
    ///   - limit: The number of requests at once.
    ///   - queue: The number of requests that may wait.
    ///   - wait: The longest wait.
    init(
        limit: Int, queue: Int, wait: Duration = .seconds(10),
        now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) {
        self.limit = max(1, limit)
        self.queue = max(0, queue)
        self.wait = wait
        self.now = now
    }

    /// The number of admitted requests.
    var running: Int { state.withLock { $0.running } }

    /// Whether the breaker is open.
    var isOpen: Bool { state.withLock { $0.openedAt != nil } }

    /// Waits for a place.
    ///
    /// - Throws: ``Refusal``; `CancellationError`.
    func enter() async throws -> Place {
        try checkBreaker()
        do {
            return try await admitted()
        } catch {
            // The probe of an open breaker was not sent.
            state.withLock { $0.isProbing = false }
            throw error
        }
    }

    private func admitted() async throws -> Place {
        let number: UInt64? = try state.withLock { state in
            if state.running < limit {
                state.running += 1
                return nil
            }
            guard state.waiters.count < queue else { throw Refusal.busy }
            state.next += 1
            return state.next
        }
        guard let number else { return Place(self) }
        let deadline = Task { [wait] in
            try? await Task.sleep(for: wait)
            if !Task.isCancelled { self.giveUp(number, Refusal.busy) }
        }
        defer { deadline.cancel() }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let isFree = state.withLock { state in
                    // A place may have become free in between.
                    if state.running < limit {
                        state.running += 1
                        return true
                    }
                    state.waiters.append(Waiter(number: number, continuation: continuation))
                    return false
                }
                if isFree { continuation.resume() }
                if Task.isCancelled { giveUp(number, CancellationError()) }
            }
        } onCancel: {
            giveUp(number, CancellationError())
        }
        return Place(self)
    }

    private func giveUp(_ number: UInt64, _ error: any Error) {
        let waiter = state.withLock { state -> Waiter? in
            guard let index = state.waiters.firstIndex(where: { $0.number == number }) else { return nil }
            return state.waiters.remove(at: index)
        }
        waiter?.continuation.resume(throwing: error)
    }

    fileprivate func leave() {
        let waiter = state.withLock { state -> Waiter? in
            guard !state.waiters.isEmpty else {
                state.running -= 1
                return nil
            }
            return state.waiters.removeFirst()
        }
        waiter?.continuation.resume()
    }

    // MARK: Breaker

    private func checkBreaker() throws {
        try state.withLock { state in
            guard let opened = state.openedAt else { return }
            let left = Self.openTime - (now() - opened)
            guard left <= .zero, !state.isProbing else {
                throw Refusal.open(retryAfter: max(1, Int(left.components.seconds) + 1))
            }
            // One request finds out whether the destination is back.
            state.isProbing = true
        }
    }

    /// Notes the outcome of a request: whether the destination could be reached and answered in its senses.
    func note(isFailure: Bool) {
        state.withLock { state in
            state.isProbing = false
            guard isFailure else {
                state.failures = []
                state.openedAt = nil
                return
            }
            let now = now()
            if state.openedAt != nil {
                state.openedAt = now
                return
            }
            state.failures = state.failures.filter { now - $0 < Self.failureWindow } + [now]
            if state.failures.count >= Self.failureLimit { state.openedAt = now }
        }
    }

    /// A place in the gate. It is given back when it is released, or nobody holds it any more.
    final class Place: Sendable {
        private let gate: DestinationGate
        private let isHeld = Mutex(true)

        fileprivate init(_ gate: DestinationGate) { self.gate = gate }

        deinit { release() }

        /// Gives the place back.
        func release() {
            let wasHeld = isHeld.withLock { held in
                defer { held = false }
                return held
            }
            if wasHeld { gate.leave() }
        }
    }
}

extension ByteStream {
    /// Returns the stream, which gives a place back at its end.
    func holding(_ place: DestinationGate.Place) -> ByteStream {
        ByteStream(length: length) {
            do {
                let chunk = try await next()
                if chunk == nil { place.release() }
                return chunk
            } catch {
                place.release()
                throw error
            }
        }
    }
}
