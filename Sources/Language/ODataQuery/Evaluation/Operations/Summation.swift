import ODataModel

/// A sum of numbers or durations that is exact for exact types.
///
/// A sum of doubles does not depend on their order, except in the last place (Neumaier's algorithm).
struct Summation {
    private var integers: Int128 = 0
    private var decimals = ODataDecimal(0)
    private var durations: Int128 = 0
    private var doubles = 0.0
    private var carry = 0.0
    private var count: Int64 = 0
    private var kind = Kind.none

    private enum Kind: Int { case none, integer, decimal, double, duration }

    mutating func add(_ value: ODataValue) throws(EvaluationError) {
        switch value {
        case .null: return
        case .integer(let number):
            // 2^63 values of 64 bits fit 127 bits.
            integers += Int128(number)
            widen(.integer)
        case .decimal(let number):
            guard let sum = DecimalArithmetic.add(decimals, number) else { throw .overflow("sum") }
            decimals = sum
            widen(.decimal)
        case .duration:
            let (sum, overflow) = durations.addingReportingOverflow(value.picoseconds ?? 0)
            if overflow { throw .overflow("sum") }
            durations = sum
            widen(.duration)
        default:
            guard let number = value.double else { throw .type("A value to add up", expected: "a number") }
            add(number)
            widen(.double)
        }
        count += 1
    }

    private mutating func widen(_ kind: Kind) { if kind.rawValue > self.kind.rawValue { self.kind = kind } }

    private mutating func add(_ value: Double) {
        let next = doubles + value
        if next.isFinite {
            carry += doubles.magnitude >= value.magnitude ? (doubles - next) + value : (value - next) + doubles
        }
        doubles = next
    }

    private func exact() throws(EvaluationError) -> ODataDecimal {
        guard let whole = ODataDecimal(isNegative: integers < 0, magnitude: integers.magnitude, scale: 0),
            let sum = DecimalArithmetic.add(whole, decimals)
        else { throw .overflow("sum") }
        return sum
    }

    private func approximate() throws(EvaluationError) -> Double {
        let inexact = doubles.isFinite ? doubles + carry : doubles
        return inexact + (try exact()).doubleValue
    }

    /// The sum; `nil` if no value was added.
    var total: ODataValue? {
        get throws(EvaluationError) {
            switch kind {
            case .none: return nil
            case .integer:
                guard let sum = Int64(exactly: integers) else { throw .overflow("sum") }
                return .integer(sum)
            case .decimal: return .decimal(try exact())
            case .double: return .double(try approximate())
            case .duration: return try duration(durations)
            }
        }
    }

    /// The mean, with the precision of quotients for integers and decimals; `nil` if no value was added.
    var mean: ODataValue? {
        get throws(EvaluationError) {
            switch kind {
            case .none: return nil
            case .integer, .decimal:
                guard let mean = DecimalArithmetic.divide(try exact(), ODataDecimal(count)) else {
                    throw .overflow("average")
                }
                return .decimal(mean)
            case .double: return .double(try approximate() / Double(count))
            case .duration:
                let mean = try DateArithmetic.scale(durations, by: ODataDecimal(count), DecimalArithmetic.divide)
                return try duration(mean ?? 0)
            }
        }
    }

    private func duration(_ total: Int128) throws(EvaluationError) -> ODataValue {
        let (seconds, picoseconds) = try DateArithmetic.parts(of: total)
        return .duration(ODataDuration(seconds: seconds, picoseconds: picoseconds))
    }
}
