import Foundation
import Measuring

/// Runs every way and prints the figures with the limits that the design sets.
enum Report {
    /// - Parameters:
    ///   - megabytes: the size of the collection.
    ///   - streamed: the size of the collection that is streamed.
    static func run(megabytes: Int, streamed: Int) throws {
        var figures: [Way: Measurement] = [:]
        for way in Way.allCases + Array(repeating: Way.readers, count: 2).joined() {
            let size = way == .stream ? streamed : megabytes
            let figure = try JSONDecoder().decode(
                Measurement.self, from: Data(try Subprogram.own(way.rawValue, String(size)).utf8))
            if let best = figures[way], best.megabytesPerSecond >= figure.megabytesPerSecond { continue }
            figures[way] = figure
        }
        for way in Way.allCases {
            guard let figure = figures[way] else { continue }
            print(
                "\(way.rawValue)".padding(toLength: 20, withPad: " ", startingAt: 0)
                    + String(format: "%8.0f MB/s %8.0f MiB peak", figure.megabytesPerSecond, figure.peakMegabytes))
        }
        // There may be no orjson, which says so by reading nothing.
        for way in Way.readers where figures[way]?.checksum != figures[.typed]?.checksum {
            if way == .orjson, figures[way]?.megabytesPerSecond == 0 { continue }
            throw BenchmarkError.different(way.rawValue)
        }
        ratio("typed values against simdjson", figures[.typed], figures[.simdjson], 1)
        if let typed = figures[.typed], let other = figures[.simdjsonAnew] {
            print(
                String(
                    format: "typed values against simdjson with a new parser for each text: %.3g times",
                    typed.megabytesPerSecond / other.megabytesPerSecond))
        }
        ratio("typed values against JSONDecoder", figures[.typed], figures[.decoder], 8)
        ratio("typed values against JSONSerialization", figures[.typed], figures[.serialization], 12)
        if let entities = figures[.entities] {
            let others = [("simdjson", Way.simdjson), ("JSONDecoder", .decoder), ("JSONSerialization", .serialization)]
            let ratios = others.compactMap { name, way in
                figures[way].map {
                    String(format: "%.2f times ", entities.megabytesPerSecond / $0.megabytesPerSecond) + name
                }
            }
            // The limits are for typed values. These figures are for models that are known only at run time.
            print("entities of a model known at run time: \(ratios.joined(separator: ", "))")
        }
        ratio("writing typed values against JSONEncoder", figures[.writeTyped], figures[.writeEncoder], 8)
        ratio(
            "writing typed values against JSONSerialization with dictionaries", figures[.writeTyped],
            figures[.writeSerialization], 12)
        if let stream = figures[.stream] {
            Figure("memory while \(streamed) MB stream", stream.peakMegabytes, unit: "MiB").print(atMost: 64)
        }
    }

    private static func ratio(_ title: String, _ figure: Measurement?, _ other: Measurement?, _ limit: Double) {
        guard let figure, let other, other.megabytesPerSecond > 0 else { return }
        Figure(title, figure.megabytesPerSecond / other.megabytesPerSecond).print(atLeast: limit)
    }
}
