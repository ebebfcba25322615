import ODataModel
import OfflineOData
import Synchronization

/// A clock that only the simulation advances. The clock of each client may differ from it.
final class VirtualTime: Sendable {
    private let seconds = Mutex(1_790_000_000.0)

    /// The true time, in seconds since 1970.
    var now: Double { seconds.withLock { $0 } }

    /// Advances the time by a number of seconds.
    func pass(_ amount: Double) { seconds.withLock { $0 += amount } }

    /// The true time as an OData value.
    var instant: ODataDateTimeOffset { ODataDateTimeOffset(seconds: Int64(now), picoseconds: 0) }
}

/// A client's clock, which may be wrong. It is read anew each time, so it can also jump while a store is open.
final class ClientClock: Sendable {
    private let time: VirtualTime
    private let error = Mutex(0.0)

    init(_ time: VirtualTime) { self.time = time }

    /// The time by the client's clock, in seconds since 1970.
    var instant: ODataDateTimeOffset {
        let milliseconds = Int64(((time.now + error.withLock { $0 }) * 1000).rounded(.down))
        return ODataDateTimeOffset(seconds: 0).advanced(by: .milliseconds(milliseconds))
    }

    /// Sets the error of the clock in seconds.
    func set(wrongBy seconds: Double) { error.withLock { $0 = seconds } }
}
