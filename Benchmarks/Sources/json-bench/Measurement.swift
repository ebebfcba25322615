import Foundation

/// What one way of doing it took.
struct Measurement: Codable {
    /// Bytes of JSON per second, in units of 10^6 and seconds of the processor, of the fastest of several runs.
    var megabytesPerSecond: Double
    /// The greatest resident memory of the process, in units of 2^20 bytes.
    var peakMegabytes: Double
    /// Sums over what was read: equal for everything that reads the same.
    var checksum: Int

    /// Runs `body` several times. Processor time counts, so that other work on the machine changes little.
    static func best(of runs: Int, bytes: Int, _ body: () throws -> Int) rethrows -> Measurement {
        var best = Double.infinity
        var checksum = 0
        for _ in 0..<runs {
            let start = processorTime()
            checksum = try body()
            best = min(best, processorTime() - start)
        }
        return Measurement(
            megabytesPerSecond: Double(bytes) / 1e6 / best, peakMegabytes: peakMemory(), checksum: checksum)
    }

    /// The seconds that this process has used.
    private static func processorTime() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    /// The greatest resident memory so far.
    static func peakMemory() -> Double {
        guard let text = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8) else { return 0 }
        for line in text.split(separator: "\n") where line.hasPrefix("VmHWM:") {
            return (Double(line.split(separator: " ", omittingEmptySubsequences: true)[1]) ?? 0) / 1024
        }
        return 0
    }
}
