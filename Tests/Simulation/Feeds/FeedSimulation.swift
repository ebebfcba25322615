import FaultInjection

/// A run of one feed, its nodes and several devices in virtual time, determined by a seed.
///
/// Rows of a back end change and move between parts. Nodes refresh the feed while devices read it page by page,
/// and the database loses acknowledged commits. At the end each device must have exactly the rows that its user
/// may see. The run is the token protocol without HTTP and SQL, so thousands of seeds take seconds.
///
/// ```swift
/// let outcome = FeedSimulation(seed: 17).run()
/// print(outcome.violations)  // violated promises
/// ```
public struct FeedSimulation: Sendable {
    /// The results of a run.
    public struct Outcome: Sendable {
        /// The violated promises, one sentence each.
        public let violations: [String]
        /// The number of full reads that a device had to begin again.
        public let resets: Int
        /// The hash of all events; equal seeds give equal hashes.
        public let hash: UInt64
    }

    /// The rows of a page.
    static let pageSize = 5
    private static let steps = 150

    /// The seed that determines the run.
    public let seed: UInt64
    /// The rules that the server follows.
    public let rules: Rules
    /// The events of the run.
    public let faults: Faults

    /// Creates a run.
    public init(seed: UInt64, rules: Rules = .all, faults: Faults = .all) {
        self.seed = seed
        self.rules = rules
        self.faults = faults
    }

    /// Executes the run to its end.
    public func run() -> Outcome {
        var run = FeedRun(self)
        for _ in 0..<Self.steps { run.step() }
        return run.outcome()
    }
}

/// The state of a run of ``FeedSimulation``.
private struct FeedRun {
    typealias Number = SimulatedFeed.Number

    /// A node that has claimed the refresh and read the back end.
    struct Claim {
        let fence: Number
        let name: UInt64
        let incarnation: Number
        let read: SimulatedRows
    }

    let rules: FeedSimulation.Rules
    let faults: FeedSimulation.Faults
    let parts: [Int]
    let trace = Trace(keepsLines: false)
    var numbers: SeededNumbers
    var backEnd = SimulatedRows()
    var feed = SimulatedFeed()
    var history: [SimulatedFeed] = []
    /// The incarnation of the database, which each node reads.
    var incarnation: Number = 1
    /// The virtual time in minutes.
    var minute: Number = 1
    var claims: [Claim?] = [nil, nil]
    var devices: [SimulatedDevice] = []
    var resets = 0
    var violations: [String] = []

    init(_ simulation: FeedSimulation) {
        rules = simulation.rules
        faults = simulation.faults
        numbers = SeededNumbers(seed: simulation.seed)
        let hasParts = !faults.isDisjoint(with: [.movingRows, .changingRights, .briefLosses])
        parts = hasParts ? [0, 1, 2] : [0]
        for key in 0..<25 {
            let part = anyPart()
            backEnd.rows[key] = SimulatedRows.Row(value: 0, part: part)
        }
        let changes = !faults.isDisjoint(with: [.changingRights, .briefLosses])
        for _ in 0..<4 { devices.append(SimulatedDevice(rights: changes ? someParts() : Set(parts))) }
        history = [feed]
    }

    mutating func chance(_ share: Double) -> Bool { Double.random(in: 0..<1, using: &numbers) < share }
    mutating func anyPart() -> Int { parts.randomElement(using: &numbers) ?? 0 }
    mutating func someParts() -> Set<Int> {
        Set(parts.shuffled(using: &numbers).prefix(Int.random(in: 1...parts.count, using: &numbers)))
    }

    // MARK: Events

    mutating func step() {
        if chance(0.2) { minute += 1 }
        let losses: FeedSimulation.Faults = [.failovers, .restores, .doubleFailovers]
        switch Double.random(in: 0..<1, using: &numbers) {
        case ..<0.35: edit()
        case ..<0.58: refreshSometime()
        case ..<0.62: changeRights()
        case ..<0.95: read(Int.random(in: devices.indices, using: &numbers))
        default: if !faults.isDisjoint(with: losses), history.count > 2 { lose() }
        }
        trace.add("\(feed.head) \(feed.floor) \(backEnd.time) \(devices.map(\.rows.count))")
    }

    mutating func edit() {
        let key = Int.random(in: 0..<32, using: &numbers)
        let row = backEnd.rows[key]
        backEnd.time += 1
        switch Double.random(in: 0..<1, using: &numbers) {
        case ..<0.2: backEnd.rows[key] = nil
        case ..<0.5 where row != nil && faults.contains(.movingRows):
            let part = anyPart()
            backEnd.rows[key]?.part = part
        default:
            let value = Int.random(in: 0..<3, using: &numbers)
            let part = row?.part ?? anyPart()
            backEnd.rows[key] = SimulatedRows.Row(value: value, part: part)
        }
    }

    mutating func changeRights() {
        let index = Int.random(in: devices.indices, using: &numbers)
        if faults.contains(.changingRights) { devices[index].rights = someParts() }
        guard faults.contains(.briefLosses), devices[index].reading != nil, let lost = devices[index].rights.min()
        else { return }
        // The right ends, the device reads to the end, and the right is there again.
        devices[index].rights.remove(lost)
        for _ in 0..<Int.random(in: 1...9, using: &numbers) where devices[index].reading != nil { read(index) }
        devices[index].rights.insert(lost)
    }

    // MARK: Refreshing

    mutating func claim(_ node: Int) {
        feed.fence =
            rules.contains(.fencesOfIncarnations)
            ? max(feed.fence, incarnation << 32) + 1 : feed.fence + 1
        feed.claim = numbers.next()
        keep()
        claims[node] = Claim(
            fence: feed.fence, name: feed.claim, incarnation: incarnation, read: backEnd)
    }

    mutating func commit(_ node: Int) {
        guard let claim = claims[node] else { return }
        claims[node] = nil
        if rules.contains(.fences), feed.fence != claim.fence { return }
        if rules.contains(.fencesOfIncarnations), incarnation != claim.incarnation { return }
        if rules.contains(.namedClaims), feed.claim != claim.name { return }
        if claim.read.time < feed.asOf { violations.append("Older rows were written over newer ones.") }
        feed.apply(claim.read, incarnation: incarnation, rules: rules, &numbers)
        if faults.contains(.pruning), chance(0.4) { feed.prune(&numbers) }
        keep()
    }

    /// Adds the state to those to which the database may fall back.
    mutating func keep() {
        history.append(feed)
        if history.count > 6 { history.removeFirst() }
    }

    mutating func refresh() {
        claim(0)
        commit(0)
    }

    mutating func refreshSometime() {
        guard faults.contains(.slowNodes) else { return refresh() }
        let node = Int.random(in: claims.indices, using: &numbers)
        if claims[node] == nil { claim(node) } else { commit(node) }
        if chance(0.5) { commit(node) }
    }

    // MARK: Losing commits

    mutating func lose() {
        var kinds: [FeedSimulation.Faults] = []
        for kind in [FeedSimulation.Faults.failovers, .restores, .doubleFailovers] where faults.contains(kind) {
            kinds.append(kind)
        }
        let kind = kinds.randomElement(using: &numbers) ?? .failovers
        feed = history[history.count - 1 - Int.random(in: 0...2, using: &numbers)]
        history = [feed]
        // A restored copy without a new timeline looks like the same database.
        guard kind != .restores else {
            incarnation = feed.incarnation
            return
        }
        minute += 5
        incarnation = next(after: feed.incarnation)
        if kind == .doubleFailovers {
            let saved = feed
            feed.incarnation = incarnation
            for _ in 0..<2 {
                edit()
                refresh()
                for index in devices.indices { read(index) }
            }
            feed = saved
            history = [feed]
            incarnation = next(after: feed.incarnation)
        }
        feed.incarnation = incarnation
    }

    /// Returns a new incarnation: a random number above the stored one, or by the older rule the minute.
    mutating func next(after stored: Number) -> Number {
        rules.contains(.tags)
            ? stored + Number.random(in: 1..<1 << 20, using: &numbers) : max(stored + 1, minute)
    }

    // MARK: Reading

    /// Returns whether a token or next link names a state that the feed has lost.
    func isLost(_ numbers: [Number], witness: Number, tag: UInt64?) -> Bool {
        if rules.contains(.forks), (numbers + [witness]).contains(where: feed.isForked) { return true }
        if rules.contains(.tags), tag == nil || feed.tags[witness] != tag { return true }
        return false
    }

    /// Reads the next page of a device.
    mutating func read(_ index: Int) {
        var device = devices[index]
        defer { devices[index] = device }
        if device.reading == nil {
            if let token = device.token,
                token.from < feed.floor || isLost([token.from], witness: token.witness, tag: token.tag)
            {
                device.reset()
                resets += 1
            }
            device.begin(at: feed, rules: rules)
        }
        guard var read = device.reading else { return }
        if isGone(read) {
            device.reset()
            resets += 1
            return
        }
        if !rules.contains(.oneSnapshot), faults.contains(.pruning), chance(0.1) {
            // Between the check and the page.
            feed.prune(&numbers)
            keep()
        }
        if feed.head > read.witness { (read.witness, read.tag) = (feed.head, feed.tags[feed.head]) }
        settleRights(&read, of: device)
        stage(&read, for: device)
        device.reading = read
        if read.step == nil { device.finish(read) }
    }

    /// Returns whether a page must be answered with 410.
    func isGone(_ read: SimulatedDevice.Reading) -> Bool {
        if isLost([read.to, read.position], witness: read.witness, tag: read.tag) { return true }
        guard rules.contains(.floorAtEachPage), !read.isFull, let step = read.step, step.manner != .full else {
            return false
        }
        return max(read.from, read.position) < feed.floor
    }

    /// Checks the right to the part of the next page.
    func settleRights(_ read: inout SimulatedDevice.Reading, of device: SimulatedDevice) {
        guard rules.contains(.rightsAtEachPage) else { return }
        while let step = read.step, step.manner != .gone, !device.rights.contains(step.part) {
            guard rules.contains(.forgottenParts) else {
                read.advance()
                continue
            }
            read.steps[read.index].manner = .gone
            read.parts.remove(step.part)
            read.begin()
        }
    }

    /// Stages the next page.
    mutating func stage(_ read: inout SimulatedDevice.Reading, for device: SimulatedDevice) {
        guard let step = read.step else { return }
        if step.manner != .gone, !device.rights.contains(step.part) {
            violations.append("A page showed a part that the user may not see.")
        }
        let (from, to, position) = (read.from, read.to, read.position)
        let isWhole = rules.contains(.wholeRemovals)
        let page = feed.page(of: step.part) { member in
            guard member.number > position else { return false }
            switch step.manner {
            case .full: return member.number <= to && member.value != nil
            case .delta: return member.number <= to
            case .gone: return (isWhole || member.number <= to) && (member.value != nil || member.number > from)
            }
        }
        for row in page {
            read.position = row.number
            let value = step.manner == .gone ? nil : row.value
            if value == nil, rules.contains(.guardedRemovals),
                feed.hasLive(row.key, in: read.parts.subtracting([step.part]))
            {
                continue
            }
            read.staged.append((row.key, value))
        }
        if page.count < FeedSimulation.pageSize { read.advance() }
    }

    // MARK: The end

    mutating func outcome() -> FeedSimulation.Outcome {
        claims = [nil, nil]
        refresh()
        for index in devices.indices {
            for _ in 0..<2 {
                var pages = 0
                repeat {
                    read(index)
                    pages += 1
                } while devices[index].reading != nil && pages < 200
            }
            let rights = devices[index].rights
            let visible = backEnd.rows.filter { rights.contains($0.value.part) }.mapValues(\.value)
            let rows = devices[index].rows
            if visible.contains(where: { rows[$0.key] != $0.value }) {
                violations.append("Device \(index) lacks a row, or has an older version of it.")
            }
            if rows.keys.contains(where: { visible[$0] == nil }) {
                violations.append("Device \(index) has a row that its user may not see, or that is gone.")
            }
        }
        trace.add("\(violations)")
        return FeedSimulation.Outcome(violations: violations, resets: resets, hash: trace.hash)
    }
}
