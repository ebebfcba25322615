import Foundation
import GRDB
import ODataModel
import ODataQuery

/// Arithmetic on integers and floating-point numbers in cases in which SQLite differs from OData. SQLite converts
/// integers that overflow to REAL, and NaN to NULL.
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
        StoreFunctions.function("real_text", 1) { ODataValue.double(try $0.double(0)).lexicalText },
        // A binary32 number has a shorter text than the same number in binary64.
        StoreFunctions.function("single_text", 1) { ODataValue.single(Float(try $0.double(0))).lexicalText },
        // The JSON form with all digits; infinities and NaN are strings.
        StoreFunctions.function("real_json", 1) { json(.double(try $0.double(0))) },
        StoreFunctions.function("single_json", 1) { json(.single(Float(try $0.double(0)))) },
    ]

    private static func json(_ value: ODataValue) -> String? {
        switch value {
        case .double(let number) where !number.isFinite: value.lexicalText.map { "\"\($0)\"" }
        case .single(let number) where !number.isFinite: value.lexicalText.map { "\"\($0)\"" }
        default: value.lexicalText
        }
    }

    /// Returns an integer function. Division by zero is null, as in ``DecimalFunctions``.
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
}
