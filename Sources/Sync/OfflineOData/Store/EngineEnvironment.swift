import ODataHTTP
import ODataModel

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// Everything the engine takes from outside: time and randomness. A simulation gives its own, so that the
/// same seed gives the same run.
public struct EngineEnvironment: Sendable {
    /// The wall clock.
    public var now: @Sendable () -> ODataDateTimeOffset
    /// A fresh random identifier of version 4.
    public var newGuid: @Sendable () -> ODataGuid
    /// Waits; throws when the task is cancelled.
    public var sleep: @Sendable (Duration) async throws -> Void

    /// Makes an environment.
    public init(
        now: @escaping @Sendable () -> ODataDateTimeOffset, newGuid: @escaping @Sendable () -> ODataGuid,
        sleep: @escaping @Sendable (Duration) async throws -> Void
    ) {
        self.now = now
        self.newGuid = newGuid
        self.sleep = sleep
    }

    /// The system's clock and random generator.
    public static let system = EngineEnvironment(
        now: {
            var time = timespec()
            clock_gettime(CLOCK_REALTIME, &time)
            return ODataDateTimeOffset(seconds: Int64(time.tv_sec), picoseconds: Int64(time.tv_nsec) * 1000)
        },
        newGuid: { .random() },
        sleep: { try await Task.sleep(for: $0) })

    /// The wall clock as an OData instant, to the millisecond.
    var instant: ODataDateTimeOffset {
        let now = now()
        return ODataDateTimeOffset(
            seconds: now.seconds, picoseconds: now.picoseconds / 1_000_000_000 * 1_000_000_000)
    }

    /// The wall clock in the form of an HTTP date (RFC 9110, 5.6.7), as `Repeatability-First-Sent` wants it.
    var httpDate: String { HTTPDate.text(seconds: now().seconds) }
}
