/// Base64 with the URL alphabet, as OData writes binary values (OData JSON Format 4.01, 7.1; RFC 4648, 5).
enum Base64 {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

    /// Reads either alphabet, padded or not: V2 services and many V4 ones send the plain one.
    ///
    /// - Returns: `nil` when another character stands there, or a length no bytes encode to.
    static func decode(_ text: UnsafeBufferPointer<UInt8>) -> [UInt8]? {
        var count = text.count
        while count > 0, text.count - count < 2, text[count - 1] == UInt8(ascii: "=") { count -= 1 }
        guard count % 4 != 1, count == text.count || text.count % 4 == 0 else { return nil }
        var result: [UInt8] = []
        result.reserveCapacity(count * 3 / 4)
        var bits: UInt32 = 0
        var filled = 0
        for index in 0..<count {
            let value: UInt8
            switch text[index] {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"): value = text[index] - 65
            case UInt8(ascii: "a")...UInt8(ascii: "z"): value = text[index] - 71
            case UInt8(ascii: "0")...UInt8(ascii: "9"): value = text[index] + 4
            case UInt8(ascii: "-"), UInt8(ascii: "+"): value = 62
            case UInt8(ascii: "_"), UInt8(ascii: "/"): value = 63
            default: return nil
            }
            bits = bits << 6 | UInt32(value)
            filled += 6
            if filled >= 8 {
                filled -= 8
                result.append(UInt8(truncatingIfNeeded: bits >> UInt32(filled)))
            }
        }
        return result
    }

    /// Writes the URL alphabet without padding.
    static func append(_ bytes: [UInt8], to result: inout [UInt8]) {
        result.reserveCapacity(result.count + (bytes.count * 4 + 2) / 3)
        var index = 0
        while index < bytes.count {
            let left = min(3, bytes.count - index)
            var group = UInt32(bytes[index]) << 16
            if left > 1 { group |= UInt32(bytes[index + 1]) << 8 }
            if left > 2 { group |= UInt32(bytes[index + 2]) }
            for position in 0...left {
                result.append(alphabet[Int(group >> UInt32(18 - 6 * position)) & 63])
            }
            index += 3
        }
    }
}
