/// Values by keys, of which those used last are kept.
///
/// They are of two ages. What is used is young; when there are enough of the young, they become the old, and what was
/// old until then and nobody has used since goes. Nothing is sorted or counted for it.
package struct RecentlyUsed<Key: Hashable, Value> {
    /// How many of each age there may be.
    private let capacity: Int
    private var young: [Key: Value] = [:]
    private var old: [Key: Value] = [:]

    /// Keeps nothing yet.
    ///
    /// - Parameter capacity: how many are kept for sure, 1 or more; there are never more than twice as many.
    package init(capacity: Int) { self.capacity = max(1, capacity) }

    /// The value kept for a key, which counts as used now.
    package mutating func find(_ key: Key) -> Value? {
        if let value = young[key] { return value }
        guard let value = old.removeValue(forKey: key) else { return nil }
        keep(value, for: key)
        return value
    }

    /// Keeps a value, in place of the one that the key had.
    package mutating func keep(_ value: Value, for key: Key) {
        if young.updateValue(value, forKey: key) == nil, young.count >= capacity {
            old = young
            young = Dictionary(minimumCapacity: capacity)
        }
    }
}
