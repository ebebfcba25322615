import Foundation

/// The time that a piece of work takes of the processor: what else the machine does is not in it.
enum ProcessorTime {
    /// - Parameter work: work that stays on the calling thread.
    static func measure(_ work: () throws -> Void) rethrows -> Duration {
        let start = now()
        try work()
        return now() - start
    }

    private static func now() -> Duration {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return .seconds(Int64(time.tv_sec)) + .nanoseconds(Int64(time.tv_nsec))
    }
}
