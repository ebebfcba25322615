import ArgumentParser
import Foundation
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
    @Option(help: "How many runs at the same time, 1 or more; as many as there are processors unless given.")
    var jobs = ProcessInfo.processInfo.activeProcessorCount
    @Flag(help: "Print what happened in each run.") var trace = false
    @Option(help: "What breaks a promise on purpose, to see that it is found.")
    var breach: Breach?
    @Flag(help: "Run a feed of the mobile server with its nodes and devices instead.") var feeds = false

    func validate() throws {
        guard seeds > 0, jobs > 0 else { throw ValidationError("--seeds and --jobs are 1 or more.") }
    }

    func run() async throws {
        let all = (0..<UInt64(seeds)).map { firstSeed + $0 }
        if feeds { return try runFeeds(all) }
        var totals = Totals()
        await withTaskGroup(of: Run.self) { group in
            var waiting = all.makeIterator()
            func begin() {
                guard let seed = waiting.next() else { return }
                group.addTask { [trace, breach] in
                    await Run(
                        Simulation(
                            seed: seed, keepsLines: trace, isHonest: breach != .repeats, isCareful: breach != .losses,
                            heedsETags: breach != .versions, keepsChangeSetsWhole: breach != .parts))
                }
            }
            for _ in 0..<jobs { begin() }
            while let run = await group.next() {
                totals.add(run)
                if trace { for line in run.outcome?.trace.lines ?? [] { print(line) } }
                for problem in run.problems { print("seed \(run.seed): \(problem)") }
                if !run.problems.isEmpty { print("again: make simulate SEEDS=1 FIRST_SEED=\(run.seed)") }
                begin()
            }
        }
        print(totals)
        if totals.failed > 0 { throw ExitCode.failure }
    }

    /// Runs the token protocol of feeds; see ``FeedSimulation``.
    private func runFeeds(_ seeds: [UInt64]) throws {
        var (failed, resets) = (0, 0)
        for seed in seeds {
            let outcome = FeedSimulation(seed: seed).run()
            resets += outcome.resets
            failed += outcome.violations.isEmpty ? 0 : 1
            for violation in outcome.violations { print("seed \(seed): \(violation)") }
        }
        print("\(seeds.count) runs of a feed, \(resets) reads begun again: \(failed) runs broke a promise")
        if failed > 0 { throw ExitCode.failure }
    }
}

/// A deliberate violation of the simulated promises.
enum Breach: String, CaseIterable, ExpressibleByArgument {
    /// Services claim to recognise repeated requests but do not.
    case repeats
    /// Each client loses a change.
    case losses
    /// Services return ETags but ignore conditions on them.
    case versions
    /// Services keep the executed part of a change set that they refuse.
    case parts
}

/// A finished run.
private struct Run: Sendable {
    let seed: UInt64
    /// The outcome; `nil` if the run ended with an error.
    let outcome: Simulation.Outcome?
    /// The problems, one sentence each.
    let problems: [String]

    /// Executes a run. An error in one run does not prevent other runs.
    init(_ simulation: Simulation) async {
        seed = simulation.seed
        do {
            let outcome = try await simulation.run()
            self.outcome = outcome
            problems = outcome.violations
        } catch {
            outcome = nil
            problems = ["ended by \(type(of: error)): \(error)"]
        }
    }
}

/// The totals of all runs.
private struct Totals: CustomStringConvertible {
    private var runs = 0
    private(set) var failed = 0
    private var ended = 0
    private var events = 0
    private var changes = 0
    private var changesTogether = 0
    private var faults = 0
    private var diskFaults = 0
    private var crashes = 0
    private var doubts = 0
    private var migrations = 0

    mutating func add(_ run: Run) {
        runs += 1
        failed += run.problems.isEmpty ? 0 : 1
        guard let outcome = run.outcome else {
            ended += 1
            return
        }
        events += outcome.trace.count
        changes += outcome.changes
        changesTogether += outcome.changesTogether
        faults += outcome.faults
        diskFaults += outcome.diskFaults
        crashes += outcome.crashes
        doubts += outcome.doubts
        migrations += outcome.migrations
    }

    /// A one-line summary.
    var description: String {
        "\(runs) runs, \(events) events, \(changes) changes (\(changesTogether) together), \(faults) faulty messages, "
            + "\(diskFaults) disk faults, \(crashes) crashes, \(doubts) doubts, "
            + "new metadata taken up \(migrations) times: "
            + (failed == 0
                ? "every promise kept"
                : "\(failed) runs broke a promise" + (ended == 0 ? "" : ", \(ended) of them ended by an error"))
    }
}
