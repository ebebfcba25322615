/// An exact decimal number of up to 38 significant digits (`Edm.Decimal`).
///
/// The value is `significand × 10^-scale`. Numbers are compared and hashed by value: 1.0 equals 1.00, although each
/// keeps its written digits. No operation rounds silently; results that do not fit are `nil`.
///
/// `INF`, `-INF` and `NaN`, which are allowed with `Scale="floating"` (OData CSDL 4.01, 7.2.4), are not decimal
/// numbers. A property of type `Edm.Decimal` represents them as ``ODataValue/double(_:)``, which can be compared
/// with decimals.
///
/// ```swift
/// let freight = ODataDecimal("32.38")
/// print(freight?.scale ?? 0, freight?.doubleValue ?? 0)  // 2 32.38
/// order["Freight"] = .decimal(ODataDecimal(40))
/// ```
public struct ODataDecimal: Sendable {
    /// The maximum number of significant digits.
    public static let maxDigits = 38
    /// The maximum number of digits to the right of the decimal point, and of trailing zeros to its left.
    public static let maxScale = 10_000

    // A `UInt128` would require an alignment of 16 bytes. With two halves, a number takes 20 bytes and fits into a
    // value without boxing.
    private let high: UInt64
    private let low: UInt64
    /// The doubled scale, plus one for negative numbers.
    private let scaleAndSign: Int32

    /// Whether the number is below zero; false for zero.
    public var isNegative: Bool { scaleAndSign & 1 != 0 }
    /// The digits as a number without sign and decimal point, below 10^38.
    public var magnitude: UInt128 { UInt128(high) << 64 | UInt128(low) }
    /// The number of digits to the right of the decimal point, at most ``maxScale``; negative for trailing zeros to
    /// its left.
    public var scale: Int { Int(scaleAndSign >> 1) }

    /// Creates a decimal from its parts.
    ///
    /// - Returns: `nil` if the magnitude has more than 38 digits, or the scale is beyond ±``maxScale``.
    public init?(isNegative: Bool, magnitude: UInt128, scale: Int) {
        guard magnitude < Self.limit, (-Self.maxScale...Self.maxScale).contains(scale) else { return nil }
        self.init(unchecked: isNegative && magnitude != 0, magnitude, scale)
    }

    /// Creates a decimal from an integer.
    public init(_ value: Int64) { self.init(unchecked: value < 0, UInt128(value.magnitude), 0) }

    static let limit: UInt128 = powersOfTen[38]

    /// The powers 10^0 to 10^38.
    static let powersOfTen: [UInt128] = {
        var powers: [UInt128] = [1]
        for _ in 0..<38 { powers.append(powers[powers.count - 1] * 10) }
        return powers
    }()

    /// The number without trailing zeros to the right of the decimal point.
    public var normalized: ODataDecimal {
        var magnitude = magnitude
        var scale = scale
        if magnitude == 0 { return ODataDecimal(0) }
        while scale > 0 {
            let (quotient, remainder) = magnitude.quotientAndRemainder(dividingBy: 10)
            if remainder != 0 { break }
            magnitude = quotient
            scale -= 1
        }
        return ODataDecimal(unchecked: isNegative, magnitude, scale)
    }

    init(unchecked isNegative: Bool, _ magnitude: UInt128, _ scale: Int) {
        high = UInt64(truncatingIfNeeded: magnitude >> 64)
        low = UInt64(truncatingIfNeeded: magnitude)
        scaleAndSign = Int32(truncatingIfNeeded: scale) << 1 | (isNegative ? 1 : 0)
    }

    /// Returns the number with exactly `scale` digits after the decimal point.
    ///
    /// - Returns: `nil` if digits would be lost or more than 38 digits would be needed.
    public func rescaled(to scale: Int) -> ODataDecimal? {
        if scale == self.scale { return self }
        guard (-Self.maxScale...Self.maxScale).contains(scale) else { return nil }
        if magnitude == 0 { return ODataDecimal(isNegative: false, magnitude: 0, scale: scale) }
        if scale > self.scale {
            let shift = scale - self.scale
            guard shift <= 38 else { return nil }
            let (product, overflow) = magnitude.multipliedReportingOverflow(by: Self.powersOfTen[shift])
            return overflow ? nil : ODataDecimal(isNegative: isNegative, magnitude: product, scale: scale)
        }
        let shift = self.scale - scale
        guard shift <= 38 else { return nil }
        let (quotient, remainder) = magnitude.quotientAndRemainder(dividingBy: Self.powersOfTen[shift])
        return remainder == 0 ? ODataDecimal(isNegative: isNegative, magnitude: quotient, scale: scale) : nil
    }

    /// The number of digits without leading zeros; one for zero.
    public var digitCount: Int { max(1, Self.digitCount(magnitude)) }

    /// The number of trailing zeros among the digits.
    var trailingZeroCount: Int {
        guard magnitude != 0 else { return 0 }
        var count = 0
        var rest = magnitude
        while rest % 10 == 0 {
            rest /= 10
            count += 1
        }
        return count
    }

    /// The nearest binary64 number.
    public var doubleValue: Double { Double(description) ?? .nan }
}

extension ODataDecimal: LosslessStringConvertible {
    /// Parses the lexical form of `Edm.Decimal`: digits with an optional sign, decimal point and exponent.
    public init?(_ text: String) {
        self.init(lexical: text.utf8)
    }

    /// Parses the lexical form from ASCII bytes.
    ///
    /// - Returns: `nil` if the text is not a decimal number or has more than 38 significant digits.
    public init?(lexical bytes: some Sequence<UInt8>) {
        var negative = false
        var magnitude: UInt128 = 0
        var scale = 0
        var pendingZeros = 0
        var digits = 0
        var seenPoint = false
        var exponent: Int?
        var exponentNegative = false
        var exponentDigits = 0
        var first = true
        for byte in bytes {
            defer { first = false }
            if let value = exponent {
                switch byte {
                case UInt8(ascii: "+") where exponentDigits == 0 && !exponentNegative && value == 0: exponentDigits = -1
                case UInt8(ascii: "-") where exponentDigits == 0: (exponentNegative, exponentDigits) = (true, -1)
                case UInt8(ascii: "0")...UInt8(ascii: "9"):
                    exponentDigits = max(exponentDigits, 0) + 1
                    guard value < 10_000 else { return nil }
                    exponent = value * 10 + Int(byte - 48)
                default: return nil
                }
                continue
            }
            switch byte {
            case UInt8(ascii: "-") where first: negative = true
            case UInt8(ascii: "+") where first: break
            case UInt8(ascii: ".") where !seenPoint && digits > 0: seenPoint = true
            case UInt8(ascii: "0")...UInt8(ascii: "9"):
                digits += 1
                if seenPoint { scale += 1 }
                if byte == 48 {
                    pendingZeros += 1
                    continue
                }
                // Zeros are added only before a following digit, so that long runs of trailing zeros do not
                // overflow.
                if magnitude == 0 { pendingZeros = 0 }
                guard pendingZeros < 38 else { return nil }
                let (shifted, overflow) = magnitude.multipliedReportingOverflow(by: Self.powersOfTen[pendingZeros + 1])
                guard !overflow else { return nil }
                magnitude = shifted + UInt128(byte - 48)
                guard magnitude < Self.limit else { return nil }
                pendingZeros = 0
            case UInt8(ascii: "e"), UInt8(ascii: "E"):
                guard digits > 0 else { return nil }
                exponent = 0
            default: return nil
            }
        }
        guard digits > 0, exponent == nil || exponentDigits > 0 else { return nil }
        if magnitude == 0 {
            scale = min(scale, 38)
        } else {
            // Trailing zeros are kept if they fit, because 1.50 may be written intentionally.
            let kept = min(pendingZeros, 38)
            let (shifted, overflow) = magnitude.multipliedReportingOverflow(by: Self.powersOfTen[kept])
            if !overflow, shifted < Self.limit, kept == pendingZeros {
                magnitude = shifted
            } else {
                scale -= pendingZeros
            }
        }
        if let exponent { scale -= exponentNegative ? -exponent : exponent }
        guard abs(scale) <= Self.maxScale else { return nil }
        if scale < 0, let whole = ODataDecimal(unchecked: negative, magnitude, scale).rescaled(to: 0) {
            self = whole
        } else {
            self.init(unchecked: negative && magnitude != 0, magnitude, scale)
        }
    }

    /// The number in plain notation, or with an exponent if plain notation would need more than 80 digits.
    public var description: String { LexicalWriter.text { write(to: &$0) } }

    func write(to text: inout LexicalWriter) {
        if isNegative { text.character("-") }
        let first = text.length
        if scale < 0, magnitude == 0 { return text.character("0") }
        text.number(magnitude)
        if scale == 0 { return }
        if scale > 80 || scale <= -40 {
            text.character("E")
            if scale > 0 { text.character("-") }
            return text.number(UInt64(scale.magnitude))
        }
        if scale < 0 { return text.insert(48, at: text.length, repeated: -scale) }
        let digits = text.length - first
        if digits <= scale { text.insert(48, at: first, repeated: scale - digits + 1) }
        text.insert(UInt8(ascii: "."), at: text.length - scale)
    }
}

extension ODataDecimal: Hashable, Comparable {
    /// Returns whether the numbers are equal, regardless of trailing zeros.
    public static func == (left: ODataDecimal, right: ODataDecimal) -> Bool {
        compare(left, right) == 0
    }

    /// Returns whether the left number is less.
    public static func < (left: ODataDecimal, right: ODataDecimal) -> Bool {
        compare(left, right) < 0
    }

    /// Hashes the value, regardless of trailing zeros.
    public func hash(into hasher: inout Hasher) {
        var stripped = magnitude
        var exponent = -scale
        while stripped != 0, stripped % 10 == 0 {
            stripped /= 10
            exponent += 1
        }
        hasher.combine(isNegative)
        hasher.combine(stripped)
        hasher.combine(stripped == 0 ? 0 : exponent)
    }

    private static func compare(_ left: ODataDecimal, _ right: ODataDecimal) -> Int {
        if left.isNegative != right.isNegative { return left.isNegative ? -1 : 1 }
        let order = compareMagnitudes(left, right)
        return left.isNegative ? -order : order
    }

    private static func compareMagnitudes(_ left: ODataDecimal, _ right: ODataDecimal) -> Int {
        if left.magnitude == 0 || right.magnitude == 0 {
            return left.magnitude == right.magnitude ? 0 : left.magnitude == 0 ? -1 : 1
        }
        let leftTop = digitCount(left.magnitude) - left.scale
        let rightTop = digitCount(right.magnitude) - right.scale
        if leftTop != rightTop { return leftTop < rightTop ? -1 : 1 }
        // Both numbers have the same leading position, so that aligning the shorter one never exceeds 38 digits.
        var (a, b) = (left.magnitude, right.magnitude)
        if left.scale < right.scale { a *= powersOfTen[right.scale - left.scale] }
        if right.scale < left.scale { b *= powersOfTen[left.scale - right.scale] }
        return a == b ? 0 : a < b ? -1 : 1
    }

    fileprivate static func digitCount(_ value: UInt128) -> Int {
        powersOfTen.firstIndex { value < $0 } ?? 39
    }
}
