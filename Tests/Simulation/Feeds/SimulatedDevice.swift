/// A device of the simulation, with the rows of one feed.
struct SimulatedDevice {
    typealias Number = SimulatedFeed.Number

    /// A delta token.
    struct Token {
        let from: Number
        let parts: Set<Int>
        let witness: Number
        let tag: UInt64?
    }

    /// A step of a read: one part in one manner.
    struct Step {
        enum Manner { case gone, delta, full }
        var part: Int
        var manner: Manner
    }

    /// A read in progress. Everything but the staged rows travels in the next link.
    struct Reading {
        var steps: [Step]
        var index = 0
        var position: Number
        let from: Number
        let to: Number
        var parts: Set<Int>
        var witness: Number
        var tag: UInt64?
        /// Whether the read began without a token.
        let isFull: Bool
        var staged: [(key: Int, value: Int?)] = []

        /// The step of the next page.
        var step: Step? { steps.indices.contains(index) ? steps[index] : nil }

        /// Goes on to the next step.
        mutating func advance() {
            index += 1
            begin()
        }

        /// Places the position before the first row of the step.
        mutating func begin() { position = step?.manner == .delta ? from : 0 }
    }

    var rows: [Int: Int] = [:]
    var token: Token?
    var reading: Reading?
    /// The parts that the user may see.
    var rights: Set<Int>

    init(rights: Set<Int>) { self.rights = rights }

    /// Begins a read from a token, or a full one.
    mutating func begin(at feed: SimulatedFeed, rules: FeedSimulation.Rules) {
        let old = token?.parts ?? []
        let from = token?.from ?? 0
        var steps = old.subtracting(rights).sorted().map { Step(part: $0, manner: .gone) }
        steps += rights.intersection(old).sorted().map { Step(part: $0, manner: .delta) }
        steps += rights.subtracting(old).sorted().map { Step(part: $0, manner: .full) }
        if !rules.contains(.guardedRemovals) { steps.sort { $0.part < $1.part } }
        var begun = Reading(
            steps: steps, position: 0, from: from, to: feed.head, parts: rights, witness: feed.head,
            tag: feed.tags[feed.head], isFull: token == nil)
        begun.begin()
        reading = begun
    }

    /// Takes the staged rows over and keeps the token of the read.
    mutating func finish(_ read: Reading) {
        if read.isFull { rows = [:] }
        for row in read.staged { rows[row.key] = row.value }
        token = Token(from: read.to, parts: read.parts, witness: read.witness, tag: read.tag)
        reading = nil
    }

    /// Drops everything but the rows, as after a response 410.
    mutating func reset() {
        reading = nil
        token = nil
    }
}
