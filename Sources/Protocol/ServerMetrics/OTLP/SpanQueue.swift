import Synchronization

/// The spans that wait for their export, up to a limit.
final class SpanQueue: Sendable {
    private struct State {
        var spans: [FinishedSpan] = []
        var isClosed = false
    }

    private let limit: Int
    private let state = Mutex(State())

    init(limit: Int) { self.limit = max(1, limit) }

    /// Adds a span.
    ///
    /// - Returns: The number of spans that wait; `nil` if the span was dropped.
    func add(_ span: FinishedSpan) -> Int? {
        state.withLock { state in
            guard !state.isClosed, state.spans.count < limit else { return nil }
            state.spans.append(span)
            return state.spans.count
        }
    }

    /// Removes and returns the oldest spans.
    func take(_ count: Int) -> [FinishedSpan] {
        state.withLock { state in
            let taken = Array(state.spans.prefix(max(1, count)))
            state.spans.removeFirst(taken.count)
            return taken
        }
    }

    /// Refuses further spans.
    func close() { state.withLock { $0.isClosed = true } }
}
