import ODataService
import Synchronization

/// A running request. It is cancelled when its caller disconnects or the drain time of the server is over.
///
/// The budget stops its database statements; the cancellation of its task stops everything else.
final class RunningRequest: Sendable {
    private struct State {
        var isCancelled = false
        var cancelTask: (@Sendable () -> Void)?
    }

    let budget: RequestBudget
    private let state = Mutex(State())

    init(_ budget: RequestBudget) { self.budget = budget }

    /// Runs one step of the response in a separate task; at most one at a time.
    func perform<Value: Sendable>(_ body: @escaping @Sendable () async throws -> Value) async throws -> Value {
        let task = RequestBudget.$current.withValue(budget) { Task { try await body() } }
        return try await value(of: task)
    }

    /// Runs one step of the response that does not throw.
    func perform<Value: Sendable>(_ body: @escaping @Sendable () async -> Value) async -> Value {
        let task = RequestBudget.$current.withValue(budget) { Task { await body() } }
        begin { task.cancel() }
        defer { end() }
        return await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
        }
    }

    private func value<Value: Sendable>(of task: Task<Value, any Error>) async throws -> Value {
        begin { task.cancel() }
        defer { end() }
        return try await withTaskCancellationHandler {
            try await task.value
        } onCancel: {
            task.cancel()
        }
    }

    private func begin(_ cancelTask: @escaping @Sendable () -> Void) {
        let isCancelled = state.withLock { state in
            state.cancelTask = cancelTask
            return state.isCancelled
        }
        if isCancelled { cancelTask() }
    }

    private func end() { state.withLock { $0.cancelTask = nil } }

    func cancel() {
        budget.cancel()
        let cancelTask = state.withLock { state in
            state.isCancelled = true
            return state.cancelTask
        }
        cancelTask?()
    }
}
