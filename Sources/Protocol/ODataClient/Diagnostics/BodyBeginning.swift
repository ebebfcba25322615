import Synchronization

/// Buffers the first bytes of a body for the log. Redaction needs them together, because a secret that is split
/// over two chunks would be found in neither.
final class BodyBeginning: Sendable {
    private let limit: Int
    private let state = Mutex((bytes: [UInt8](), isTold: false))

    /// - Parameter limit: The number of bytes to buffer.
    init(limit: Int) { self.limit = limit }

    /// Adds a chunk.
    ///
    /// - Returns: The first bytes when the limit is reached, otherwise `nil`. They are returned only once.
    func add(_ chunk: [UInt8]) -> [UInt8]? {
        state.withLock { state in
            guard !state.isTold else { return nil }
            state.bytes += chunk.prefix(limit - state.bytes.count)
            return state.bytes.count < limit ? nil : Self.take(&state)
        }
    }

    /// Returns the buffered bytes at the end of the body, or `nil` if they were returned before.
    func end() -> [UInt8]? {
        state.withLock { state in state.isTold ? nil : Self.take(&state) }
    }

    private static func take(_ state: inout (bytes: [UInt8], isTold: Bool)) -> [UInt8] {
        defer { state = ([], true) }
        return state.bytes
    }
}
