import Synchronization

@testable import ObjectAPI

/// A synchronization queue with an exchange that ends when a test says so.
final class QueueBench: Sendable {
    struct Refusal: Error {}

    private struct State {
        var log: [String] = []
        var exchanges: [[String]] = []
        var waiting: CheckedContinuation<Void, any Error>?
        var tickets: [String: SynchronizationTicket] = [:]
    }

    private let state = Mutex(State())
    private let box = Mutex<SynchronizationQueue?>(nil)

    init(permits: SynchronizationPermits = SynchronizationPermits(limit: 4)) {
        let queue = SynchronizationQueue(
            permits: permits,
            listener: { [weak self] status, context in self?.note("\(context ?? "-") \(status)") },
            exchange: { [weak self] groups, report in
                guard let self else { throw CancellationError() }
                report(.uploading)
                report(.downloading)
                try await self.exchange(groups)
                return SyncReport()
            })
        box.withLock { $0 = queue }
    }

    var queue: SynchronizationQueue {
        guard let queue = box.withLock({ $0 }) else { preconditionFailure("The bench is not set up.") }
        return queue
    }

    var log: [String] { state.withLock { $0.log } }
    var exchanges: [[String]] { state.withLock { $0.exchanges } }
    var isWaiting: Bool { state.withLock { $0.waiting != nil } }

    func note(_ text: String) { state.withLock { $0.log.append(text) } }

    func begin(_ context: String, _ groups: Set<String> = []) {
        let ticket = queue.begin(groups, context: context)
        state.withLock { $0.tickets[context] = ticket }
    }

    func cancel(_ context: String) { state.withLock { $0.tickets[context] }?.cancel() }

    /// The result of a call in a word.
    func result(_ context: String) async -> String {
        guard let ticket = state.withLock({ $0.tickets[context] }) else { return "missing" }
        do {
            _ = try await ticket.report()
            return "done"
        } catch is CancellationError {
            return "cancelled"
        } catch ObjectError.synchronizationDisabled {
            return "disabled"
        } catch {
            return "failed"
        }
    }

    private func exchange(_ groups: Set<String>) async throws {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                state.withLock { state in
                    state.exchanges.append(groups.sorted())
                    if Task.isCancelled {
                        continuation.resume(throwing: CancellationError())
                    } else {
                        state.waiting = continuation
                    }
                }
            }
        } onCancel: {
            end(.failure(CancellationError()))
        }
    }

    /// Ends the exchange that runs.
    func end(_ result: Result<Void, any Error> = .success(())) {
        let waiting = state.withLock { state in
            defer { state.waiting = nil }
            return state.waiting
        }
        waiting?.resume(with: result)
    }

    /// Waits until a number of exchanges have begun and the last one waits for its end.
    func waitForExchange(_ number: Int) async throws {
        try await wait { $0.exchanges.count == number && $0.isWaiting }
    }

    /// Waits for a condition, 10 seconds at most.
    func wait(_ condition: (QueueBench) -> Bool) async throws {
        for _ in 0..<10_000 {
            if condition(self) { return }
            try await Task.sleep(for: .milliseconds(1))
        }
        throw Refusal()
    }
}
