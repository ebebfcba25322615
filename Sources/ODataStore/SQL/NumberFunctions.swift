import Foundation
import GRDB
import ODataModel
import ODataQuery

/// Arithmetic on integers and floating-point numbers where SQLite's own differs from OData's: SQLite turns
/// integers that overflow into REAL, and NaN into NULL.
enum NumberFunctions {
    static let all: [DatabaseFunction] = [
        integer("add") { $0.addingReportingOverflow($1) },
        integer("sub") { $0.subtractingReportingOverflow($1) },
        integer("mul") { $0.multipliedReportingOverflow(by: $1) },
        integer("div") { $1 == 0 ? nil : $0.dividedReportingOverflow(by: $1) },
        integer("mod") { $1 == 0 ? nil : ($1 == -1 ? 0 : $0 % $1, false) },
        StoreFunctions.function("int_neg", 1) {
            let (result, overflow) = (0 as Int64).subtractingReportingOverflow(try $0.integer(0))
            if overflow { throw FunctionError.overflow("negation") }
            return result
        },
        real("add") { $0 + $1 }, real("sub") { $0 - $1 }, real("mul") { $0 * $1 }, real("div") { $0 / $1 },
        real("mod") { fmod($0, $1) },
        unary("neg") { -$0 }, unary("floor") { $0.rounded(.down) }, unary("ceiling") { $0.rounded(.up) },
        unary("round") { $0.rounded(.toNearestOrAwayFromZero) },
        unary("single") { Double(Float($0)) },
        StoreFunctions.function("real_integer", 1) { Int64(exactly: try $0.double(0).rounded(.towardZero)) },
        StoreFunctions.function("real_text", 1) {
            let number = try $0.double(0)
            return number.isNaN ? "NaN" : number.isFinite ? "\(number)" : number < 0 ? "-INF" : "INF"
        },
        StoreFunctions.function("real_of_text", 1) {
            let text = try $0.text(0)
            let number: Double? =
                switch text {
                case "INF": .infinity
                case "-INF": -.infinity
                case "NaN": .nan
                default: Double(text)
                }
            return number.map(ColumnCodec.real)
        },
        DatabaseFunction("outpost_real_sum", argumentCount: 1, pure: true, aggregate: RealSum.self),
        DatabaseFunction("outpost_real_avg", argumentCount: 1, pure: true, aggregate: RealAverage.self),
        DatabaseFunction("outpost_int_sum", argumentCount: 1, pure: true, aggregate: IntegerSum.self),
        DatabaseFunction("outpost_scaled_sum", argumentCount: 2, pure: true, aggregate: ScaledSum.self),
        DatabaseFunction("outpost_scaled_avg", argumentCount: 2, pure: true, aggregate: ScaledAverage.self),
    ]

    /// Division by zero gives `nil`, which is null: see ``DecimalFunctions``.
    private static func integer(
        _ name: String, _ operation: @escaping @Sendable (Int64, Int64) -> (partialValue: Int64, overflow: Bool)?
    ) -> DatabaseFunction {
        StoreFunctions.function("int_\(name)", 2) {
            guard let (result, overflow) = operation(try $0.integer(0), try $0.integer(1)) else { return nil }
            if overflow { throw FunctionError.overflow(name) }
            return result
        }
    }

    private static func real(
        _ name: String, _ operation: @escaping @Sendable (Double, Double) -> Double
    ) -> DatabaseFunction {
        StoreFunctions.function("real_\(name)", 2) {
            ColumnCodec.real(operation(try $0.double(0), try $0.double(1)))
        }
    }

    private static func unary(
        _ name: String, _ operation: @escaping @Sendable (Double) -> Double
    ) -> DatabaseFunction {
        StoreFunctions.function("real_\(name)", 1) { ColumnCodec.real(operation(try $0.double(0))) }
    }

    /// A sum of binary64 numbers with the error of each addition carried along (Neumaier), so that the order of
    /// rows makes no difference beyond the last place (rule 25).
    struct RealSum: DatabaseAggregate {
        private var sum = 0.0
        private var carry = 0.0
        private(set) var count: Int64 = 0

        mutating func step(_ values: [DatabaseValue]) throws {
            guard !values[0].isNull else { return }
            let value = try values.double(0)
            let next = sum + value
            if next.isFinite {
                carry += sum.magnitude >= value.magnitude ? (sum - next) + value : (value - next) + sum
            }
            sum = next
            count += 1
        }

        var total: Double { sum.isFinite ? sum + carry : sum }

        func finalize() -> (any DatabaseValueConvertible)? { count == 0 ? nil : ColumnCodec.real(total) }
    }

    /// The mean of binary64 numbers.
    struct RealAverage: DatabaseAggregate {
        private var sum = RealSum()
        mutating func step(_ values: [DatabaseValue]) throws { try sum.step(values) }
        func finalize() -> (any DatabaseValueConvertible)? {
            sum.count == 0 ? nil : ColumnCodec.real(sum.total / Double(sum.count))
        }
    }

    /// The sum of integers as an integer; an error where it needs more than 64 bits.
    struct IntegerSum: DatabaseAggregate {
        private var total: Int128 = 0
        private var count = 0

        mutating func step(_ values: [DatabaseValue]) throws {
            guard !values[0].isNull else { return }
            total += Int128(try values.integer(0))
            count += 1
        }

        func finalize() throws -> (any DatabaseValueConvertible)? {
            if count == 0 { return nil }
            guard let result = Int64(exactly: total) else {
                throw DatabaseError(resultCode: .SQLITE_ERROR, message: FunctionError.overflow("sum").message)
            }
            return result
        }
    }

    /// The sum of scaled integers, as a decimal key; the second argument is the scale.
    struct ScaledSum: DatabaseAggregate {
        // 2^63 rows of the greatest value still fit 127 bits.
        private var total: Int128 = 0
        private var scale = 0
        private(set) var count: Int64 = 0

        mutating func step(_ values: [DatabaseValue]) throws {
            guard !values[0].isNull else { return }
            total += Int128(try values.integer(0))
            scale = Int(try values.integer(1))
            count += 1
        }

        var decimal: ODataDecimal? {
            ODataDecimal(isNegative: total < 0, magnitude: total.magnitude, scale: scale)
        }

        func finalize() throws -> (any DatabaseValueConvertible)? {
            if count == 0 { return nil }
            guard let decimal else {
                throw DatabaseError(resultCode: .SQLITE_ERROR, message: FunctionError.overflow("sum").message)
            }
            return Data(DecimalKey.encode(decimal))
        }
    }

    /// The mean of scaled integers with the precision of quotients, as a decimal key.
    struct ScaledAverage: DatabaseAggregate {
        private var sum = ScaledSum()
        mutating func step(_ values: [DatabaseValue]) throws { try sum.step(values) }
        func finalize() -> (any DatabaseValueConvertible)? {
            guard sum.count > 0, let total = sum.decimal else { return nil }
            return DecimalArithmetic.divide(total, ODataDecimal(sum.count)).map { Data(DecimalKey.encode($0)) }
        }
    }
}
