#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// A source of time for vaults, which a test can replace.
public struct VaultClock: Sendable {
    /// The seconds since a fixed moment in the past, used for time-outs. The clock never goes back and
    /// continues while the machine sleeps.
    public var elapsed: @Sendable () -> Double
    /// The wall clock, in seconds since 1970-01-01T00:00:00Z, used for the age of passwords.
    public var now: @Sendable () -> Double
    /// Waits for a number of seconds; throws if the task is cancelled.
    public var sleep: @Sendable (Double) async throws -> Void

    /// Creates a clock.
    public init(
        elapsed: @escaping @Sendable () -> Double, now: @escaping @Sendable () -> Double,
        sleep: @escaping @Sendable (Double) async throws -> Void
    ) {
        self.elapsed = elapsed
        self.now = now
        self.sleep = sleep
    }

    /// The clocks of the system.
    public static let system = VaultClock(
        elapsed: {
            #if canImport(Darwin)
                seconds(CLOCK_MONOTONIC)
            #else
                seconds(CLOCK_BOOTTIME)
            #endif
        },
        now: { seconds(CLOCK_REALTIME) },
        sleep: { try await Task.sleep(for: .seconds($0), clock: .continuous) })

    private static func seconds(_ clock: clockid_t) -> Double {
        var time = timespec()
        clock_gettime(clock, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}
