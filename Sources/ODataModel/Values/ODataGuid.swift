/// A 128-bit identifier (`Edm.Guid`), ordered by its bytes as text is.
public struct ODataGuid: Hashable, Sendable, Comparable, LosslessStringConvertible {
    /// The first eight bytes, most significant first.
    public let high: UInt64
    /// The last eight bytes, most significant first.
    public let low: UInt64

    /// Makes an identifier from its two halves.
    public init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// A random identifier of version 4 (RFC 9562).
    public static func random(using generator: inout some RandomNumberGenerator) -> ODataGuid {
        let high = (generator.next() as UInt64) & 0xFFFF_FFFF_FFFF_0FFF | 0x4000
        let low = (generator.next() as UInt64) & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000
        return ODataGuid(high: high, low: low)
    }

    /// A random identifier of version 4 from the system's generator.
    public static func random() -> ODataGuid {
        var generator = SystemRandomNumberGenerator()
        return random(using: &generator)
    }

    /// Reads the form `8-4-4-4-12` of hexadecimal digits, either case.
    public init?(_ text: String) { self.init(lexical: text.utf8) }

    /// Reads the same form from bytes.
    public init?(lexical bytes: some Collection<UInt8>) {
        guard bytes.count == 36 else { return nil }
        var halves: (UInt64, UInt64) = (0, 0)
        var digits = 0
        for (position, byte) in bytes.enumerated() {
            if position == 8 || position == 13 || position == 18 || position == 23 {
                guard byte == UInt8(ascii: "-") else { return nil }
                continue
            }
            let value: UInt8
            switch byte {
            case 48...57: value = byte - 48
            case 65...70: value = byte - 55
            case 97...102: value = byte - 87
            default: return nil
            }
            if digits < 16 {
                halves.0 = halves.0 << 4 | UInt64(value)
            } else {
                halves.1 = halves.1 << 4 | UInt64(value)
            }
            digits += 1
        }
        self.init(high: halves.0, low: halves.1)
    }

    /// The sixteen bytes in the order of the text form.
    public var bytes: [UInt8] {
        [high, low].flatMap { half in (0..<8).map { UInt8(truncatingIfNeeded: half >> (56 - 8 * $0)) } }
    }

    /// Makes an identifier from sixteen bytes in the order of the text form.
    public init?(bytes: some Collection<UInt8>) {
        guard bytes.count == 16 else { return nil }
        self.init(
            high: bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) },
            low: bytes.dropFirst(8).reduce(0) { $0 << 8 | UInt64($1) })
    }

    /// Lower-case text of the form `8-4-4-4-12`.
    public var description: String {
        let digits = Array("0123456789abcdef".utf8)
        var text: [UInt8] = []
        text.reserveCapacity(36)
        for (index, byte) in bytes.enumerated() {
            if index == 4 || index == 6 || index == 8 || index == 10 { text.append(UInt8(ascii: "-")) }
            text.append(digits[Int(byte >> 4)])
            text.append(digits[Int(byte & 15)])
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Ordered by bytes.
    public static func < (left: ODataGuid, right: ODataGuid) -> Bool {
        (left.high, left.low) < (right.high, right.low)
    }
}
