import Synchronization

/// The choice among reading connections. A read goes to the connection with the fewest reads, so that a long statement
/// does not keep others waiting as long as another connection is free.
final class ReaderChoice: Sendable {
    private struct State {
        var running: [Int]
        var last = 0
    }

    private let state: Mutex<State>

    /// - Parameter count: the number of connections, at least 1.
    init(count: Int) { state = Mutex(State(running: Array(repeating: 0, count: max(1, count)))) }

    /// Runs a read on the quietest connection. Equally quiet ones take turns.
    ///
    /// - Parameter body: receives the index of the connection.
    func reading<Result>(_ body: (Int) async throws -> Result) async rethrows -> Result {
        let index = state.withLock { state in
            let count = state.running.count
            let turns = (1...count).map { (state.last + $0) % count }
            let index = turns.min { state.running[$0] < state.running[$1] } ?? 0
            state.running[index] += 1
            state.last = index
            return index
        }
        defer { state.withLock { $0.running[index] -= 1 } }
        return try await body(index)
    }
}
