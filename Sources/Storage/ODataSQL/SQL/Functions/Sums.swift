import Foundation
import GRDB
import GRDBSQLite
import ODataModel
import ODataQuery

/// Sums and averages of OData as aggregate and window functions. They are exact for exact numbers, return the
/// stored form of the codecs, and are null without values.
enum Sums {
    static let all: [(name: String, argumentCount: Int32, make: @Sendable () -> Accumulator)] = [
        ("outpost_int_sum", 1, { IntegerSum() }), ("outpost_scaled_sum", 2, { ScaledSum() }),
        ("outpost_scaled_avg", 2, { ScaledAverage() }), ("outpost_dec_sum", 1, { DecimalSum() }),
        ("outpost_dec_avg", 1, { DecimalAverage() }), ("outpost_number_sum", 2, { NumberSum() }),
        ("outpost_number_avg", 2, { NumberAverage() }), ("outpost_real_sum", 1, { RealSum() }),
        ("outpost_real_avg", 1, { RealAverage() }), ("outpost_duration_sum", 1, { DurationSum() }),
        ("outpost_duration_avg", 1, { DurationAverage() }), ("outpost_only", 2, { OnlyRow() }),
    ]

    static func decimal(_ value: ODataDecimal) -> DatabaseValue { Data(DecimalKey.encode(value)).databaseValue }

    /// Returns the average for a sum; null if there are no values.
    static func mean(_ total: ODataDecimal?, _ count: Int64) -> DatabaseValue {
        guard count > 0, let total, let mean = DecimalArithmetic.divide(total, ODataDecimal(count)) else {
            return .null
        }
        return decimal(mean)
    }
}

/// The sum of integers as an integer; an error if it exceeds 64 bits.
final class IntegerSum: Accumulator {
    // A sum of 2^63 rows with the greatest value still fits into 127 bits.
    private var total: Int128 = 0
    private var count: Int64 = 0

    override func add(_ arguments: Arguments) {
        total &+= Int128(arguments.integer(0))
        count &+= 1
    }

    override func remove(_ arguments: Arguments) {
        total &-= Int128(arguments.integer(0))
        count &-= 1
    }

    override func result() throws -> DatabaseValue {
        if count == 0 { return .null }
        guard let sum = Int64(exactly: total) else { throw FunctionError.overflow("sum") }
        return sum.databaseValue
    }
}

/// The sum of scaled integers as a decimal key; the second argument is the scale.
class ScaledSum: Accumulator {
    private var total: Int128 = 0
    private var scale: Int64 = 0
    fileprivate var count: Int64 = 0

    override func add(_ arguments: Arguments) {
        total &+= Int128(arguments.integer(0))
        scale = arguments.integer(1)
        count &+= 1
    }

    override func remove(_ arguments: Arguments) {
        total &-= Int128(arguments.integer(0))
        count &-= 1
    }

    fileprivate func sum() throws -> ODataDecimal {
        guard let sum = ODataDecimal(isNegative: total < 0, magnitude: total.magnitude, scale: Int(scale)) else {
            throw FunctionError.overflow("sum")
        }
        return sum
    }

    override func result() throws -> DatabaseValue { count == 0 ? .null : Sums.decimal(try sum()) }
}

/// The average of scaled integers as a decimal key, with the precision of quotients.
final class ScaledAverage: ScaledSum {
    override func result() throws -> DatabaseValue { count == 0 ? .null : Sums.mean(try sum(), count) }
}

/// The exact sum of decimal keys.
class DecimalSum: Accumulator {
    fileprivate var total = ODataDecimal(0)
    fileprivate var count: Int64 = 0

    override func add(_ arguments: Arguments) throws {
        try add(try Self.number(arguments))
        count += 1
    }

    override func remove(_ arguments: Arguments) throws {
        guard let opposite = DecimalArithmetic.negate(try Self.number(arguments)) else {
            throw FunctionError.overflow("sum")
        }
        try add(opposite)
        count -= 1
    }

    fileprivate func add(_ number: ODataDecimal) throws {
        guard let sum = DecimalArithmetic.add(total, number) else { throw FunctionError.overflow("sum") }
        total = sum
    }

    private static func number(_ arguments: Arguments) throws -> ODataDecimal {
        guard arguments.kind(0) == SQLITE_BLOB, let number = arguments.withBlob(0, { DecimalKey.decode($0) }) else {
            throw FunctionError.argument("a decimal")
        }
        return number
    }

    override func result() throws -> DatabaseValue { count == 0 ? .null : Sums.decimal(total) }
}

/// The average of decimal keys, with the precision of quotients.
final class DecimalAverage: DecimalSum {
    override func result() throws -> DatabaseValue { Sums.mean(total, count) }
}

/// The exact sum of a numeric column in an existing database, whose values are integers, binary numbers or numeric
/// text. The second argument is the column for error messages.
class NumberSum: Accumulator {
    /// The sum of the numbers with at most four decimal places, which are the most common, times ten thousand.
    private var small: Int128 = 0
    /// The sum of all other numbers.
    private var rest = ODataDecimal(0)
    fileprivate var count: Int64 = 0

    override func add(_ arguments: Arguments) throws {
        try take(arguments, sign: 1)
        count &+= 1
    }

    override func remove(_ arguments: Arguments) throws {
        try take(arguments, sign: -1)
        count &-= 1
    }

    private func take(_ arguments: Arguments, sign: Int128) throws {
        switch arguments.kind(0) {
        case SQLITE_INTEGER: small &+= sign &* 10_000 &* Int128(arguments.integer(0))
        case SQLITE_FLOAT:
            let number = arguments.double(0)
            // A decimal of at most fifteen digits that rounds to the number is its shortest text.
            let scaled = (number * 10_000).rounded()
            if scaled.magnitude < 1e15, scaled / 10_000 == number {
                small &+= sign &* Int128(scaled)
            } else {
                try other(arguments, sign)
            }
        default: try other(arguments, sign)
        }
    }

    private func other(_ arguments: Arguments, _ sign: Int128) throws {
        let stored = arguments.value(0)
        let value: ODataValue
        do {
            value = try ColumnCodec.numericDecimal.decode(stored, as: .primitive(.decimal), in: nil)
        } catch {
            throw FunctionError.stored(error.at(column: String.fromDatabaseValue(arguments.value(1)) ?? ""))
        }
        guard case .decimal(let number) = value, let signed = sign < 0 ? DecimalArithmetic.negate(number) : number,
            let sum = DecimalArithmetic.add(rest, signed)
        else { throw FunctionError.overflow("sum") }
        rest = sum
    }

    fileprivate func sum() throws -> ODataDecimal {
        guard let part = ODataDecimal(isNegative: small < 0, magnitude: small.magnitude, scale: 4),
            let sum = DecimalArithmetic.add(part, rest)
        else { throw FunctionError.overflow("sum") }
        return sum
    }

    override func result() throws -> DatabaseValue { count == 0 ? .null : Sums.decimal(try sum()) }
}

/// The average of a numeric column in an existing database.
final class NumberAverage: NumberSum {
    override func result() throws -> DatabaseValue { count == 0 ? .null : Sums.mean(try sum(), count) }
}

/// The sum of binary64 numbers. It compensates for the error of each addition (Neumaier), so that the order of rows
/// affects only the last digits.
class RealSum: Accumulator {
    private var sum = 0.0
    private var carry = 0.0
    fileprivate var count: Int64 = 0

    override func add(_ arguments: Arguments) {
        take(Self.number(arguments))
        count &+= 1
    }

    override func remove(_ arguments: Arguments) {
        take(-Self.number(arguments))
        count &-= 1
    }

    private func take(_ value: Double) {
        let next = sum + value
        if next.isFinite {
            carry += sum.magnitude >= value.magnitude ? (sum - next) + value : (value - next) + sum
        }
        sum = next
    }

    /// Returns the number in the first argument. NaN is stored as a BLOB.
    private static func number(_ arguments: Arguments) -> Double {
        arguments.kind(0) == SQLITE_BLOB ? .nan : arguments.double(0)
    }

    fileprivate var total: Double { sum.isFinite ? sum + carry : sum }

    override func result() -> DatabaseValue { count == 0 ? .null : ColumnCodec.real(total) }
}

/// The average of binary64 numbers.
final class RealAverage: RealSum {
    override func result() -> DatabaseValue { count == 0 ? .null : ColumnCodec.real(total / Double(count)) }
}

/// The sum of durations.
class DurationSum: Accumulator {
    fileprivate var sum: Int128 = 0
    fileprivate var count: Int64 = 0

    override func add(_ arguments: Arguments) throws {
        try take(try Self.total(arguments))
        count += 1
    }

    override func remove(_ arguments: Arguments) throws {
        try take(-(try Self.total(arguments)))
        count -= 1
    }

    private func take(_ value: Int128) throws {
        let (total, overflow) = sum.addingReportingOverflow(value)
        if overflow { throw FunctionError.overflow("sum") }
        sum = total
    }

    private static func total(_ arguments: Arguments) throws -> Int128 {
        guard arguments.kind(0) == SQLITE_BLOB, let key = arguments.withBlob(0, { InstantKey.decode($0) }) else {
            throw FunctionError.argument("a duration")
        }
        return DateArithmetic.total(seconds: key.seconds, picoseconds: key.picoseconds)
    }

    fileprivate static func key(_ total: Int128) throws -> DatabaseValue {
        let (seconds, picoseconds) = try DateArithmetic.parts(of: total)
        return Data(InstantKey.encode(seconds: seconds, picoseconds: picoseconds)).databaseValue
    }

    override func result() throws -> DatabaseValue { count == 0 ? .null : try Self.key(sum) }
}

/// The average of durations, truncated to picoseconds.
final class DurationAverage: DurationSum {
    override func result() throws -> DatabaseValue { count == 0 ? .null : try Self.key(sum / Int128(count)) }
}
