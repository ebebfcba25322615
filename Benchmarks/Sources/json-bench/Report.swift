import Foundation

/// Runs every way and prints the figures with the limits that the design sets.
enum Report {
    static func run(megabytes: Int) throws {
        var figures: [Way: Measurement] = [:]
        for way in Way.allCases {
            let size = way == .stream ? 500 : megabytes
            let figure = try JSONDecoder().decode(
                Measurement.self, from: try output(of: CommandLine.arguments[0], [way.rawValue, String(size)]))
            figures[way] = figure
            print(
                "\(way.rawValue)".padding(toLength: 20, withPad: " ", startingAt: 0)
                    + String(format: "%8.0f MB/s %8.0f MiB peak", figure.megabytesPerSecond, figure.peakMegabytes))
        }
        let readers: [Way] = [.typed, .chunked, .entities, .simdjson, .decoder, .serialization]
        for way in readers where figures[way]?.checksum != figures[.typed]?.checksum {
            throw BenchmarkError.different(way.rawValue)
        }
        ratio("typed values against simdjson", figures[.typed], figures[.simdjson], 1)
        ratio("typed values against JSONDecoder", figures[.typed], figures[.decoder], 8)
        ratio("typed values against JSONSerialization", figures[.typed], figures[.serialization], 12)
        ratio("writing typed values against JSONSerialization", figures[.writeTyped], figures[.writeSerialization], 12)
        if let stream = figures[.stream] {
            print(String(format: "memory while 500 MB stream: %.0f MiB, limit 64", stream.peakMegabytes))
        }
    }

    private static func ratio(_ title: String, _ figure: Measurement?, _ other: Measurement?, _ limit: Double) {
        guard let figure, let other, other.megabytesPerSecond > 0 else { return }
        let ratio = figure.megabytesPerSecond / other.megabytesPerSecond
        print(
            "\(title): " + String(format: "%.2f times, at least %.0f", ratio, limit)
                + (ratio >= limit ? "" : "  MISSED"))
    }

    /// What a program prints.
    static func output(of program: String, _ arguments: [String]) throws -> Data {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = arguments
        let pipe = Pipe()
        process.standardOutput = pipe
        try process.run()
        let data = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw BenchmarkError.different(arguments.first ?? program) }
        return data
    }
}
