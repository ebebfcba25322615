import Foundation
import Simulation
import Testing

@Suite("A service and its clients, with everything failing")
struct SimulationTests {
    /// `OUTPOST_SEEDS`: how many seeds. In CI, 100.
    private static let seeds: UInt64 = {
        let environment = ProcessInfo.processInfo.environment
        return environment["OUTPOST_SEEDS"].flatMap(UInt64.init) ?? (environment["CI"] == nil ? 20 : 100)
    }()

    @Test("Nothing is lost, nothing acts twice, and in the end all see the same", arguments: 0..<seeds)
    func promises(seed: UInt64) async throws {
        let outcome = try await Simulation(seed: seed).run()
        #expect(outcome.violations == [], "again: make simulate SEEDS=1 FIRST_SEED=\(seed)")
        #expect(outcome.changes > 5)
    }

    @Test("What acts twice is found: at a service that claims to recognise what it does not")
    func finds() async throws {
        var violations: [String] = []
        for seed: UInt64 in [1, 3, 7, 9, 11, 15] where violations.isEmpty {
            violations += try await Simulation(seed: seed, isHonest: false).run().violations
        }
        #expect(violations.contains { $0.contains("acted") && $0.contains("times") })
    }

    @Test("Rule 33: the same seed gives the same trace, and another seed another", arguments: [3, 4, 7] as [UInt64])
    func repeats(seed: UInt64) async throws {
        let first = try await Simulation(seed: seed, keepsLines: true).run().trace
        let second = try await Simulation(seed: seed, keepsLines: true).run().trace
        let difference = zip(first.lines, second.lines).first { $0 != $1 }
        #expect(difference == nil)
        #expect(first.hash == second.hash)
        #expect(try await Simulation(seed: seed + 100).run().trace.hash != first.hash)
    }
}
