import Foundation
import Measuring

/// What one way of doing it took.
struct Measurement: Codable {
    /// Bytes of the collection per second, in units of 10^6 and seconds of the processor, of the fastest of
    /// several runs. Who writes is measured by the bytes that were read, too, so that nobody gains by writing
    /// more of them.
    var megabytesPerSecond: Double
    /// The greatest resident memory of the process, in units of 2^20 bytes.
    var peakMegabytes: Double
    /// A sum over what was read, equal for everything that reads the same; of what was written its bytes.
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
            megabytesPerSecond: Double(bytes) / 1e6 / best,
            peakMegabytes: Double(Memory.resident(peak: true)) / 1_048_576, checksum: checksum)
    }
}
