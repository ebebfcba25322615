/// Values by keys, of which those used last are kept.
package struct RecentlyUsed<Key: Hashable, Value> {
    /// How many are kept; the half that was not used for longest goes when there are more.
    private let capacity: Int
    private var entries: [Key: (value: Value, use: UInt64)] = [:]
    private var use: UInt64 = 0

    /// Keeps nothing yet.
    package init(capacity: Int) { self.capacity = max(1, capacity) }

    /// The value kept for a key, which counts as used now.
    package mutating func find(_ key: Key) -> Value? {
        use += 1
        guard let index = entries.index(forKey: key) else { return nil }
        entries.values[index].use = use
        return entries.values[index].value
    }

    /// Keeps a value, in place of the one that the key had.
    package mutating func keep(_ value: Value, for key: Key) {
        use += 1
        if entries.count >= capacity, entries[key] == nil {
            let uses = entries.values.map(\.use).sorted()
            let middle = uses[uses.count / 2]
            entries = entries.filter { $0.value.use > middle }
        }
        entries[key] = (value, use)
    }
}
