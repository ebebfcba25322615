import ODataModel

/// Exact arithmetic on decimals of up to 38 significant digits.
///
/// Sums, differences, products and remainders are exact; a result with more than 38 digits is `nil` and never
/// rounded. Quotients and averages have ``quotientDigits`` significant digits, rounded half to even. All digits
/// before the point are kept, even if there are more.
///
/// The in-memory evaluator and the SQL functions of the store share the code, so that their results are the same.
public enum DecimalArithmetic {
    /// The number of significant digits of a quotient.
    public static let quotientDigits = 28
    /// The maximum distance of the decimal point from the last digit, which sortable keys can represent.
    public static let maxScale = 10_000

    /// Returns the exact sum; `nil` beyond 38 digits.
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

    /// Returns the number with the opposite sign.
    public static func negate(_ value: ODataDecimal) -> ODataDecimal? {
        ODataDecimal(isNegative: !value.isNegative, magnitude: value.magnitude, scale: value.scale)
    }

    /// Returns the exact difference; `nil` beyond 38 digits.
    public static func subtract(_ left: ODataDecimal, _ right: ODataDecimal) -> ODataDecimal? {
        negate(right).flatMap { add(left, $0) }
    }

    /// Returns the exact product; `nil` beyond 38 digits.
    public static func multiply(_ left: ODataDecimal, _ right: ODataDecimal) -> ODataDecimal? {
        let (left, right) = (left.normalized, right.normalized)
        let (product, overflow) = left.magnitude.multipliedReportingOverflow(by: right.magnitude)
        let scale = left.scale + right.scale
        guard !overflow, abs(scale) <= maxScale else { return nil }
        return ODataDecimal(isNegative: left.isNegative != right.isNegative, magnitude: product, scale: scale)
    }

    /// Returns the quotient; `nil` if the divisor is zero or the result is out of range.
    public static func divide(_ left: ODataDecimal, _ right: ODataDecimal) -> ODataDecimal? {
        let divisor = right.magnitude
        guard divisor != 0 else { return nil }
        if left.magnitude == 0 { return ODataDecimal(0) }
        var (quotient, remainder) = left.magnitude.quotientAndRemainder(dividingBy: divisor)
        var scale = left.scale - right.scale
        // A negative scale means that digits before the point are still missing; they are always computed.
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
            // remainder < divisor < 10^38, so twice the remainder fits.
            let doubled = remainder * 2
            if doubled > divisor || (doubled == divisor && quotient % 2 == 1) { quotient += 1 }
        }
        return ODataDecimal(isNegative: left.isNegative != right.isNegative, magnitude: quotient, scale: scale)?
            .normalized
    }

    /// Returns the remainder of a division that truncates; it has the sign of the dividend.
    public static func remainder(_ left: ODataDecimal, _ right: ODataDecimal) -> ODataDecimal? {
        guard let (a, b, scale) = align(left, right), b != 0 else { return nil }
        return ODataDecimal(isNegative: left.isNegative, magnitude: a % b, scale: scale)
    }

    /// A rule for rounding to an integer.
    public enum Rounding: Hashable, Sendable {
        /// Towards negative infinity.
        case down
        /// Towards positive infinity.
        case up
        /// To the nearest integer; halves away from zero.
        case halfAwayFromZero
        /// Towards zero.
        case towardZero
    }

    /// Rounds a number to an integer; `nil` if the result has more than 38 digits.
    public static func round(_ value: ODataDecimal, _ rounding: Rounding) -> ODataDecimal? {
        guard value.scale > 0 else { return value }
        guard value.scale <= 38 else {
            // All digits are after the first decimal place, so the number is closer to zero than a half.
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

    /// Returns both magnitudes at one scale; `nil` if the digits do not fit.
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
