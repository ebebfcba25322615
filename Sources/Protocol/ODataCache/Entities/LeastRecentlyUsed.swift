/// Values by key that know which of them was not used for longest. Every operation takes constant time on average.
struct LeastRecentlyUsed<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private struct Slot: Sendable {
        var value: Value
        var cost: Int
        /// When it was used last.
        var tick: UInt64
        /// When it came.
        var order: UInt64
    }

    private var slots: [Key: Slot] = [:]
    /// Every use, oldest first; those that were followed by another use of the same key no longer count.
    private var uses: [(key: Key, tick: UInt64)] = []
    private var firstUse = 0
    private var ticks: UInt64 = 0
    /// The costs of all values.
    private(set) var cost = 0

    var count: Int { slots.count }

    /// All keys and values, in the order in which they came.
    var inOrder: [(key: Key, value: Value)] {
        slots.sorted { $0.value.order < $1.value.order }.map { ($0.key, $0.value.value) }
    }

    /// A value, without using it.
    func peek(_ key: Key) -> Value? { slots[key]?.value }

    /// A value, which is the most recently used one then.
    mutating func use(_ key: Key) -> Value? {
        guard let value = slots[key]?.value else { return nil }
        touch(key)
        return value
    }

    /// Sets a value, which is the most recently used one then.
    mutating func set(_ value: Value, cost: Int, for key: Key) {
        ticks += 1
        let old = slots[key]
        self.cost += cost - (old?.cost ?? 0)
        slots[key] = Slot(value: value, cost: cost, tick: ticks, order: old?.order ?? ticks)
        uses.append((key, ticks))
        compact()
    }

    @discardableResult
    mutating func remove(_ key: Key) -> Value? {
        guard let slot = slots.removeValue(forKey: key) else { return nil }
        cost -= slot.cost
        return slot.value
    }

    /// The value that was not used for longest among those that may go.
    mutating func oldest(where mayGo: (Value) -> Bool = { _ in true }) -> Key? {
        dropStaleUses()
        for use in uses[firstUse...] {
            if let slot = slots[use.key], slot.tick == use.tick, mayGo(slot.value) { return use.key }
        }
        return nil
    }

    mutating func removeAll() { self = LeastRecentlyUsed() }

    private mutating func touch(_ key: Key) {
        ticks += 1
        slots[key]?.tick = ticks
        uses.append((key, ticks))
        compact()
    }

    private mutating func dropStaleUses() {
        while firstUse < uses.count, slots[uses[firstUse].key]?.tick != uses[firstUse].tick { firstUse += 1 }
    }

    private mutating func compact() {
        guard uses.count > 64, uses.count > slots.count * 2 else { return }
        uses = uses[firstUse...].filter { slots[$0.key]?.tick == $0.tick }
        firstUse = 0
    }
}
