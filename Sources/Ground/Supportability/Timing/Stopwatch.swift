/// A measurement of elapsed time to the nanosecond, with a clock that cannot be set.
///
/// ```swift
/// var watch = Stopwatch()
/// try await download()
/// logger.performance("download", took: watch.elapsed)
/// ```
public struct Stopwatch: Sendable {
    private let now: @Sendable () -> ContinuousClock.Instant
    private var begun: ContinuousClock.Instant

    /// Creates and starts a stopwatch.
    public init() { self.init(now: { ContinuousClock().now }) }

    init(now: @escaping @Sendable () -> ContinuousClock.Instant) {
        self.now = now
        begun = now()
    }

    /// Restarts the measurement from zero.
    public mutating func reset() { begun = now() }

    /// The time since the start.
    public var elapsed: Duration { begun.duration(to: now()) }

    /// The whole milliseconds since the start.
    public var elapsedMilliseconds: UInt64 { Self.milliseconds(of: elapsed) }

    static func milliseconds(of duration: Duration) -> UInt64 {
        guard duration > .zero else { return 0 }
        let (seconds, attoseconds) = duration.components
        let (whole, isTooMuch) = UInt64(seconds).multipliedReportingOverflow(by: 1000)
        return isTooMuch ? .max : whole + UInt64(attoseconds / 1_000_000_000_000_000)
    }
}
