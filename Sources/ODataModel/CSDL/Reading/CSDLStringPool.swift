#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// Every text of a metadata document once: names, types and values repeat, and a number is compared, kept and
/// looked up faster than a string.
struct CSDLStringPool {
    private(set) var strings: [String] = []
    private var bytes: [UInt8] = []
    private var ends: [Int32] = [0]
    private var hashes: [UInt32] = []
    /// Open addressing: a text's number plus one, 0 for an empty slot. Its size is a power of two.
    private var slots: [Int32] = Array(repeating: 0, count: 1024)

    private let seed = UInt64.random(in: 1 ... .max)
    private let factor = UInt64.random(in: 1 ... .max) | 0x9E37_0000_0000_0001

    var count: Int { strings.count }

    subscript(id: Int32) -> String { strings[Int(id)] }

    /// The text's bytes.
    func withUTF8<Result>(_ id: Int32, _ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
        bytes.withUnsafeBufferPointer {
            body(UnsafeBufferPointer(rebasing: $0[Int(ends[Int(id)])..<Int(ends[Int(id) + 1])]))
        }
    }

    mutating func reserve(documentBytes: Int) {
        bytes.reserveCapacity(bytes.count + documentBytes / 8)
        strings.reserveCapacity(strings.count + documentBytes / 200)
        ends.reserveCapacity(ends.count + documentBytes / 200)
        hashes.reserveCapacity(hashes.count + documentBytes / 200)
        guard strings.isEmpty else { return }
        while slots.count < documentBytes / 100 { slots = Array(repeating: 0, count: slots.count * 2) }
    }

    mutating func id(_ text: String) -> Int32 {
        var text = text
        return text.withUTF8 { id($0) }
    }

    /// The number of a text, the same each time.
    mutating func id(_ text: UnsafeBufferPointer<UInt8>) -> Int32 {
        let hash = hash(text)
        var slot = Int(hash) & (slots.count - 1)
        while slots[slot] != 0 {
            let id = slots[slot] - 1
            if hashes[Int(id)] == hash, equals(id, text) { return id }
            slot = (slot + 1) & (slots.count - 1)
        }
        let id = Int32(strings.count)
        strings.append(String(decoding: text, as: UTF8.self))
        bytes.append(contentsOf: text)
        ends.append(Int32(bytes.count))
        hashes.append(hash)
        slots[slot] = id + 1
        if strings.count * 2 > slots.count { grow() }
        return id
    }

    private func equals(_ id: Int32, _ text: UnsafeBufferPointer<UInt8>) -> Bool {
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
        slots = Array(repeating: 0, count: slots.count * 2)
        for (id, hash) in hashes.enumerated() {
            var slot = Int(hash) & (slots.count - 1)
            while slots[slot] != 0 { slot = (slot + 1) & (slots.count - 1) }
            slots[slot] = Int32(id) + 1
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
        while offset < raw.count {
            rest = rest << 8 | UInt64(raw[offset])
            offset += 1
        }
        hash = mix(hash ^ rest)
        return UInt32(truncatingIfNeeded: hash ^ (hash >> 32))
    }

    private func mix(_ value: UInt64) -> UInt64 {
        let product = value.multipliedFullWidth(by: factor)
        return product.high ^ product.low
    }

}
