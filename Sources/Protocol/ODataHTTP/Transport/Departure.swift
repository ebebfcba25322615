import Synchronization

/// How often a request has left in vain or for good: where none has, and it fails, it certainly did not act.
///
/// The steps of a session tell it; one around a session that does not pass the options on keeps it from knowing anything.
package final class Departure: Sendable {
    private struct State {
        /// Whether the one who has the request tells when it leaves.
        var isWatched = true
        /// How often it left and was not certainly refused entrance.
        var sendings = 0
    }

    private let state = Mutex(State())

    package init() {}

    /// The request is given to somebody who may not tell.
    package func handOver() { state.withLock { $0.isWatched = false } }

    /// Whoever has the request will tell.
    package func watch() { state.withLock { $0.isWatched = true } }

    /// The request goes to the network.
    package func leave() { state.withLock { $0.sendings += 1 } }

    /// It has not acted the last time: it was let in nowhere.
    package func comeBack() { state.withLock { $0.sendings = max(0, $0.sendings - 1) } }

    /// Whether the request certainly did not act.
    package var isCertainlyUnsent: Bool { state.withLock { $0.isWatched && $0.sendings == 0 } }
}
