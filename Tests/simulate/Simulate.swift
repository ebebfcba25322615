import ArgumentParser
import Simulation

@main
struct Simulate: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "simulate",
        abstract: "Runs a service and its clients in virtual time, with faults, and checks that nothing is lost.",
        discussion: """
            Every run follows from a seed: the same one gives the same run. Ends with 1 when a run broke a promise.

            Examples:
              simulate --seeds 10000
              simulate --first-seed 4711 --seeds 1 --trace
            """)

    @Option(help: "How many seeds, 1 or more.") var seeds = 100
    @Option(help: "The first seed.") var firstSeed: UInt64 = 0
    @Option(help: "How many runs at the same time, 1 or more.") var jobs = 2
    @Flag(help: "Print what happened in each run.") var trace = false

    func validate() throws {
        guard seeds > 0, jobs > 0 else { throw ValidationError("--seeds and --jobs are 1 or more.") }
    }

    func run() async throws {
        let all = (0..<UInt64(seeds)).map { firstSeed + $0 }
        var totals = Totals()
        try await withThrowingTaskGroup(of: (UInt64, Simulation.Outcome).self) { group in
            var waiting = all.makeIterator()
            func begin() {
                guard let seed = waiting.next() else { return }
                group.addTask { [trace] in (seed, try await Simulation(seed: seed, keepsLines: trace).run()) }
            }
            for _ in 0..<jobs { begin() }
            while let (seed, outcome) = try await group.next() {
                totals.add(outcome)
                if trace { for line in outcome.trace.lines { print(line) } }
                for violation in outcome.violations { print("seed \(seed): \(violation)") }
                if !outcome.violations.isEmpty {
                    print("again: make simulate SEEDS=1 FIRST_SEED=\(seed)")
                }
                begin()
            }
        }
        print(totals)
        if totals.failed > 0 { throw ExitCode.failure }
    }
}

/// The sums over all runs.
private struct Totals: CustomStringConvertible {
    private var runs = 0
    private(set) var failed = 0
    private var events = 0
    private var changes = 0
    private var faults = 0
    private var crashes = 0

    mutating func add(_ outcome: Simulation.Outcome) {
        runs += 1
        failed += outcome.violations.isEmpty ? 0 : 1
        events += outcome.trace.count
        changes += outcome.changes
        faults += outcome.faults
        crashes += outcome.crashes
    }

    var description: String {
        "\(runs) runs, \(events) events, \(changes) changes, \(faults) faulty messages, \(crashes) crashes: "
            + (failed == 0 ? "every promise kept" : "\(failed) runs broke a promise")
    }
}
