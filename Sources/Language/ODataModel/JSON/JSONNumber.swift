/// A number in a JSON text, parsed once and converted to the type that the model requires.
public struct JSONNumber {
    /// The original digits, valid as long as the scanner's buffer.
    let text: UnsafeBufferPointer<UInt8>
    /// All digits as one integer; meaningless unless ``isExact``.
    let significand: UInt64
    /// The power of ten by which ``significand`` is multiplied.
    let exponent: Int32
    let isNegative: Bool
    /// Whether the digits fit into ``significand``.
    let isExact: Bool
    /// Whether the number has neither a fraction nor an exponent.
    public let isWhole: Bool
    let hasExponent: Bool

    /// The value as an integer; `nil` if it has a nonzero fraction or is out of range.
    public var int64: Int64? {
        if isWhole, isExact {
            if significand <= UInt64(Int64.max) { return isNegative ? -Int64(significand) : Int64(significand) }
            return isNegative && significand == 1 << 63 ? Int64.min : nil
        }
        guard let whole = decimal?.rescaled(to: 0), whole.magnitude <= UInt128(1) << 63 else { return nil }
        if whole.isNegative { return Int64(truncatingIfNeeded: 0 &- whole.magnitude) }
        return Int64(exactly: whole.magnitude)
    }

    /// The nearest binary64 number; `nil` if it would be infinite.
    public var double: Double? {
        // Both factors are exact within these limits, so that one rounding gives the right result (Clinger's fast
        // path).
        if isExact, significand <= 1 << 53, exponent.magnitude <= 22 {
            let digits = Double(significand)
            let power = Self.powers[Int(abs(exponent))]
            let value = exponent < 0 ? digits / power : digits * power
            return isNegative ? -value : value
        }
        guard let value = Double(String(decoding: text, as: UTF8.self)), value.isFinite else { return nil }
        return value
    }

    /// The nearest binary32 number; `nil` if it would be infinite.
    public var single: Float? {
        if isExact, significand <= 1 << 24, exponent.magnitude <= 10 {
            let digits = Float(significand)
            let power = Float(Self.powers[Int(abs(exponent))])
            let value = exponent < 0 ? digits / power : digits * power
            return isNegative ? -value : value
        }
        guard let value = Float(String(decoding: text, as: UTF8.self)), value.isFinite else { return nil }
        return value
    }

    /// The exact decimal number; `nil` if it has more than 38 digits.
    public var decimal: ODataDecimal? {
        if isExact, !hasExponent {
            return ODataDecimal(unchecked: isNegative && significand != 0, UInt128(significand), -Int(exponent))
        }
        return ODataDecimal(lexical: text)
    }

    private static let powers: [Double] = [
        1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19,
        1e20, 1e21, 1e22,
    ]
}

extension JSONScanner {
    /// Reads a number.
    public mutating func readNumber() throws(JSONError) -> JSONNumber {
        _ = try peekByte("a number")
        let start = offset
        var index = start
        guard let number = Self.number(in: bytes, at: &index) else {
            // The number either continues after the buffer or is malformed.
            if index >= bytes.count { throw end("a digit") }
            offset = index
            throw unexpected(index == start ? "a number" : "a digit")
        }
        // At the end of an incomplete buffer, more digits may follow.
        if index == bytes.count, !isComplete { throw end("the end of the number") }
        offset = index
        needsComma = true
        return number
    }

    /// Reads an integer of at most 64 bits.
    public mutating func readInt64() throws(JSONError) -> Int64 {
        let number = try readNumber()
        if let value = number.int64 { return value }
        throw invalid(number.text, expected: "a whole number of at most 64 bits")
    }

    /// Reads a number as binary64.
    public mutating func readDouble() throws(JSONError) -> Double {
        let number = try readNumber()
        if let value = number.double { return value }
        throw invalid(number.text, expected: "a number in the range of binary64")
    }

    /// Reads a number as an exact decimal.
    public mutating func readDecimal() throws(JSONError) -> ODataDecimal {
        let number = try readNumber()
        if let value = number.decimal { return value }
        throw invalid(number.text, expected: "a decimal of at most \(ODataDecimal.maxDigits) digits")
    }

    private func invalid(_ text: UnsafeBufferPointer<UInt8>, expected: String) -> JSONError {
        error(
            .invalidValue(String(decoding: text.prefix(60), as: UTF8.self)), at: offset - text.count,
            expected: expected)
    }

    /// Parses `-? (0 | [1-9][0-9]*) (.[0-9]+)? ([eE][+-]?[0-9]+)?` and moves `index` behind the number, or to the
    /// first invalid byte.
    @inline(__always)
    static func number(in bytes: UnsafeBufferPointer<UInt8>, at index: inout Int) -> JSONNumber? {
        let count = bytes.count
        let start = index
        var negative = false
        if index < count, bytes[index] == UInt8(ascii: "-") {
            negative = true
            index += 1
        }
        var significand: UInt64 = 0
        let firstDigit = index
        while index < count {
            let digit = bytes[index] &- 48
            guard digit < 10 else { break }
            significand = significand &* 10 &+ UInt64(digit)
            index += 1
        }
        var digits = index - firstDigit
        guard digits > 0 else { return nil }
        if digits > 1, bytes[firstDigit] == 48 {
            index = firstDigit + 1
            return nil
        }
        var exponent = 0
        var isWhole = true
        if index < count, bytes[index] == UInt8(ascii: ".") {
            isWhole = false
            index += 1
            let firstFraction = index
            while index < count {
                let digit = bytes[index] &- 48
                guard digit < 10 else { break }
                significand = significand &* 10 &+ UInt64(digit)
                index += 1
            }
            guard index > firstFraction else { return nil }
            exponent = firstFraction - index
            digits -= exponent
        }
        var hasExponent = false
        if index < count, bytes[index] | 0x20 == UInt8(ascii: "e") {
            hasExponent = true
            isWhole = false
            index += 1
            var sign = 1
            if index < count, bytes[index] == UInt8(ascii: "+") || bytes[index] == UInt8(ascii: "-") {
                sign = bytes[index] == UInt8(ascii: "-") ? -1 : 1
                index += 1
            }
            let firstExponent = index
            var value = 0
            while index < count {
                let digit = bytes[index] &- 48
                guard digit < 10 else { break }
                // The limit is beyond every usable exponent and prevents overflow.
                if value < 100_000_000 { value = value * 10 + Int(digit) }
                index += 1
            }
            guard index > firstExponent else { return nil }
            exponent += sign * value
        }
        return JSONNumber(
            text: UnsafeBufferPointer(rebasing: bytes[start..<index]), significand: significand,
            exponent: Int32(clamping: exponent), isNegative: negative, isExact: digits <= 19, isWhole: isWhole,
            hasExponent: hasExponent)
    }
}
