extension Task where Failure == any Error {
    /// The value of a task with several waiters. If a waiter is cancelled, only that waiter stops waiting; the
    /// task continues, and its value remains available.
    ///
    /// - Throws: `CancellationError` if the waiting task is cancelled; otherwise the error of the task.
    var valueUnlessCancelled: Success {
        get async throws {
            let (values, output) = AsyncThrowingStream<Success, any Error>.makeStream()
            _Concurrency.Task<Void, Never> {
                do {
                    output.yield(try await value)
                    output.finish()
                } catch {
                    output.finish(throwing: error)
                }
            }
            // The iteration ends without a value if the waiting task is cancelled.
            for try await value in values { return value }
            throw _Concurrency.CancellationError()
        }
    }
}
