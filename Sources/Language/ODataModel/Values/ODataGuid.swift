/// A GUID (`Edm.Guid`), ordered by its bytes in the order of the text form.
///
/// ```swift
/// let id = ODataGuid.random()
/// order["ID"] = .guid(id)
/// print(id.description, ODataGuid(id.description) == id)
/// ```
public struct ODataGuid: Hashable, Sendable, Comparable, LosslessStringConvertible {
    /// The first eight bytes, most significant first.
    public let high: UInt64
    /// The last eight bytes, most significant first.
    public let low: UInt64

    /// Creates a GUID from its two halves.
    public init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// Returns a random GUID of version 4 (RFC 9562).
    public static func random(using generator: inout some RandomNumberGenerator) -> ODataGuid {
        let high = (generator.next() as UInt64) & 0xFFFF_FFFF_FFFF_0FFF | 0x4000
        let low = (generator.next() as UInt64) & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000
        return ODataGuid(high: high, low: low)
    }

    /// Returns a random GUID of version 4 from the system's generator.
    public static func random() -> ODataGuid {
        var generator = SystemRandomNumberGenerator()
        return random(using: &generator)
    }

    /// Parses the form `8-4-4-4-12` of hexadecimal digits in either case.
    public init?(_ text: String) {
        var text = text
        guard let value = text.withUTF8({ ODataGuid(lexical: $0) }) else { return nil }
        self = value
    }

    /// Parses the form `8-4-4-4-12` from bytes.
    public init?(lexical bytes: some Collection<UInt8>) {
        guard bytes.count == 36 else { return nil }
        let value =
            bytes.withContiguousStorageIfAvailable { ODataGuid(lexical: $0) }
            ?? Array(bytes).withUnsafeBufferPointer { ODataGuid(lexical: $0) }
        guard let value else { return nil }
        self = value
    }

    /// Parses the form `8-4-4-4-12` from bytes in memory, eight digits at a time.
    public init?(lexical bytes: UnsafeBufferPointer<UInt8>) {
        guard bytes.count == 36, let start = UnsafeRawPointer(bytes.baseAddress) else { return nil }
        func four(_ offset: Int) -> UInt64 {
            UInt64(UInt32(littleEndian: start.loadUnaligned(fromByteOffset: offset, as: UInt32.self)))
        }
        func eight(_ offset: Int) -> UInt64 {
            UInt64(littleEndian: start.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
        }
        let dash = UInt8(ascii: "-")
        guard bytes[8] == dash, bytes[13] == dash, bytes[18] == dash, bytes[23] == dash,
            let first = hexadecimal(eight(0)), let second = hexadecimal(four(9) | four(14) << 32),
            let third = hexadecimal(four(19) | four(24) << 32), let fourth = hexadecimal(eight(28))
        else { return nil }
        self.init(high: first << 32 | second, low: third << 32 | fourth)
    }

    /// The sixteen bytes in the order of the text form.
    public var bytes: [UInt8] {
        [high, low].flatMap { half in (0..<8).map { UInt8(truncatingIfNeeded: half >> (56 - 8 * $0)) } }
    }

    /// Creates a GUID from sixteen bytes in the order of the text form.
    public init?(bytes: some Collection<UInt8>) {
        guard bytes.count == 16 else { return nil }
        self.init(
            high: bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) },
            low: bytes.dropFirst(8).reduce(0) { $0 << 8 | UInt64($1) })
    }

    /// The form `8-4-4-4-12` in lower case.
    public var description: String { LexicalWriter.text { write(to: &$0) } }

    /// Ranges of texts that contain all notations of the GUID in upper, lower or mixed case. The ranges rely on
    /// capital letters sorting before small letters.
    ///
    /// The case of the first letters is fixed in each range. The ranges are therefore so narrow that they contain
    /// hardly any other GUID.
    package var textRanges: [(least: String, greatest: String)] {
        func capital(_ byte: UInt8) -> UInt8 { byte >= UInt8(ascii: "a") ? byte - 32 : byte }
        let small = Array(description.utf8)
        var starts: [[UInt8]] = [[]]
        var length = 0
        while length < small.count, starts.count < 8 {
            let byte = small[length]
            starts = starts.flatMap { capital(byte) == byte ? [$0 + [byte]] : [$0 + [capital(byte)], $0 + [byte]] }
            length += 1
        }
        let rest = small[length...]
        let capitals = rest.map(capital)
        return starts.map {
            (String(decoding: $0 + capitals, as: UTF8.self), String(decoding: $0 + rest, as: UTF8.self))
        }
    }

    func write(to text: inout LexicalWriter) {
        text.hexadecimal(high >> 32, digits: 8)
        text.character("-")
        text.hexadecimal(high >> 16, digits: 4)
        text.character("-")
        text.hexadecimal(high, digits: 4)
        text.character("-")
        text.hexadecimal(low >> 48, digits: 4)
        text.character("-")
        text.hexadecimal(low, digits: 12)
    }

    /// Returns whether the left GUID comes first in the order of bytes.
    public static func < (left: ODataGuid, right: ODataGuid) -> Bool {
        (left.high, left.low) < (right.high, right.low)
    }
}

/// Returns the number of eight hexadecimal digits of either case, the first in the lowest byte; `nil` if a byte is
/// not a hexadecimal digit.
private func hexadecimal(_ word: UInt64) -> UInt64? {
    let ones: UInt64 = 0x0101_0101_0101_0101
    let letters = (word >> 6) & ones
    var value = (word & (ones &* 0x0F)) &+ letters &* 9
    // The conversion is reversed, and a difference from the input reveals an invalid byte.
    let beyondNine = ((value &+ ones &* 0x76) >> 7) & ones
    let text = value &+ ones &* 0x30 &+ beyondNine &* 0x27
    guard value & (ones &* 0xF0) == 0, text == word | letters << 5 else { return nil }
    value = value.byteSwapped
    value = (value | value >> 4) & 0x00FF_00FF_00FF_00FF
    value = (value | value >> 8) & 0x0000_FFFF_0000_FFFF
    return (value | value >> 16) & 0xFFFF_FFFF
}
