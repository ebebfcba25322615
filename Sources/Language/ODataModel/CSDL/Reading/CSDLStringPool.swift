#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// Every text of a metadata document once: names, types and values repeat, and a number is compared, kept and
/// looked up faster than a string.
struct CSDLStringPool {
    private var bytes: [UInt8] = []
    private var ends: [Int32] = [0]
    /// Open addressing: a text's hash above its number plus one, 0 for an empty slot. Its size is a power of two.
    private var slots: [UInt64] = Array(repeating: 0, count: 1024)

    private let seed = UInt64.random(in: 1 ... .max)
    private let factor = UInt64.random(in: 1 ... .max) | 0x9E37_0000_0000_0001

    private(set) var count = 0
    /// How many of the slots are taken.
    private var slotCount = 0

    /// Makes the text a string: each time anew, and many texts are never asked for.
    subscript(id: Int32) -> String { withUTF8(id) { String(decoding: $0, as: UTF8.self) } }

    /// The text's bytes.
    func withUTF8<Result>(_ id: Int32, _ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
        bytes.withUnsafeBufferPointer {
            body(UnsafeBufferPointer(rebasing: $0[Int(ends[Int(id)])..<Int(ends[Int(id) + 1])]))
        }
    }

    mutating func reserve(documentBytes: Int) {
        bytes.reserveCapacity(bytes.count + documentBytes / 3)
        ends.reserveCapacity(ends.count + documentBytes / 120)
        guard count == 0 else { return }
        while slots.count < documentBytes / 100 { slots = Array(repeating: 0, count: slots.count * 2) }
    }

    mutating func id(_ text: String) -> Int32 {
        var text = text
        return text.withUTF8 { id($0) }
    }

    /// The number of a text, the same each time.
    mutating func id(_ text: UnsafeBufferPointer<UInt8>) -> Int32 {
        let hash = hash(text)
        let (known, slot) = find(text, hash)
        if let known { return known }
        let id = append(text)
        slots[slot] = UInt64(hash) << 32 | UInt64(id + 1)
        slotCount += 1
        if slotCount * 2 > slots.count { grow() }
        return id
    }

    /// A number for a text that is looked at and hardly ever repeats: it is not looked for.
    mutating func append(_ text: UnsafeBufferPointer<UInt8>) -> Int32 {
        bytes.append(contentsOf: text)
        ends.append(Int32(bytes.count))
        count += 1
        return Int32(count - 1)
    }

    func isEmpty(_ id: Int32) -> Bool { ends[Int(id)] == ends[Int(id) + 1] }

    /// The length of a text in bytes.
    func count(_ id: Int32) -> Int { Int(ends[Int(id) + 1] - ends[Int(id)]) }

    /// The number of a text; `nil` where it has none yet.
    func number(_ text: UnsafeBufferPointer<UInt8>) -> Int32? { find(text, hash(text)).id }

    /// The number of a text; `nil` where it has none yet.
    func number(_ text: String) -> Int32? {
        var text = text
        return text.withUTF8 { number($0) }
    }

    /// The number of a text, or the slot where it belongs.
    private func find(_ text: UnsafeBufferPointer<UInt8>, _ hash: UInt32) -> (id: Int32?, slot: Int) {
        var slot = Int(hash) & (slots.count - 1)
        while slots[slot] != 0 {
            if slots[slot] >> 32 == hash {
                let id = Int32(truncatingIfNeeded: slots[slot]) - 1
                if equals(id, text) { return (id, slot) }
            }
            slot = (slot + 1) & (slots.count - 1)
        }
        return (nil, slot)
    }

    /// Whether two texts, each at least this long, begin with the same bytes.
    func haveSamePrefix(_ left: Int32, _ right: Int32, length: Int) -> Bool {
        bytes.withUnsafeBytes {
            guard let base = $0.baseAddress, length > 0 else { return length == 0 }
            return memcmp(base + Int(ends[Int(left)]), base + Int(ends[Int(right)]), length) == 0
        }
    }

    /// Whether a text has these bytes.
    func equals(_ id: Int32, _ text: UnsafeBufferPointer<UInt8>) -> Bool {
        let start = Int(ends[Int(id)])
        guard Int(ends[Int(id) + 1]) - start == text.count else { return false }
        // An empty buffer may have no address.
        guard !text.isEmpty else { return true }
        return bytes.withUnsafeBytes { stored in
            guard let left = stored.baseAddress, let right = text.baseAddress else { return false }
            return memcmp(left + start, right, text.count) == 0
        }
    }

    private mutating func grow() {
        let old = slots
        slots = Array(repeating: 0, count: slots.count * 2)
        for entry in old where entry != 0 {
            var slot = Int(entry >> 32) & (slots.count - 1)
            while slots[slot] != 0 { slot = (slot + 1) & (slots.count - 1) }
            slots[slot] = entry
        }
    }

    /// Eight bytes at a time. Texts made to collide cost time in proportion to ``CSDLReader/maxElements``
    /// squared at worst, so the multiplier differs from process to process.
    private func hash(_ text: UnsafeBufferPointer<UInt8>) -> UInt32 {
        var hash = seed ^ UInt64(truncatingIfNeeded: text.count)
        let raw = UnsafeRawBufferPointer(text)
        var offset = 0
        while offset + 8 <= raw.count {
            hash = mix(hash ^ raw.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
            offset += 8
        }
        var rest: UInt64 = 0
        if offset < raw.count, raw.count >= 8 {
            // The last eight bytes again, some of which were taken already.
            rest = raw.loadUnaligned(fromByteOffset: raw.count - 8, as: UInt64.self)
        } else {
            while offset < raw.count {
                rest = rest << 8 | UInt64(raw[offset])
                offset += 1
            }
        }
        hash = mix(hash ^ rest)
        return UInt32(truncatingIfNeeded: hash ^ (hash >> 32))
    }

    private func mix(_ value: UInt64) -> UInt64 {
        let product = value.multipliedFullWidth(by: factor)
        return product.high ^ product.low
    }
}
