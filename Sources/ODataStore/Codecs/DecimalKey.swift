import ODataModel

/// The order-preserving bytes of a decimal number: memcmp of two keys is the order of the two numbers.
///
/// Equal numbers have equal keys, so trailing zeros are not kept (1.50 comes back as 1.5). The layout:
///
/// | bytes | content |
/// | --- | --- |
/// | 1 | sign: `7F` negative, `80` zero (the whole key), `81` positive |
/// | 2 | decimal exponent of the leading digit, biased by 32,768, big-endian |
/// | n | pairs of digits from the left, each plus one (1 to 100); an odd last digit is followed by a zero |
/// | 1 | `00`, which makes a shorter run of digits less than a longer one |
///
/// Everything after the sign is complemented for negative numbers, which turns their order round.
public enum DecimalKey {
    static let negative: UInt8 = 0x7F
    static let zero: UInt8 = 0x80
    static let positive: UInt8 = 0x81

    /// The key of a number.
    public static func encode(_ value: ODataDecimal) -> [UInt8] {
        guard value.magnitude != 0 else { return [zero] }
        // Nearly all numbers fit into a word, whose digits are found several times as fast.
        var digits = Array((UInt64(exactly: value.magnitude).map { String($0) } ?? String(value.magnitude)).utf8)
        let exponent = digits.count - value.scale
        while digits.last == UInt8(ascii: "0") { digits.removeLast() }
        let biased = UInt16(clamping: exponent + 32_768)
        var key: [UInt8] = [value.isNegative ? negative : positive, UInt8(biased >> 8), UInt8(biased & 255)]
        key.reserveCapacity(4 + (digits.count + 1) / 2)
        var index = 0
        while index < digits.count {
            let low = index + 1 < digits.count ? digits[index + 1] - 48 : 0
            key.append((digits[index] - 48) * 10 + low + 1)
            index += 2
        }
        key.append(0)
        if value.isNegative { for index in 1..<key.count { key[index] = ~key[index] } }
        return key
    }

    /// The number of a key.
    ///
    /// - Returns: `nil` when the bytes are no key.
    public static func decode(_ key: some Collection<UInt8>) -> ODataDecimal? {
        guard let sign = key.first else { return nil }
        if sign == zero { return key.count == 1 ? ODataDecimal(0) : nil }
        guard sign == negative || sign == positive, key.count >= 5, key.count <= 24 else { return nil }
        let mask: UInt8 = sign == negative ? 0xFF : 0
        var exponent = 0
        var magnitude: UInt128 = 0
        var count = 0
        for (index, byte) in key.enumerated() where index > 0 {
            let byte = byte ^ mask
            switch index {
            case 1, 2: exponent = exponent << 8 | Int(byte)
            case key.count - 1: guard byte == 0 else { return nil }
            default:
                guard (1...100).contains(byte) else { return nil }
                // 38 digits are 19 pairs, and UInt128 holds 10^38 - 1.
                guard count < 38 else { return nil }
                magnitude = magnitude * 100 + UInt128(byte - 1)
                count += 2
            }
        }
        var scale = count - (exponent - 32_768)
        while magnitude != 0, magnitude % 10 == 0, scale > 0 {
            magnitude /= 10
            scale -= 1
        }
        let value = ODataDecimal(isNegative: sign == negative, magnitude: magnitude, scale: scale)
        return scale < 0 ? value?.rescaled(to: 0) ?? value : value
    }
}
