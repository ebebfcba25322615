/// A dictionary that knows its least recently used value. Every operation but ``inOrder`` takes constant time.
///
/// ```swift
/// var responses = LeastRecentlyUsed<String, Response>(capacity: 256)
/// responses.set(response, for: "Orders")
/// responses.use("Orders")
/// ```
package struct LeastRecentlyUsed<Key: Hashable, Value> {
    /// A value and its neighbours in the order of use.
    fileprivate struct Slot {
        let key: Key
        var value: Value
        var cost: Int
        /// The number of insertions when the key was inserted.
        let order: UInt64
        var older: Int?
        var newer: Int?
    }

    private let capacity: Int
    private var slots: [Slot] = []
    private var positions: [Key: Int] = [:]
    private var insertions: UInt64 = 0
    /// The least and most recently used slots.
    private var first: Int?
    private var last: Int?
    /// The sum of the costs of all values.
    package private(set) var cost = 0

    /// Creates an empty collection.
    ///
    /// - Parameter capacity: the maximum number of values, 1 or more. A new value then replaces the least recently
    ///   used one.
    package init(capacity: Int = .max) { self.capacity = max(1, capacity) }

    package var count: Int { slots.count }

    /// All keys and values, in the order in which the keys were inserted.
    package var inOrder: [(key: Key, value: Value)] {
        slots.sorted { $0.order < $1.order }.map { ($0.key, $0.value) }
    }

    /// Returns a value without changing the order of use.
    package func peek(_ key: Key) -> Value? { positions[key].map { slots[$0].value } }

    /// Returns a value and makes it the most recently used one.
    package mutating func use(_ key: Key) -> Value? {
        guard let position = positions[key] else { return nil }
        if position != last {
            unlink(position)
            append(position)
        }
        return slots[position].value
    }

    /// Sets a value and makes it the most recently used one.
    package mutating func set(_ value: Value, cost: Int = 1, for key: Key) {
        self.cost += cost
        if let position = positions[key] {
            self.cost -= slots[position].cost
            slots[position].value = value
            slots[position].cost = cost
            if position == last { return }
            unlink(position)
            append(position)
        } else {
            if slots.count == capacity, let first { remove(at: first) }
            insertions += 1
            positions[key] = slots.count
            slots.append(Slot(key: key, value: value, cost: cost, order: insertions))
            append(slots.count - 1)
        }
    }

    @discardableResult
    package mutating func remove(_ key: Key) -> Value? {
        guard let position = positions[key] else { return nil }
        let value = slots[position].value
        remove(at: position)
        return value
    }

    /// Returns the key of the least recently used value that meets a condition.
    package func oldest(where mayGo: (Value) -> Bool = { _ in true }) -> Key? {
        var position = first
        while let current = position {
            if mayGo(slots[current].value) { return slots[current].key }
            position = slots[current].newer
        }
        return nil
    }

    package mutating func removeAll() { self = LeastRecentlyUsed(capacity: capacity) }

    /// Removes a slot from the order of use.
    private mutating func unlink(_ position: Int) {
        let (older, newer) = (slots[position].older, slots[position].newer)
        if let older { slots[older].newer = newer } else { first = newer }
        if let newer { slots[newer].older = older } else { last = older }
    }

    /// Appends a slot to the end of the order of use.
    private mutating func append(_ position: Int) {
        slots[position].older = last
        slots[position].newer = nil
        if let last { slots[last].newer = position } else { first = position }
        last = position
    }

    /// Removes a slot; the last slot of the array takes its place.
    private mutating func remove(at position: Int) {
        unlink(position)
        cost -= slots[position].cost
        positions[slots[position].key] = nil
        let moved = slots.removeLast()
        guard position < slots.count else { return }
        slots[position] = moved
        positions[moved.key] = position
        if let older = moved.older { slots[older].newer = position } else { first = position }
        if let newer = moved.newer { slots[newer].older = position } else { last = position }
    }
}

extension LeastRecentlyUsed: Sendable where Key: Sendable, Value: Sendable {}
extension LeastRecentlyUsed.Slot: Sendable where Key: Sendable, Value: Sendable {}
