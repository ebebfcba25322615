import Foundation

/// What one way of doing it took.
struct Measurement: Codable {
    /// Bytes of JSON per second, in units of 10^6, of the fastest of several runs.
    var megabytesPerSecond: Double
    /// The greatest resident memory of the process, in units of 2^20 bytes.
    var peakMegabytes: Double
    /// Sums over what was read: equal for everything that reads the same.
    var checksum: Int

    /// Runs `body` several times.
    static func best(of runs: Int, bytes: Int, _ body: () throws -> Int) rethrows -> Measurement {
        let clock = ContinuousClock()
        var best = Duration.seconds(1_000_000)
        var checksum = 0
        for _ in 0..<runs {
            let start = clock.now
            checksum = try body()
            best = min(best, clock.now - start)
        }
        let seconds = Double(best.components.seconds) + Double(best.components.attoseconds) / 1e18
        return Measurement(
            megabytesPerSecond: Double(bytes) / 1e6 / seconds, peakMegabytes: peakMemory(), checksum: checksum)
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
