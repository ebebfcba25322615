import ODataModel

/// Arithmetic on instants and durations as numbers of picoseconds (OData URL Conventions 4.01, 5.1.1.2).
///
/// The in-memory evaluator and the SQL functions of the store share the code, so that their results are the same.
public enum DateArithmetic {
    /// The number of picoseconds in a second.
    public static let picosecondsPerSecond: Int64 = 1_000_000_000_000

    /// Returns seconds and picoseconds as one number, which never overflows.
    public static func total(seconds: Int64, picoseconds: Int64) -> Int128 {
        Int128(seconds) * Int128(picosecondsPerSecond) + Int128(picoseconds)
    }

    /// Splits a number of picoseconds into seconds, rounded down, and remaining picoseconds.
    ///
    /// - Throws: ``EvaluationError/overflow(_:)`` if the seconds do not fit 64 bits.
    public static func parts(of total: Int128) throws(EvaluationError) -> (seconds: Int64, picoseconds: Int64) {
        let unit = Int128(picosecondsPerSecond)
        var (seconds, rest) = total.quotientAndRemainder(dividingBy: unit)
        if rest < 0 {
            rest += unit
            seconds -= 1
        }
        guard let whole = Int64(exactly: seconds) else { throw .overflow("date arithmetic") }
        return (whole, Int64(rest))
    }

    /// Returns a number of picoseconds as decimal seconds (`totalseconds`, `fractionalseconds`).
    public static func seconds(of total: Int128) -> ODataDecimal? {
        ODataDecimal(isNegative: total < 0, magnitude: total.magnitude, scale: 12)
    }

    /// Adds the whole days of a duration to a date in days since 1970. The rest of the duration is ignored.
    ///
    /// - Throws: ``EvaluationError/overflow(_:)`` if the days do not fit 64 bits.
    public static func days(_ date: Int64, plus duration: Int128) throws(EvaluationError) -> Int64 {
        let shift = duration / (86_400 * Int128(picosecondsPerSecond))
        guard let result = Int64(exactly: Int128(date) + shift) else { throw .overflow("date arithmetic") }
        return result
    }

    /// Multiplies or divides a duration by a decimal, truncated to picoseconds.
    ///
    /// - Parameter operation: ``DecimalArithmetic/multiply(_:_:)`` or ``DecimalArithmetic/divide(_:_:)``.
    /// - Returns: `nil` if the operation has no result, as in division by zero.
    /// - Throws: ``EvaluationError/overflow(_:)`` if the result exceeds the range of durations.
    public static func scale(
        _ total: Int128, by factor: ODataDecimal, _ operation: (ODataDecimal, ODataDecimal) -> ODataDecimal?
    ) throws(EvaluationError) -> Int128? {
        guard let exact = ODataDecimal(isNegative: total < 0, magnitude: total.magnitude, scale: 0),
            let product = operation(exact, factor)
        else { return nil }
        guard let whole = DecimalArithmetic.round(product, .towardZero)?.rescaled(to: 0),
            whole.magnitude < UInt128(Int128.max)
        else { throw .overflow("duration arithmetic") }
        let magnitude = Int128(whole.magnitude)
        return whole.isNegative ? -magnitude : magnitude
    }
}
