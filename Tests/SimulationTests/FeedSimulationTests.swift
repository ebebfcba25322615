import Simulation
import Testing

@Suite("A feed, its nodes and its devices with failures everywhere")
struct FeedSimulationTests {
    private typealias Rules = FeedSimulation.Rules
    private typealias Faults = FeedSimulation.Faults

    /// The rules before the review of the design.
    private static let older: Rules = [.incarnations, .forks, .floorAtEachPage, .oneSnapshot]

    /// A rule, the run that needs it, and the point of the review that asks for it.
    struct Need: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let rules: FeedSimulation.Rules
        let faults: FeedSimulation.Faults
        var seeds: UInt64 = 400
    }

    /// Returns the number of runs that broke a promise.
    private func broken(_ rules: Rules, _ faults: Faults, seeds: UInt64) -> Int {
        (0..<seeds).count { !FeedSimulation(seed: $0, rules: rules, faults: faults).run().violations.isEmpty }
    }

    @Test("With all rules, every device ends with the rows that its user may see")
    func converges() {
        for seed in 0..<UInt64(400) {
            #expect(FeedSimulation(seed: seed).run().violations == [], "seed \(seed)")
        }
    }

    @Test("Only the witness tag decides about lost commits (review, 3)")
    func tagsDecide() {
        let rules = Self.older.union(.tags).subtracting(.forks)
        #expect(broken(rules, [.failovers, .restores, .doubleFailovers, .pruning], seeds: 300) == 0)
    }

    @Test("The older rule works for a plain failover (review, D)")
    func olderRuleHolds() {
        #expect(broken(Self.older, [.failovers, .pruning], seeds: 300) == 0)
    }

    private static let needs: [Need] = [
        Need(
            testDescription: "a plain counter, with failovers", rules: [.floorAtEachPage, .oneSnapshot],
            faults: [.failovers, .pruning]),
        Need(
            testDescription: "no tags, with a restore without new timeline (review, 3)", rules: older,
            faults: [.restores, .pruning]),
        Need(
            testDescription: "no tags, with two failovers in a minute (review, 3)", rules: older,
            faults: [.doubleFailovers, .pruning]),
        Need(
            testDescription: "removals without guard, with rows that move (review, 2a)",
            rules: .all.subtracting(.guardedRemovals), faults: [.movingRows]),
        Need(
            testDescription: "removals up to the head alone, with rights that change (review, 2b)",
            rules: .all.subtracting(.wholeRemovals), faults: [.movingRows, .changingRights]),
        Need(
            testDescription: "the floor checked in another snapshot (review, 5)", rules: .all.subtracting(.oneSnapshot),
            faults: [.pruning]),
        Need(
            testDescription: "the floor checked at the first page alone", rules: .all.subtracting(.floorAtEachPage),
            faults: [.pruning]),
        Need(
            testDescription: "rights checked at the first page alone (review, 16)",
            rules: .all.subtracting(.rightsAtEachPage), faults: [.changingRights]),
        Need(
            testDescription: "a skipped part that the token still names (review, 16)",
            rules: .all.subtracting(.forgottenParts), faults: [.briefLosses]),
        Need(
            testDescription: "no fence, with slow nodes", rules: .all.subtracting([.fences, .namedClaims]),
            faults: [.slowNodes]),
        Need(
            testDescription: "a fence without incarnation, with failovers (review, 14)",
            rules: .all.subtracting([.fencesOfIncarnations, .namedClaims]), faults: [.failovers, .slowNodes]),
        Need(
            testDescription: "a claim without a name, with a restore that gives its fence again (review, 14)",
            rules: .all.subtracting(.namedClaims), faults: [.restores, .slowNodes]),
    ]

    @Test("Without a rule, the fault that it prevents is found", arguments: needs)
    func findsFaults(need: Need) {
        #expect(broken(need.rules, need.faults, seeds: need.seeds) > 0)
        #expect(broken(.all, need.faults, seeds: 100) == 0)
    }

    @Test("The same seed gives the same run (rule 33)")
    func isRepeatable() {
        let first = FeedSimulation(seed: 4711).run()
        #expect(FeedSimulation(seed: 4711).run().hash == first.hash)
        #expect(FeedSimulation(seed: 4712).run().hash != first.hash)
        #expect(first.resets > 0)
    }
}
