/// The names of a shape's properties in UTF-8, so that a JSON reader finds ordinals without creating strings.
final class PropertyNameTable: Sendable {
    private struct Name: Sendable {
        /// The start of the member name with quotation marks and colon in ``text``.
        var start: Int
        /// The length of the bare name.
        var count: Int
    }

    /// All names in their usual notation, concatenated: `"ID":"Name":`.
    private let text: [UInt8]
    private let names: [Name]
    /// A hash table with open addressing that contains ordinals plus one, or zero for free places. It is at most
    /// half full.
    private let places: [Int32]

    init(_ properties: some Sequence<String>) {
        var text: [UInt8] = []
        var names: [Name] = []
        for property in properties {
            names.append(Name(start: text.count, count: property.utf8.count))
            text += "\"\(property)\":".utf8
        }
        var places = [Int32](repeating: 0, count: 2)
        while places.count < names.count * 2 { places += places }
        for (ordinal, name) in names.enumerated() {
            text.withUnsafeBufferPointer { text in
                func bytes(_ name: Name) -> UnsafeBufferPointer<UInt8> {
                    UnsafeBufferPointer(rebasing: text[(name.start + 1)..<(name.start + 1 + name.count)])
                }
                var place = Self.hash(bytes(name)) & (places.count - 1)
                while places[place] != 0 {
                    // A repeated name is found at its first ordinal.
                    if bytes(names[Int(places[place]) - 1]).elementsEqual(bytes(name)) { return }
                    place = (place + 1) & (places.count - 1)
                }
                places[place] = Int32(ordinal + 1)
            }
        }
        self.text = text
        self.names = names
        self.places = places
    }

    /// Returns the ordinal of a name.
    func ordinal(of bytes: UnsafeBufferPointer<UInt8>) -> Int? {
        guard !names.isEmpty else { return nil }
        var place = Self.hash(bytes) & (places.count - 1)
        while places[place] != 0 {
            let ordinal = Int(places[place]) - 1
            if matches(ordinal, bytes) { return ordinal }
            place = (place + 1) & (places.count - 1)
        }
        return nil
    }

    /// Returns the ordinal of a name, compared without Unicode normalisation.
    func ordinal(of name: String) -> Int? {
        // Native strings, the usual case, provide their bytes without a copy.
        if let ordinal = name.utf8.withContiguousStorageIfAvailable({ ordinal(of: $0) }) { return ordinal }
        return Array(name.utf8).withUnsafeBufferPointer { ordinal(of: $0) }
    }

    /// Returns whether a name is the one at an ordinal.
    func matches(_ ordinal: Int, _ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        let name = names[ordinal]
        guard name.count == bytes.count else { return false }
        return text.withUnsafeBufferPointer { areEqual($0, at: name.start + 1, bytes, at: 0, count: name.count) }
    }

    /// Returns the length of the member name at `offset`, including quotation marks and colon.
    ///
    /// The result is zero if the name is not the one at the ordinal, or does not have the usual notation.
    @inline(__always)
    func length(of ordinal: Int, in bytes: UnsafeBufferPointer<UInt8>, at offset: Int) -> Int {
        guard ordinal < names.count else { return 0 }
        let name = names[ordinal]
        let count = name.count + 3
        guard bytes.count - offset >= count else { return 0 }
        let isEqual = text.withUnsafeBufferPointer { areEqual($0, at: name.start, bytes, at: offset, count: count) }
        return isEqual ? count : 0
    }

    private static func hash(_ bytes: UnsafeBufferPointer<UInt8>) -> Int {
        // FNV-1a suffices because names are short and only the model's author chooses them.
        var hash: UInt32 = 2_166_136_261
        for byte in bytes { hash = (hash ^ UInt32(byte)) &* 16_777_619 }
        return Int(hash ^ hash >> 15)
    }
}

/// Compares `count` bytes of two buffers, eight at a time; both buffers must be long enough.
@inline(__always)
func areEqual(
    _ left: UnsafeBufferPointer<UInt8>, at leftOffset: Int, _ right: UnsafeBufferPointer<UInt8>, at rightOffset: Int,
    count: Int
) -> Bool {
    guard count > 0, let left = left.baseAddress, let right = right.baseAddress else { return count == 0 }
    let a = UnsafeRawPointer(left + leftOffset)
    let b = UnsafeRawPointer(right + rightOffset)
    guard count >= 8 else {
        var index = 0
        while index < count {
            if a.load(fromByteOffset: index, as: UInt8.self) != b.load(fromByteOffset: index, as: UInt8.self) {
                return false
            }
            index += 1
        }
        return true
    }
    var index = 0
    while index + 8 <= count {
        let difference =
            a.loadUnaligned(fromByteOffset: index, as: UInt64.self)
            ^ b.loadUnaligned(fromByteOffset: index, as: UInt64.self)
        if difference != 0 { return false }
        index += 8
    }
    // The last eight bytes overlap bytes that are compared already, which avoids a loop over single bytes.
    return a.loadUnaligned(fromByteOffset: count - 8, as: UInt64.self)
        == b.loadUnaligned(fromByteOffset: count - 8, as: UInt64.self)
}
