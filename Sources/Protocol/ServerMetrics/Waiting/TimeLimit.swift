import Synchronization

/// Waiting for work that may never end, also if it ignores its cancellation.
enum TimeLimit {
    /// Runs work within a limit.
    ///
    /// - Returns: `nil` if the work has not ended in time. It is then cancelled, and nobody waits for it.
    static func run<Success: Sendable>(
        within limit: Duration, _ work: @escaping @Sendable () async -> Success
    ) async -> Success? {
        let task = Task { await work() }
        return await withTaskCancellationHandler {
            await value(of: task, within: limit)
        } onCancel: {
            task.cancel()
        }
    }

    /// Waits for a task, which is cancelled at the limit.
    static func value<Success: Sendable>(of task: Task<Success, Never>, within limit: Duration) async -> Success? {
        let result: Success? = await withCheckedContinuation { continuation in
            let first = FirstResult(continuation)
            let timer = Task {
                try? await Task.sleep(for: limit)
                first.resume(nil)
            }
            Task {
                first.resume(await task.value)
                timer.cancel()
            }
        }
        if result == nil { task.cancel() }
        return result
    }

    /// Resumes with the first of several results.
    private final class FirstResult<Value: Sendable>: Sendable {
        private let continuation: Mutex<CheckedContinuation<Value?, Never>?>

        init(_ continuation: CheckedContinuation<Value?, Never>) { self.continuation = Mutex(continuation) }

        func resume(_ value: Value?) {
            let waiting = continuation.withLock { continuation in
                defer { continuation = nil }
                return continuation
            }
            waiting?.resume(returning: value)
        }
    }
}
