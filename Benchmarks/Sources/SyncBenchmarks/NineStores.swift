import Foundation
import Measuring
import OfflineOData

/// Nine stores that are opened and synchronise at once, beside one: each of the two in a process of its own, so
/// that neither finds the memory, the caches and the threads of the other.
enum NineStores {
    private static let rounds = 3

    /// The time and memory of a process from opening its stores to their end.
    private struct Outcome {
        var taken = Taken()
        /// More memory than before, in units of 2^20 bytes.
        var memory = 0.0
    }

    /// Measures both in turns and prints their figures.
    static func report(rows: Int, folder: String) async throws {
        let service = try RenderedService(rows: rows, folder: folder + "/nine")
        var (one, nine): (Outcome?, Outcome?) = (nil, nil)
        for _ in 0..<rounds {
            one = least(one, try run(1, service, folder))
            nine = least(nine, try run(9, service, folder))
        }
        guard let one, let nine else { return }
        print(
            String(
                format: "nine stores of %d rows opened and synchronised at once: %.2f times the processor time of one, "
                    + "%.2f times its time by the clock, %.0f MiB of memory (one: %.0f)", rows,
                nine.taken.processor / one.taken.processor, nine.taken.clock / one.taken.clock, nine.memory, one.memory)
        )
    }

    private static func least(_ known: Outcome?, _ other: Outcome) -> Outcome {
        guard let known else { return other }
        return Outcome(taken: .least(known.taken, other.taken), memory: min(known.memory, other.memory))
    }

    /// Has so many stores made by one process, and opened and synchronised by another.
    private static func run(_ count: Int, _ service: RenderedService, _ folder: String) throws -> Outcome {
        let stores = folder + "/stores"
        try FileManager.default.createDirectory(atPath: stores, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: stores) }
        let arguments = [String(count), String(service.rows), service.folder, stores]
        let program = CommandLine.arguments[0]
        _ = try Subprogram.output(of: program, ["--make"] + arguments)
        let output = try Subprogram.output(of: program, ["--synchronise"] + arguments)
        let numbers = output.split(separator: " ").compactMap { Double($0) }
        require(numbers.count == 3, "the stores said \(output)")
        var outcome = Outcome(memory: numbers[2])
        (outcome.taken.processor, outcome.taken.clock) = (numbers[0], numbers[1])
        return outcome
    }

    /// The work of one of these processes: it makes stores, or opens and synchronises them and prints the seconds
    /// of the processor and of the clock, and the memory.
    ///
    /// - Parameter arguments: the number of stores, the rows of each, the folder of the service's pages and that
    ///   of the stores.
    static func work(_ arguments: [String], isMaking: Bool) async throws {
        guard arguments.count == 4, let count = Int(arguments[0]), let rows = Int(arguments[1]) else { exit(2) }
        let service = try RenderedService(rows: rows, folder: arguments[2], isRendered: true)
        let folder = arguments[3]
        if isMaking {
            for number in 0..<count { try await Stores.create("n\(number)", in: folder, from: service).close() }
            return
        }
        var taken = Taken()
        let memory = try await Memory.growth {
            taken = try await Taken.by {
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for number in 0..<count {
                        group.addTask {
                            let store = try await Stores.open("n\(number)", in: folder, from: service)
                            let report = try await store.download()
                            require(report.inserted == rows, "\(report.inserted) rows")
                            try store.close()
                        }
                    }
                    try await group.waitForAll()
                }
            }
        }
        print(taken.processor, taken.clock, memory)
    }
}
