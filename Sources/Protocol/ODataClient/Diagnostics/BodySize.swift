import Synchronization

/// Counts the bytes of a body for the log.
final class BodySize: Sendable {
    private let state = Mutex((bytes: 0, isTold: false))

    func add(_ count: Int) { state.withLock { $0.bytes += count } }

    /// Returns the size at the end of the body, or `nil` if it was returned before.
    func end() -> Int? {
        state.withLock { state in
            defer { state.isTold = true }
            return state.isTold ? nil : state.bytes
        }
    }
}
