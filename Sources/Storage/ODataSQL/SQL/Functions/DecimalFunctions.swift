import Foundation
import GRDB
import ODataModel
import ODataQuery

/// Arithmetic of decimals on ``DecimalKey`` bytes.
enum DecimalFunctions {
    static let all: [DatabaseFunction] = [
        binary("add", DecimalArithmetic.add), binary("sub", DecimalArithmetic.subtract),
        binary("mul", DecimalArithmetic.multiply),
        quotient("div", DecimalArithmetic.divide), quotient("mod", DecimalArithmetic.remainder),
        unary("neg", DecimalArithmetic.negate),
        unary("round") { DecimalArithmetic.round($0, .halfAwayFromZero) },
        unary("floor") { DecimalArithmetic.round($0, .down) },
        unary("ceiling") { DecimalArithmetic.round($0, .up) },
        // Casts from decimals round towards zero, as OData requires for casts of numbers.
        StoreFunctions.function("dec_integer", 1) {
            let value = try $0.decimal(0)
            let whole = DecimalArithmetic.round(value, value.isNegative ? .up : .down)
            return whole.flatMap { $0.rescaled(to: 0) }.flatMap { ColumnCodec.int64($0) }
        },
        StoreFunctions.function("dec_double", 1) { try $0.decimal(0).doubleValue },
        StoreFunctions.function("dec_text", 1) { try $0.decimal(0).description },
        StoreFunctions.function("dec_of_text", 1) {
            ODataDecimal(try $0.text(0)).map { Data(DecimalKey.encode($0)) }
        },
        StoreFunctions.function("dec_of_double", 1) {
            let number = try $0.double(0)
            return number.isFinite ? ODataDecimal("\(number)").map { Data(DecimalKey.encode($0)) } : nil
        },
        StoreFunctions.function("dec_of_single", 1) {
            let number = Float(try $0.double(0))
            return number.isFinite ? ODataDecimal("\(number)").map { Data(DecimalKey.encode($0)) } : nil
        },
    ]

    private static func unary(
        _ name: String, _ operation: @escaping @Sendable (ODataDecimal) -> ODataDecimal?
    ) -> DatabaseFunction {
        StoreFunctions.function("dec_\(name)", 1) {
            guard let result = operation(try $0.decimal(0)) else { throw FunctionError.overflow(name) }
            return Data(DecimalKey.encode(result))
        }
    }

    private static func binary(
        _ name: String, _ operation: @escaping @Sendable (ODataDecimal, ODataDecimal) -> ODataDecimal?
    ) -> DatabaseFunction {
        StoreFunctions.function("dec_\(name)", 2) {
            guard let result = operation(try $0.decimal(0), try $0.decimal(1)) else {
                throw FunctionError.overflow(name)
            }
            return Data(DecimalKey.encode(result))
        }
    }

    /// Returns a division function. Division by zero is null instead of an error, because SQLite may evaluate it
    /// for a row that another condition excludes.
    private static func quotient(
        _ name: String, _ operation: @escaping @Sendable (ODataDecimal, ODataDecimal) -> ODataDecimal?
    ) -> DatabaseFunction {
        StoreFunctions.function("dec_\(name)", 2) {
            let divisor = try $0.decimal(1)
            if divisor.magnitude == 0 { return nil }
            guard let result = operation(try $0.decimal(0), divisor) else { throw FunctionError.overflow(name) }
            return Data(DecimalKey.encode(result))
        }
    }
}
