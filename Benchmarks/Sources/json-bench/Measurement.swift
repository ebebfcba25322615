import Foundation
import Measuring

/// The figures of one way.
struct Measurement: Codable {
    /// Bytes of the collection per second, in units of 10^6 and seconds of the processor, of the fastest of
    /// several runs. A writer is measured by the bytes that were read, too, so that longer output gains nothing.
    var megabytesPerSecond: Double
    /// The greatest resident memory of the process, in units of 2^20 bytes.
    var peakMegabytes: Double
    /// A sum over the read values, equal for all readers; for a writer, over its bytes.
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
