import FaultInjection

/// The back end of a simulated feed: rows with a value and a part.
struct SimulatedRows: Equatable {
    /// A row: its value and its part.
    struct Row: Equatable {
        var value: Int
        var part: Int
    }

    var rows: [Int: Row] = [:]
    /// The number of edits so far.
    var time = 0
}

/// The stored state of a simulated feed. A copy of it is a backup.
struct SimulatedFeed {
    /// A sequence number: the incarnation in the upper half, a counter in the lower one.
    typealias Number = UInt64

    /// The primary key of a member: part and key.
    struct Slot: Hashable, Comparable {
        let part: Int
        let key: Int

        static func < (one: Slot, other: Slot) -> Bool { (one.key, one.part) < (other.key, other.part) }
    }

    /// A member; without a value it is removed.
    struct Member {
        var number: Number
        var value: Int?
    }

    /// A row of a page.
    struct Listed {
        let number: Number
        let key: Int
        let value: Int?
    }

    var head: Number = 1 << 32
    var floor: Number = 0
    var members: [Slot: Member] = [:]
    /// The last head of each ended incarnation.
    var forks: [Number: Number] = [:]
    /// The random tag of each head.
    var tags: [Number: UInt64] = [1 << 32: 0]
    /// The incarnation as the database records it.
    var incarnation: Number = 1
    var fence: Number = 0
    /// The random name of the newest claim.
    var claim: UInt64 = 0
    /// The time of the back end whose rows are stored.
    var asOf = 0

    /// Writes the rows of the back end as they were read.
    mutating func apply(
        _ read: SimulatedRows, incarnation: Number, rules: FeedSimulation.Rules, _ numbers: inout SeededNumbers
    ) {
        if rules.contains(.incarnations), head >> 32 != incarnation {
            forks[head >> 32] = head
            head = incarnation << 32
        }
        var changes: [(slot: Slot, value: Int?)] = []
        for (key, row) in read.rows {
            let slot = Slot(part: row.part, key: key)
            if members[slot]?.value != row.value { changes.append((slot, row.value)) }
        }
        for (slot, member) in members where member.value != nil && read.rows[slot.key]?.part != slot.part {
            changes.append((slot, nil))
        }
        for change in changes.sorted(by: { $0.slot < $1.slot }) {
            head += 1
            members[change.slot] = Member(number: head, value: change.value)
        }
        if !changes.isEmpty || tags[head] == nil { tags[head] = numbers.next() }
        asOf = read.time
    }

    /// Forgets removals up to a random one.
    mutating func prune(_ numbers: inout SeededNumbers) {
        let removed = members.values.filter { $0.value == nil }.map(\.number).sorted()
        guard let cut = removed.randomElement(using: &numbers) else { return }
        members = members.filter { $0.value.value != nil || $0.value.number > cut }
        floor = max(floor, cut)
        // Tags are kept down to the floor, and one below it.
        if let below = tags.keys.filter({ $0 < floor }).max() { tags = tags.filter { $0.key >= below } }
    }

    /// Returns whether a number is of a state that the feed has lost, as far as the older rule can tell.
    func isForked(_ number: Number) -> Bool {
        guard number != 0 else { return false }
        if number >> 32 == head >> 32 { return number > head }
        return forks[number >> 32].map { number > $0 } ?? true
    }

    /// Returns whether any part of a set has a live row of a key.
    func hasLive(_ key: Int, in parts: Set<Int>) -> Bool {
        parts.contains { members[Slot(part: $0, key: key)]?.value != nil }
    }

    /// Returns the next rows of a part in the order of their numbers.
    func page(of part: Int, where isIncluded: (Member) -> Bool) -> [Listed] {
        members.filter { $0.key.part == part && isIncluded($0.value) }
            .map { Listed(number: $0.value.number, key: $0.key.key, value: $0.value.value) }
            .sorted { $0.number < $1.number }.prefix(FeedSimulation.pageSize).map(\.self)
    }
}
