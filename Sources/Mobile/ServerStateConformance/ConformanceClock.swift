import ServerState
import Synchronization

/// A clock that tests move.
public final class ConformanceClock: Sendable {
    private let moment: Mutex<ServerInstant>

    /// Creates a clock.
    public init(_ start: ServerInstant = ServerInstant(rawValue: 1_800_000_000_000_000)) { moment = Mutex(start) }

    /// The moment.
    public var now: ServerInstant { moment.withLock { $0 } }

    /// Moves the clock.
    public func advance(by duration: Duration) { moment.withLock { $0 = $0 + duration } }
}
