import ODataModel
import OfflineOData
import Synchronization

/// Time that passes only when the simulation says so; each client's clock may be wrong by an amount of its own.
final class VirtualTime: Sendable {
    private let seconds = Mutex(1_790_000_000.0)

    /// The true time, in seconds since 1970.
    var now: Double { seconds.withLock { $0 } }

    /// Lets time pass.
    func pass(_ amount: Double) { seconds.withLock { $0 += amount } }

    /// The true time as OData writes it.
    var instant: ODataDateTimeOffset { ODataDateTimeOffset(seconds: Int64(now), picoseconds: 0) }
}

/// A client's clock, which may be wrong, and is read anew each time: where it jumps, it does so within an open store.
final class ClientClock: Sendable {
    private let time: VirtualTime
    private let error = Mutex(0.0)

    init(_ time: VirtualTime) { self.time = time }

    /// The time that the client reads.
    var instant: ODataDateTimeOffset {
        let milliseconds = Int64(((time.now + error.withLock { $0 }) * 1000).rounded(.down))
        return ODataDateTimeOffset(seconds: 0).advanced(by: .milliseconds(milliseconds))
    }

    /// Puts it wrong by a number of seconds from now on.
    func set(wrongBy seconds: Double) { error.withLock { $0 = seconds } }
}
