import ODataModel

/// The order-preserving bytes of a decimal number: `memcmp` orders keys in the same way as their numbers.
///
/// Equal numbers have equal keys, so that trailing zeros are lost: 1.50 is read back as 1.5. The layout:
///
/// | bytes | content |
/// | --- | --- |
/// | 1 | sign: `7F` negative, `80` zero (the whole key), `81` positive |
/// | 2 | decimal exponent of the leading digit, biased by 32,768, big-endian |
/// | n | pairs of digits from the left, each plus one (1 to 100); an odd last digit is followed by a zero |
/// | 1 | `00`, so that a shorter sequence of digits sorts before a longer one |
///
/// For negative numbers, all bytes after the sign are complemented, which reverses their order.
public enum DecimalKey {
    static let negative: UInt8 = 0x7F
    static let zero: UInt8 = 0x80
    static let positive: UInt8 = 0x81

    /// The maximum length of a key in bytes, for a magnitude of 39 digits.
    static let maxLength = 24

    /// Returns the key of a number.
    public static func encode(_ value: ODataDecimal) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: maxLength) { memory, count in
            count = write(value, into: UnsafeMutableRawBufferPointer(memory))
        }
    }

    /// Writes the key of a number.
    ///
    /// - Parameter memory: a buffer of at least ``maxLength`` bytes.
    /// - Returns: The length of the key.
    static func write(_ value: ODataDecimal, into memory: UnsafeMutableRawBufferPointer) -> Int {
        guard value.magnitude != 0 else {
            memory[0] = zero
            return 1
        }
        // Nearly all numbers fit into 64 bits, which makes the computation of their digits several times as fast.
        let count =
            UInt64(exactly: value.magnitude).map { write($0, scale: value.scale, into: memory) }
            ?? write(value.magnitude, scale: value.scale, into: memory)
        memory[0] = value.isNegative ? negative : positive
        if value.isNegative { for index in 1..<count { memory[index] = ~memory[index] } }
        return count
    }

    /// Writes all bytes after the sign, as for a positive number.
    private static func write<Magnitude: FixedWidthInteger & UnsignedInteger>(
        _ magnitude: Magnitude, scale: Int, into memory: UnsafeMutableRawBufferPointer
    ) -> Int {
        var rest = magnitude
        var zeros = 0
        while rest % 10 == 0 {
            rest /= 10
            zeros += 1
        }
        var digits = 1
        var leading = rest
        while leading >= 10 {
            leading /= 10
            digits += 1
        }
        let exponent = UInt16(clamping: digits + zeros - scale + 32_768)
        memory[1] = UInt8(exponent >> 8)
        memory[2] = UInt8(exponent & 255)
        // The digits are written from the right.
        let end = 3 + (digits + 1) / 2
        memory[end] = 0
        var index = end - 1
        if digits % 2 == 1 {
            memory[index] = UInt8(rest % 10) * 10 + 1
            rest /= 10
            index -= 1
        }
        while index >= 3 {
            memory[index] = UInt8(rest % 100) + 1
            rest /= 100
            index -= 1
        }
        return end + 1
    }

    /// Returns the number of a key; `nil` if the bytes are not a key.
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
