import ODataModel

/// Exact arithmetic on decimals of up to 38 significant digits.
///
/// Sums, differences, products and remainders are exact; one that needs more than 38 digits is `nil`, never
/// rounded. Quotients and averages have one written precision: ``quotientDigits`` significant digits, rounded
/// half to even, where all digits before the point are kept even when they are more.
///
/// The in-memory evaluator and the SQL functions of the store both call these, so that they cannot differ.
public enum DecimalArithmetic {
    /// The significant digits of a quotient.
    public static let quotientDigits = 28
    /// The greatest distance of the point from the last digit; keys order all numbers within it.
    public static let maxScale = 10_000

    /// The exact sum; `nil` beyond 38 digits.
    public static func add(_ left: ODataDecimal, _ right: ODataDecimal) -> ODataDecimal? {
        guard let (a, b, scale) = align(left, right) else { return nil }
        if left.isNegative == right.isNegative {
            let (sum, overflow) = a.addingReportingOverflow(b)
            return overflow ? nil : ODataDecimal(isNegative: left.isNegative, magnitude: sum, scale: scale)
        }
        return a >= b
            ? ODataDecimal(isNegative: left.isNegative, magnitude: a - b, scale: scale)
            : ODataDecimal(isNegative: right.isNegative, magnitude: b - a, scale: scale)
    }

    /// The number with the opposite sign.
    public static func negate(_ value: ODataDecimal) -> ODataDecimal? {
        ODataDecimal(isNegative: !value.isNegative, magnitude: value.magnitude, scale: value.scale)
    }

    /// The exact difference; `nil` beyond 38 digits.
    public static func subtract(_ left: ODataDecimal, _ right: ODataDecimal) -> ODataDecimal? {
        negate(right).flatMap { add(left, $0) }
    }

    /// The exact product; `nil` beyond 38 digits.
    public static func multiply(_ left: ODataDecimal, _ right: ODataDecimal) -> ODataDecimal? {
        let (left, right) = (left.normalized, right.normalized)
        let (product, overflow) = left.magnitude.multipliedReportingOverflow(by: right.magnitude)
        let scale = left.scale + right.scale
        guard !overflow, abs(scale) <= maxScale else { return nil }
        return ODataDecimal(isNegative: left.isNegative != right.isNegative, magnitude: product, scale: scale)
    }

    /// The quotient; `nil` when the divisor is zero or the result is out of range.
    public static func divide(_ left: ODataDecimal, _ right: ODataDecimal) -> ODataDecimal? {
        let divisor = right.magnitude
        guard divisor != 0 else { return nil }
        if left.magnitude == 0 { return ODataDecimal(0) }
        var (quotient, remainder) = left.magnitude.quotientAndRemainder(dividingBy: divisor)
        var scale = left.scale - right.scale
        // A negative scale means digits before the point that are not there yet; they are always produced.
        while remainder != 0, scale < 0 || quotient < power(quotientDigits - 1) {
            let wide = remainder.multipliedFullWidth(by: 10)
            let (digit, rest) = divisor.dividingFullWidth(wide)
            let (shifted, overflow) = quotient.multipliedReportingOverflow(by: 10)
            guard !overflow, shifted < power(38) else { break }
            quotient = shifted + digit
            remainder = rest
            scale += 1
            if scale > maxScale { return nil }
        }
        if remainder != 0 {
            // remainder < divisor < 10^38, so that its double fits.
            let doubled = remainder * 2
            if doubled > divisor || (doubled == divisor && quotient % 2 == 1) { quotient += 1 }
        }
        return ODataDecimal(isNegative: left.isNegative != right.isNegative, magnitude: quotient, scale: scale)?
            .normalized
    }

    /// The remainder of the division that rounds towards zero; it has the dividend's sign.
    public static func remainder(_ left: ODataDecimal, _ right: ODataDecimal) -> ODataDecimal? {
        guard let (a, b, scale) = align(left, right), b != 0 else { return nil }
        return ODataDecimal(isNegative: left.isNegative, magnitude: a % b, scale: scale)
    }

    /// How a number is made whole.
    public enum Rounding: Hashable, Sendable {
        /// To the next lesser whole number.
        case down
        /// To the next greater whole number.
        case up
        /// To the nearest whole number; a half away from zero.
        case halfAwayFromZero
        /// Whatever stands after the point is cut off.
        case towardZero
    }

    /// The number made whole; `nil` when it needs more than 38 digits.
    public static func round(_ value: ODataDecimal, _ rounding: Rounding) -> ODataDecimal? {
        guard value.scale > 0 else { return value }
        guard value.scale <= 38 else {
            // Every digit stands behind the point, and not in first place.
            let isUp = value.magnitude != 0 && (rounding == .up && !value.isNegative)
            let isDown = value.magnitude != 0 && (rounding == .down && value.isNegative)
            return ODataDecimal(isUp ? 1 : isDown ? -1 : 0)
        }
        let unit = power(value.scale)
        var (whole, rest) = value.magnitude.quotientAndRemainder(dividingBy: unit)
        let grows =
            switch rounding {
            case .down: value.isNegative && rest != 0
            case .up: !value.isNegative && rest != 0
            case .halfAwayFromZero: rest >= unit - rest
            case .towardZero: false
            }
        if grows { whole += 1 }
        return ODataDecimal(isNegative: value.isNegative, magnitude: whole, scale: 0)
    }

    /// Both magnitudes at one scale; `nil` when a digit would not fit.
    private static func align(_ left: ODataDecimal, _ right: ODataDecimal) -> (UInt128, UInt128, Int)? {
        let (left, right) = (left.normalized, right.normalized)
        let scale = max(left.scale, right.scale)
        guard let a = left.rescaled(to: scale), let b = right.rescaled(to: scale) else { return nil }
        return (a.magnitude, b.magnitude, scale)
    }

    private static let powers: [UInt128] = {
        var powers: [UInt128] = [1]
        for _ in 0..<38 { powers.append(powers[powers.count - 1] * 10) }
        return powers
    }()

    private static func power(_ exponent: Int) -> UInt128 { powers[min(max(exponent, 0), 38)] }
}
