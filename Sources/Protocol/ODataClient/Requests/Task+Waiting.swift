extension Task where Failure == any Error {
    /// The value of work that others wait for too. Who is cancelled waits no longer; the work goes on for the rest, and
    /// what it gives is there for whoever asks next.
    ///
    /// - Throws: `CancellationError` when the waiting task is cancelled, else what the work throws.
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
            // A stream that is waited for by a cancelled task ends without a value.
            for try await value in values { return value }
            throw _Concurrency.CancellationError()
        }
    }
}
