#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// The texts of a metadata document, each stored once.
///
/// Names, types and values repeat. Numbers are faster to compare, store and look up than strings.
struct CSDLStringPool {
    private var bytes: [UInt8] = []
    private var ends: [Int32] = [0]
    /// A hash table with open addressing, whose size is a power of two. A slot contains the hash in its upper half
    /// and the number plus one in its lower half; 0 for empty.
    private var slots: [UInt64] = Array(repeating: 0, count: 1024)

    private let seed = UInt64.random(in: 1 ... .max)
    private let factor = UInt64.random(in: 1 ... .max) | 0x9E37_0000_0000_0001

    private(set) var count = 0
    /// The number of occupied slots.
    private var slotCount = 0

    /// The text as a new string. Strings are not kept, because many texts are never requested.
    subscript(id: Int32) -> String { withUTF8(id) { String(decoding: $0, as: UTF8.self) } }

    /// Calls `body` with the text's bytes.
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

    /// Returns the number of a text; equal texts have the same number.
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

    /// Adds a text that hardly ever repeats, without a search for an equal text.
    mutating func append(_ text: UnsafeBufferPointer<UInt8>) -> Int32 {
        bytes.append(contentsOf: text)
        ends.append(Int32(bytes.count))
        count += 1
        return Int32(count - 1)
    }

    func isEmpty(_ id: Int32) -> Bool { ends[Int(id)] == ends[Int(id) + 1] }

    /// Returns the length of a text in bytes.
    func count(_ id: Int32) -> Int { Int(ends[Int(id) + 1] - ends[Int(id)]) }

    /// Returns the number of a text; `nil` if it has none.
    func number(_ text: UnsafeBufferPointer<UInt8>) -> Int32? { find(text, hash(text)).id }

    /// Returns the number of a text; `nil` if it has none.
    func number(_ text: String) -> Int32? {
        var text = text
        return text.withUTF8 { number($0) }
    }

    /// Returns the number of a text, or the free slot for it.
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

    /// Returns whether two texts, each at least `length` bytes long, begin with the same bytes.
    func haveSamePrefix(_ left: Int32, _ right: Int32, length: Int) -> Bool {
        bytes.withUnsafeBytes {
            guard let base = $0.baseAddress, length > 0 else { return length == 0 }
            return memcmp(base + Int(ends[Int(left)]), base + Int(ends[Int(right)]), length) == 0
        }
    }

    /// Returns whether a text consists of these bytes.
    func equals(_ id: Int32, _ text: UnsafeBufferPointer<UInt8>) -> Bool {
        let start = Int(ends[Int(id)])
        guard Int(ends[Int(id) + 1]) - start == text.count else { return false }
        // An empty buffer may have no base address.
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

    /// Hashes eight bytes at a time. Malicious texts with equal hashes could cost time proportional to the square
    /// of ``CSDLReader/maxElements``. Therefore, the multiplier is random in each process.
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
            // The last eight bytes, which overlap bytes that are hashed already.
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
