import Foundation

/// The user and system time of this process so far, in seconds. Other work on the machine affects it least.
public func processorTime() -> Double { seconds(CLOCK_PROCESS_CPUTIME_ID) }

/// The time by a clock of the system, in seconds.
public func seconds(_ clock: clockid_t) -> Double {
    var time = timespec()
    clock_gettime(clock, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}

/// The time of some work, in seconds.
public struct Taken: Sendable {
    /// User and system time of this process.
    public var processor: Double
    /// By the clock.
    public var clock: Double

    /// Nothing.
    public init() { (processor, clock) = (0, 0) }

    private init(processor: Double, clock: Double) { (self.processor, self.clock) = (processor, clock) }

    /// The least of each of two measurements of the same work.
    public static func least(_ one: Taken?, _ other: Taken) -> Taken {
        guard let one else { return other }
        return Taken(processor: min(one.processor, other.processor), clock: min(one.clock, other.clock))
    }

    /// Measures work once.
    public static func by(_ work: () async throws -> Void) async rethrows -> Taken {
        let start = (processorTime(), seconds(CLOCK_MONOTONIC))
        try await work()
        return Taken(processor: processorTime() - start.0, clock: seconds(CLOCK_MONOTONIC) - start.1)
    }
}

/// The least processor time of several rounds of two kinds of work, in turns, so that other work on the machine
/// affects both.
public func best(
    rounds: Int, _ first: () async throws -> Void, _ second: () async throws -> Void
) async rethrows -> (Double, Double) {
    var (a, b) = (Double.infinity, Double.infinity)
    for _ in 0..<rounds {
        a = min(a, try await Taken.by(first).processor)
        b = min(b, try await Taken.by(second).processor)
    }
    return (a, b)
}

/// The one in the middle of some measurements; 0 where there are none.
public func median(_ values: [Double]) -> Double { values.isEmpty ? 0 : values.sorted()[values.count / 2] }
