import Synchronization

/// Sends values to any number of streams in the order of their sending.
final class Broadcast<Element: Sendable>: Sendable {
    private struct State {
        var listeners: [UInt64: AsyncStream<Element>.Continuation] = [:]
        var last: UInt64 = 0
        var sent = 0
    }

    private let state = Mutex(State())

    deinit {
        for listener in state.withLock({ $0.listeners.values }) { listener.finish() }
    }

    /// Returns a stream of all values that are sent from now on.
    func stream() -> AsyncStream<Element> {
        let (stream, continuation) = AsyncStream.makeStream(of: Element.self)
        let number = state.withLock { state in
            state.last += 1
            state.listeners[state.last] = continuation
            return state.last
        }
        continuation.onTermination = { [weak self] _ in
            self?.state.withLock { _ = $0.listeners.removeValue(forKey: number) }
        }
        return stream
    }

    /// The number of values that were sent.
    var sent: Int { state.withLock { $0.sent } }

    func send(_ element: Element) {
        // Sends while the lock is held, so that every stream has the same order.
        state.withLock { state in
            state.sent += 1
            for listener in state.listeners.values { listener.yield(element) }
        }
    }
}

/// Waits for the result of work that belongs to somebody else: a cancelled wait does not cancel the work.
func waiting<Value: Sendable>(for work: Task<Result<Value, MobileError>, Never>) async throws(MobileError) -> Value {
    let (results, continuation) = AsyncStream.makeStream(of: Result<Value, MobileError>.self)
    let watch = Task {
        continuation.yield(await work.value)
        continuation.finish()
    }
    defer { watch.cancel() }
    for await result in results { return try result.get() }
    throw .cancelled
}
