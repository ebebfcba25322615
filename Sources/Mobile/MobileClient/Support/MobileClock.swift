import Foundation

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// The sources of time and chance of a session, which a test can replace.
///
/// ```swift
/// var clock = MobileClock.system
/// clock.random = { 0.5 }  // repeats come after the same delays
/// ```
public struct MobileClock: Sendable {
    /// The wall clock in seconds since 1970. A user can set it.
    public var now: @Sendable () -> Double
    /// The seconds since the start of the device, sleep included. Nobody can set this clock.
    public var elapsed: @Sendable () -> Double
    /// The identifier of the present run of the operating system.
    public var boot: @Sendable () -> String
    /// Waits; throws if the task is cancelled.
    public var sleep: @Sendable (Duration) async throws -> Void
    /// Returns a random number from 0 to 1.
    public var random: @Sendable () -> Double

    /// Creates a clock.
    public init(
        now: @escaping @Sendable () -> Double, elapsed: @escaping @Sendable () -> Double,
        boot: @escaping @Sendable () -> String, sleep: @escaping @Sendable (Duration) async throws -> Void,
        random: @escaping @Sendable () -> Double = { Double.random(in: 0..<1) }
    ) {
        self.now = now
        self.elapsed = elapsed
        self.boot = boot
        self.sleep = sleep
        self.random = random
    }

    /// The clocks of the system.
    public static let system = MobileClock(
        now: { Date().timeIntervalSince1970 },
        elapsed: {
            #if canImport(Darwin)
                seconds(CLOCK_MONOTONIC)
            #else
                seconds(CLOCK_BOOTTIME)
            #endif
        },
        boot: { bootIdentifier }, sleep: { try await Task.sleep(for: $0, clock: .continuous) })

    private static let bootIdentifier: String = {
        #if canImport(Darwin)
            var size = 64
            var bytes = [CChar](repeating: 0, count: size)
            guard sysctlbyname("kern.bootsessionuuid", &bytes, &size, nil, 0) == 0 else { return "" }
            return String(decoding: bytes.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        #else
            let text = try? String(contentsOfFile: "/proc/sys/kernel/random/boot_id", encoding: .utf8)
            return (text ?? "").filter { !$0.isWhitespace }
        #endif
    }()

    private static func seconds(_ clock: clockid_t) -> Double {
        var time = timespec()
        clock_gettime(clock, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    /// The delay before a repeat: full jitter from one second to five minutes.
    ///
    /// - Parameter number: The number of the repeat, from 0.
    func delay(before number: Int) -> Duration {
        let longest = min(300, Double(1 << min(number + 1, 9)))
        return .seconds(1 + (longest - 1) * random())
    }
}
