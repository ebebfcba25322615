import ODataHTTP
import ODataModel

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// Everything the engine takes from outside: time and randomness. A simulation gives its own, so that the
/// same seed gives the same run.
public struct Environment: Sendable {
    /// The wall clock: seconds since 1970-01-01T00:00:00Z.
    public var now: @Sendable () -> Double
    /// A fresh random identifier of version 4.
    public var newGuid: @Sendable () -> ODataGuid
    /// Waits for a number of seconds; throws when the task is cancelled.
    public var sleep: @Sendable (Double) async throws -> Void

    /// Makes an environment.
    public init(
        now: @escaping @Sendable () -> Double, newGuid: @escaping @Sendable () -> ODataGuid,
        sleep: @escaping @Sendable (Double) async throws -> Void
    ) {
        self.now = now
        self.newGuid = newGuid
        self.sleep = sleep
    }

    /// The system's clock and random generator.
    public static let system = Environment(
        now: {
            var time = timespec()
            clock_gettime(CLOCK_REALTIME, &time)
            return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
        },
        newGuid: { .random() },
        sleep: { try await Task.sleep(for: .seconds($0)) })

    /// The wall clock as an OData instant, to the millisecond.
    var instant: ODataDateTimeOffset {
        let milliseconds = Int64((now() * 1000).rounded(.down))
        let (seconds, rest) = milliseconds.quotientAndRemainder(dividingBy: 1000)
        return ODataDateTimeOffset(seconds: seconds, picoseconds: max(rest, 0) * 1_000_000_000)
    }

    /// The wall clock in the form of an HTTP date (RFC 9110, 5.6.7), as `Repeatability-First-Sent` wants it.
    var httpDate: String { HTTPDate.text(seconds: Int64(now().rounded(.down))) }
}
