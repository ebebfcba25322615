/// Base64 with the URL-safe alphabet and without padding, as used for binary values of OData and for tokens (OData
/// JSON Format 4.01, 7.1; RFC 4648, 5).
public enum Base64URL {
    private static let alphabet: StaticString = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"

    /// Decodes text in either alphabet, with or without padding. V2 services and many V4 services send the standard
    /// alphabet.
    ///
    /// - Returns: `nil` if the text contains another character or is not the encoding of any bytes.
    public static func decode(_ text: String) -> [UInt8]? {
        var text = text
        return text.withUTF8(decode)
    }

    /// Decodes text in either alphabet, with or without padding, from its bytes.
    public static func decode(_ text: UnsafeBufferPointer<UInt8>) -> [UInt8]? {
        var count = text.count
        while count > 0, text.count - count < 2, text[count - 1] == UInt8(ascii: "=") { count -= 1 }
        guard count % 4 != 1, count == text.count || text.count % 4 == 0 else { return nil }
        var result: [UInt8] = []
        result.reserveCapacity(count * 3 / 4)
        var bits: UInt32 = 0
        var filled: UInt32 = 0
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
                result.append(UInt8(truncatingIfNeeded: bits >> filled))
            }
        }
        // Encoders set unused bits of the last character to zero. Other texts are rejected, because the bits would
        // be lost.
        return bits & (1 << filled - 1) == 0 ? result : nil
    }

    /// Returns the encoding of bytes.
    public static func encode(_ bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        append(bytes, to: &text)
        return String(decoding: text, as: UTF8.self)
    }

    /// Appends the encoding of bytes to other text.
    public static func append(_ bytes: [UInt8], to result: inout [UInt8]) {
        var index = 0
        while index < bytes.count {
            let left = min(3, bytes.count - index)
            var group = UInt32(bytes[index]) << 16
            if left > 1 { group |= UInt32(bytes[index + 1]) << 8 }
            if left > 2 { group |= UInt32(bytes[index + 2]) }
            for position in 0...left {
                result.append(alphabet.utf8Start[Int(group >> UInt32(18 - 6 * position)) & 63])
            }
            index += 3
        }
    }
}
