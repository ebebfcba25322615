import ODataHTTP
import ODataModel

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// The external inputs of the engine: time and randomness. A simulation provides its own, so that the same seed
/// gives the same run.
public struct EngineEnvironment: Sendable {
    /// The wall clock.
    public var now: @Sendable () -> ODataDateTimeOffset
    /// Returns a new random identifier of version 4.
    public var newGuid: @Sendable () -> ODataGuid
    /// Waits for a duration. It throws when the task is cancelled.
    public var sleep: @Sendable (Duration) async throws -> Void

    /// Creates an environment.
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

    /// The wall clock as an OData instant, with milliseconds.
    var instant: ODataDateTimeOffset {
        let now = now()
        return ODataDateTimeOffset(
            seconds: now.seconds, picoseconds: now.picoseconds / 1_000_000_000 * 1_000_000_000)
    }

    /// The wall clock in the form of an HTTP date (RFC 9110, 5.6.7), for `Repeatability-First-Sent`.
    var httpDate: String { HTTPDate.text(seconds: now().seconds) }
}
