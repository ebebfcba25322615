import Foundation

/// The processor time of the whole process, in seconds.
func processorTime() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}

/// The best of several rounds of two kinds of work, taken in turns so that whatever else the machine does falls on both.
func best(
    rounds: Int, _ first: () async throws -> Void, _ second: () async throws -> Void
) async rethrows -> (Double, Double) {
    var (a, b) = (Double.infinity, Double.infinity)
    for _ in 0..<rounds {
        var start = processorTime()
        try await first()
        a = min(a, processorTime() - start)
        start = processorTime()
        try await second()
        b = min(b, processorTime() - start)
    }
    return (a, b)
}

/// Prints a figure beside its limit.
func report(_ title: String, _ ratio: Double, limit: Double) {
    func rounded(_ value: Double) -> Double { (value * 1000).rounded() / 1000 }
    let verdict = ratio <= limit ? "holds" : "missed by \(rounded(ratio / limit)) times"
    print("\(title): \(rounded(ratio)) times, limit \(limit): \(verdict)")
}
