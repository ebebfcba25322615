import Synchronization

/// A record of a request's attempts, which shows whether a failed request certainly had no effect.
///
/// The transports of a session update the record. The record is useless if a transport around the session does not
/// pass the options on.
package final class Departure: Sendable {
    private struct State {
        /// Whether the current transport reports when the request leaves.
        var isWatched = true
        /// The number of attempts that were sent and not certainly rejected.
        var sendings = 0
    }

    private let state = Mutex(State())

    package init() {}

    /// Records that the request was passed to a transport that may not report its departure.
    package func handOver() { state.withLock { $0.isWatched = false } }

    /// Records that the current transport reports the departure.
    package func watch() { state.withLock { $0.isWatched = true } }

    /// Records that the request is sent to the network.
    package func leave() { state.withLock { $0.sendings += 1 } }

    /// Records that the last attempt certainly had no effect.
    package func comeBack() { state.withLock { $0.sendings = max(0, $0.sendings - 1) } }

    /// Whether the request certainly had no effect.
    package var isCertainlyUnsent: Bool { state.withLock { $0.isWatched && $0.sendings == 0 } }
}
