import ODataModel

/// Arithmetic on values of all numeric and temporal types (OData URL Conventions 4.01, 5.1.1.2).
///
/// The result is null if an operand is null, or if an integer, decimal or duration is divided by zero.
public enum NumberOperations {
    /// Returns the value of `left operator right`.
    ///
    /// - Parameter symbol: an arithmetic operator.
    /// - Throws: ``EvaluationError`` if the result does not fit its type, or the operator is not defined for the
    ///   operands.
    public static func arithmetic(
        _ symbol: BinaryOperator, left: ODataValue, right: ODataValue
    ) throws(EvaluationError) -> ODataValue {
        if left.isNull || right.isNull { return .null }
        switch (left, right) {
        case (.integer(let a), .integer(let b)):
            return symbol == .divideBy
                ? try decimal(symbol, left: ODataDecimal(a), right: ODataDecimal(b))
                : try integer(symbol, left: a, right: b)
        case (.duration, .integer), (.duration, .decimal), (.duration, .double), (.duration, .single),
            (.integer, .duration), (.decimal, .duration), (.double, .duration), (.single, .duration):
            return try scaled(symbol, left: left, right: right)
        case (.double, _), (_, .double), (.single, _), (_, .single):
            guard let a = left.double, let b = right.double else { break }
            let result = floating(symbol, left: a, right: b)
            // An operation on two binary32 numbers gives a binary32 result.
            if case (.single, .single) = (left, right) { return .single(Float(result)) }
            return .double(result)
        case (.decimal, _), (_, .decimal):
            guard let a = left.decimal, let b = right.decimal else { break }
            return try decimal(symbol, left: a, right: b)
        default: return try temporal(symbol, left: left, right: right)
        }
        throw .type("An operand of \(symbol.rawValue)", expected: "a number, a date or a duration")
    }

    /// Returns the number or duration with the opposite sign.
    ///
    /// - Throws: ``EvaluationError`` if the result does not fit the type.
    public static func negate(_ value: ODataValue) throws(EvaluationError) -> ODataValue {
        switch value {
        case .null: return .null
        case .integer(let number):
            let (result, overflow) = (0 as Int64).subtractingReportingOverflow(number)
            if overflow { throw .overflow("negation") }
            return .integer(result)
        case .decimal(let number):
            guard let result = DecimalArithmetic.negate(number) else { throw .overflow("negation") }
            return .decimal(result)
        case .double(let number): return .double(-number)
        case .single(let number): return .single(-number)
        case .duration: return try duration(-(value.picoseconds ?? 0))
        default: throw .type("The operand of a negation", expected: "a number or a duration")
        }
    }

    // MARK: Numbers

    private static func integer(
        _ symbol: BinaryOperator, left: Int64, right: Int64
    ) throws(EvaluationError) -> ODataValue {
        let result: (partialValue: Int64, overflow: Bool)
        switch symbol {
        case .add: result = left.addingReportingOverflow(right)
        case .subtract: result = left.subtractingReportingOverflow(right)
        case .multiply: result = left.multipliedReportingOverflow(by: right)
        default:
            if right == 0 { return .null }
            result =
                symbol == .modulo ? (right == -1 ? 0 : left % right, false) : left.dividedReportingOverflow(by: right)
        }
        if result.overflow { throw .overflow(symbol.rawValue) }
        return .integer(result.partialValue)
    }

    private static func decimal(
        _ symbol: BinaryOperator, left: ODataDecimal, right: ODataDecimal
    ) throws(EvaluationError) -> ODataValue {
        let result: ODataDecimal?
        switch symbol {
        case .add: result = DecimalArithmetic.add(left, right)
        case .subtract: result = DecimalArithmetic.subtract(left, right)
        case .multiply: result = DecimalArithmetic.multiply(left, right)
        default:
            if right.magnitude == 0 { return .null }
            result =
                symbol == .modulo ? DecimalArithmetic.remainder(left, right) : DecimalArithmetic.divide(left, right)
        }
        guard let result else { throw .overflow(symbol.rawValue) }
        return .decimal(result)
    }

    private static func floating(_ symbol: BinaryOperator, left: Double, right: Double) -> Double {
        switch symbol {
        case .add: left + right
        case .subtract: left - right
        case .multiply: left * right
        case .modulo: left.truncatingRemainder(dividingBy: right)
        default: left / right
        }
    }

    /// Returns the integral part of a decimal; `nil` if it exceeds 64 bits.
    static func whole(_ number: ODataDecimal) -> Int64? {
        guard let whole = DecimalArithmetic.round(number, .towardZero)?.rescaled(to: 0),
            whole.magnitude <= UInt128(Int64.max) + 1
        else { return nil }
        return Int64(exactly: whole.isNegative ? -Int128(whole.magnitude) : Int128(whole.magnitude))
    }

    // MARK: Dates and durations

    private static func duration(_ total: Int128) throws(EvaluationError) -> ODataValue {
        let (seconds, picoseconds) = try DateArithmetic.parts(of: total)
        return .duration(ODataDuration(seconds: seconds, picoseconds: picoseconds))
    }

    private static func temporal(
        _ symbol: BinaryOperator, left: ODataValue, right: ODataValue
    ) throws(EvaluationError) -> ODataValue {
        let sign: Int128 = symbol == .subtract ? -1 : 1
        switch (left, right, symbol) {
        case (.duration, .date, .add), (.duration, .dateTime, .add), (.duration, .dateTimeOffset, .add):
            return try temporal(symbol, left: right, right: left)
        case (.dateTimeOffset(let instant), .duration(let shift), .add),
            (.dateTimeOffset(let instant), .duration(let shift), .subtract):
            let (seconds, rest) = try DateArithmetic.parts(of: total(instant) + sign * total(shift))
            return .dateTimeOffset(
                ODataDateTimeOffset(seconds: seconds, picoseconds: rest, offsetMinutes: instant.offsetMinutes))
        case (.dateTime(let instant), .duration(let shift), .add),
            (.dateTime(let instant), .duration(let shift), .subtract):
            let (seconds, rest) = try DateArithmetic.parts(of: total(instant) + sign * total(shift))
            return .dateTime(ODataDateTime(seconds: seconds, picoseconds: rest))
        case (.date(let date), .duration(let shift), .add), (.date(let date), .duration(let shift), .subtract):
            let days = try DateArithmetic.days(date.daysSinceEpoch, plus: sign * total(shift))
            guard days.magnitude < 365_250_000 else { throw .overflow("date arithmetic") }
            return .date(ODataDate(daysSinceEpoch: days))
        case (.duration(let a), .duration(let b), .add), (.duration(let a), .duration(let b), .subtract):
            return try duration(total(a) + sign * total(b))
        case (.dateTimeOffset(let a), .dateTimeOffset(let b), .subtract): return try duration(total(a) - total(b))
        case (.dateTime(let a), .dateTime(let b), .subtract): return try duration(total(a) - total(b))
        case (.timeOfDay(let a), .timeOfDay(let b), .subtract):
            return try duration(Int128(a.picoseconds) - Int128(b.picoseconds))
        case (.date(let a), .date(let b), .subtract):
            let days = Int128(a.daysSinceEpoch) - Int128(b.daysSinceEpoch)
            return try duration(days * 86_400 * Int128(DateArithmetic.picosecondsPerSecond))
        default: throw .type("An operand of \(symbol.rawValue)", expected: "a number, a date or a duration")
        }
    }

    private static func total(_ value: ODataDuration) -> Int128 {
        DateArithmetic.total(seconds: value.seconds, picoseconds: value.picoseconds)
    }

    private static func total(_ value: ODataDateTime) -> Int128 {
        DateArithmetic.total(seconds: value.seconds, picoseconds: value.picoseconds)
    }

    private static func total(_ value: ODataDateTimeOffset) -> Int128 {
        DateArithmetic.total(seconds: value.seconds, picoseconds: value.picoseconds)
    }

    /// Multiplies or divides a duration by a number.
    private static func scaled(
        _ symbol: BinaryOperator, left: ODataValue, right: ODataValue
    ) throws(EvaluationError) -> ODataValue {
        guard let total = left.picoseconds else {
            guard symbol == .multiply else {
                throw .type("The left operand of \(symbol.rawValue)", expected: "a duration")
            }
            return try scaled(symbol, left: right, right: left)
        }
        guard let factor = right.decimal, symbol == .multiply || symbol == .divide || symbol == .divideBy else {
            throw .type("The right operand of \(symbol.rawValue)", expected: "a finite number")
        }
        let operation = symbol == .multiply ? DecimalArithmetic.multiply : DecimalArithmetic.divide
        return try DateArithmetic.scale(total, by: factor, operation).map { total throws(EvaluationError) in
            try duration(total)
        } ?? .null
    }
}
