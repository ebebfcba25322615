import Synchronization

/// The first bytes of a body, put together before anything is made of them: a secret that two chunks share could be found in
/// neither.
final class BodyBeginning: Sendable {
    private let limit: Int
    private let state = Mutex((bytes: [UInt8](), isTold: false))

    /// - Parameter limit: how many bytes are wanted.
    init(limit: Int) { self.limit = limit }

    /// Takes a chunk.
    ///
    /// - Returns: the beginning, once it is all there; `nil` before and after.
    func add(_ chunk: [UInt8]) -> [UInt8]? {
        state.withLock { state in
            guard !state.isTold else { return nil }
            state.bytes += chunk.prefix(limit - state.bytes.count)
            return state.bytes.count < limit ? nil : Self.take(&state)
        }
    }

    /// The beginning of a body that has ended before; `nil` when it was given already.
    func end() -> [UInt8]? {
        state.withLock { state in state.isTold ? nil : Self.take(&state) }
    }

    private static func take(_ state: inout (bytes: [UInt8], isTold: Bool)) -> [UInt8] {
        defer { state = ([], true) }
        return state.bytes
    }
}
