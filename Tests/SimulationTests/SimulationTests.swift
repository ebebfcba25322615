import Foundation
import Simulation
import Testing

/// The outcomes of runs that several tests share; each run is executed once.
private actor Runs {
    static let all = Runs()
    private var runs: [UInt64: Task<Simulation.Outcome, any Error>] = [:]

    func outcome(of seed: UInt64) async throws -> Simulation.Outcome {
        let run = runs[seed] ?? Task { try await Simulation(seed: seed).run() }
        runs[seed] = run
        return try await run.value
    }
}

@Suite("A service and its clients with failures everywhere")
struct SimulationTests {
    /// Some runs of each kind, with everything that can be drawn except 50 clients, because unoptimised code
    /// takes seconds for each. `scripts/simulate.sh` runs any number of seeds; continuous integration runs
    /// those of ``seedsOfIntegration()``.
    private static let seeds: [UInt64] = [0, 2, 4, 5, 6, 7, 11, 12, 16, 17, 23, 29]

    @Test("Nothing is lost or doubled, and in the end all clients see the same rows", arguments: seeds)
    func promises(seed: UInt64) async throws {
        let outcome = try await Runs.all.outcome(of: seed)
        #expect(outcome.violations == [], "again: make simulate SEEDS=1 FIRST_SEED=\(seed)")
        #expect(outcome.changes > 4)
    }

    @Test("The test runs contain every random feature, with both kinds of service")
    func everything() {
        let runs = Self.seeds.map { Simulation(seed: $0) }
        for isRepeatable in [true, false] {
            let kind = runs.filter { $0.ability.isRepeatable == isRepeatable }
            #expect(kind.count == runs.count / 2)
            for isSo in [true, false] {
                #expect(kind.contains { $0.ability.hasETags == isSo })
                #expect(kind.contains { $0.ability.hasDeltaLinks == isSo })
                #expect(kind.contains { $0.ability.hasChangeSets == isSo })
                #expect(kind.contains { $0.folds == isSo })
                #expect(kind.contains { $0.hasFilters == isSo })
                #expect(kind.contains { $0.hasDiskFaults == isSo })
                #expect(kind.contains { $0.ability.speaksV2 == isSo })
                #expect(isRepeatable || kind.contains { $0.ability.isStripped == isSo })
                #expect(isRepeatable || kind.contains { $0.correlates == isSo })
            }
        }
        #expect(Set(runs.map(\.clients)) == [2, 3, 4, 5])
    }

    @Test("A doubled effect is found at a service with a false promise of repeatable requests")
    func finds() async throws {
        var isFound = false
        for seed in stride(from: UInt64(1), to: 41, by: 2) where !isFound {
            let violations = try await Simulation(seed: seed, isHonest: false).run().violations
            isFound = violations.contains { $0.contains("acted") && $0.contains("times") }
        }
        #expect(isFound)
    }

    @Test("An overwritten unseen version is found at a service that ignores ETags")
    func findsOverwriting() async throws {
        var isFound = false
        for seed: UInt64 in 0..<20 where !isFound && Simulation(seed: seed).ability.hasETags {
            let violations = try await Simulation(seed: seed, heedsETags: false).run().violations
            isFound = violations.contains { $0.contains("was put over") }
        }
        #expect(isFound)
    }

    @Test("A lost change is found at clients that lose a change after reporting it")
    func findsLosses() async throws {
        var (lost, found) = (0, 0)
        for seed: UInt64 in [1, 2, 4, 7, 9] {
            let outcome = try await Simulation(seed: seed, isCareful: false).run()
            lost += outcome.lost.count
            let named = outcome.violations.filter { $0.hasSuffix("is lost") }
            found += outcome.lost.filter { mark in named.contains { $0.hasPrefix("\(mark) of client") } }.count
        }
        // A lost change of an entity that was never created may go unnoticed.
        #expect(lost > 5)
        #expect(found * 2 > lost, "\(found) of \(lost)")
    }

    @Test(
        "A partial change set is found at services that keep parts of a refused set")
    func findsParts() async throws {
        var isFound = false
        for seed: UInt64 in 0..<20 where !isFound && Simulation(seed: seed).ability.hasChangeSets {
            let violations = try await Simulation(seed: seed, keepsChangeSetsWhole: false).run().violations
            isFound = violations.contains { $0.contains("which was made together with it") }
        }
        #expect(isFound)
    }

    @Test("The runs contain failures of network, disk and clients, unknown outcomes and new metadata")
    func metadata() async throws {
        var (faults, crashes, migrations, diskFaults, doubts) = ([0, 0], [0, 0], [0, 0], 0, 0)
        var together = [0, 0]
        for seed in Self.seeds {
            let outcome = try await Runs.all.outcome(of: seed)
            let kind = Int(seed % 2)
            faults[kind] += outcome.faults
            crashes[kind] += outcome.crashes
            migrations[kind] += outcome.migrations
            together[kind] += outcome.changesTogether
            // No disk faults may be counted if disks work.
            #expect(outcome.diskFaults == 0 || Simulation(seed: seed).hasDiskFaults)
            diskFaults += outcome.diskFaults
            doubts += outcome.doubts
        }
        for kind in 0...1 {
            #expect(faults[kind] > 0)
            #expect(crashes[kind] > 0)
            #expect(migrations[kind] > 0)
            #expect(together[kind] > 0)
        }
        #expect(diskFaults > 0)
        #expect(doubts > 0)
    }

    /// Returns the seeds that continuous integration runs, as configured in its script.
    private static func seedsOfIntegration() throws -> Range<UInt64> {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let script = try String(contentsOf: root.appendingPathComponent("scripts/ci.py"), encoding: .utf8)
        let seeds = try #require(script.firstMatch(of: /"SEEDS": "(\d+)"/))
        let count = try #require(UInt64(seeds.1))
        let first = script.firstMatch(of: /"FIRST_SEED": "(\d+)"/).flatMap { UInt64($0.1) } ?? 0
        return first..<first + count
    }

    @Test("The seeds of CI combine all service capabilities, with 50 clients for each kind")
    func meetings() throws {
        let runs = try Self.seedsOfIntegration().map { Simulation(seed: $0) }
        let abilities = runs.map(\.ability)
        for isRepeatable in [true, false] {
            for hasETags in [true, false] {
                for hasDeltaLinks in [true, false] {
                    #expect(
                        abilities.contains {
                            ($0.isRepeatable, $0.hasETags, $0.hasDeltaLinks) == (isRepeatable, hasETags, hasDeltaLinks)
                        }, "\(isRepeatable) \(hasETags) \(hasDeltaLinks)")
                }
            }
        }
        for isRepeatable in [true, false] {
            // Some services report that they do not support batches, and some refuse change sets in batches.
            let others = abilities.filter { $0.isRepeatable == isRepeatable && !$0.hasChangeSets }
            #expect(Set(others.map(\.hasBatches)) == [true, false])
        }
        #expect(abilities.filter(\.isRepeatable).count * 2 == runs.count)
        let large = runs.filter { $0.clients == 50 }
        #expect(Set(large.map(\.ability.isRepeatable)) == [true, false], "\(large.map(\.seed))")
    }

    @Test(
        "Copied, restored and snapshotted stores create nothing twice, also behind a proxy that removes fields"
    )
    func copies() async throws {
        var (restores, copies) = (0, 0)
        var met: Set<String> = []
        for seed: UInt64 in 0..<60 where restores + copies < 40 || met.count < 3 {
            let run = Simulation(seed: seed)
            guard run.hasCopies, run.clients < 10 else { continue }
            let outcome = try await run.run()
            #expect(outcome.violations == [], "again: make simulate SEEDS=1 FIRST_SEED=\(seed)")
            (restores, copies) = (restores + outcome.restores, copies + outcome.copies)
            met.insert(run.ability.isStripped ? "stripped" : run.ability.isRepeatable ? "repeatable" : "not repeatable")
        }
        #expect(restores > 5 && copies > 2 && met.count == 3, "\(restores) restores, \(copies) copies at \(met)")
    }

    @Test(
        "Rule 33: the same seed repeats a trace, and another seed gives another one", arguments: [3, 4, 7] as [UInt64])
    func repeats(seed: UInt64) async throws {
        let first = try await Simulation(seed: seed, keepsLines: true).run().trace
        let second = try await Simulation(seed: seed, keepsLines: true).run().trace
        let difference = zip(first.lines, second.lines).first { $0 != $1 }
        #expect(difference == nil)
        #expect(first.hash == second.hash)
        #expect(try await Simulation(seed: seed + 100).run().trace.hash != first.hash)
    }
}
