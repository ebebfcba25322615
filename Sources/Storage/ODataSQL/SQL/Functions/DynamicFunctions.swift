import GRDB
import ODataModel
import ODataQuery

/// Conversions of JSON values without a declared type to the types that expressions require.
///
/// The first argument is the result of `json_type`, the last one is the required type. A value of another type is
/// NULL.
enum DynamicFunctions {
    static let all: [DatabaseFunction] = [
        function("dynamic_value") { value(of: $0, as: $1) },
        function("dynamic_cast") { cast($0, to: $1) },
    ]

    private static func function(
        _ name: String, _ body: @escaping @Sendable (ODataValue, PrimitiveType) -> ODataValue?
    ) -> DatabaseFunction {
        StoreFunctions.function(name, 3) { arguments in
            guard let type = PrimitiveType(rawValue: try arguments.text(2)),
                let found = decoded(arguments[1], try arguments.text(0)), let result = body(found, type)
            else { return nil }
            return try? Operand.canonicalCodec(.primitive(type)).encode(result)
        }
    }

    /// Returns the value in its JSON type; `nil` for objects and arrays.
    private static func decoded(_ stored: DatabaseValue, _ kind: String) -> ODataValue? {
        switch (kind, stored.storage) {
        case ("true", _): .boolean(true)
        case ("false", _): .boolean(false)
        case ("integer", .int64(let number)): .integer(number)
        case ("real", .double(let number)): .double(number)
        case ("text", .string(let text)): .string(text)
        default: nil
        }
    }

    /// Returns a value in a type without a cast. Decimals and dates are texts in JSON.
    private static func value(of found: ODataValue, as type: PrimitiveType) -> ODataValue? {
        switch (found, type) {
        case (.integer, .decimal): found
        case (.integer(let number), .double): .double(Double(number))
        case (.double(let number), .decimal):
            number.isFinite ? ODataDecimal("\(number)").map { .decimal($0) } : nil
        case (.double, .double): found
        case (.string(let text), .decimal): ODataDecimal(text).map { .decimal($0) }
        case (.string(let text), .dateTimeOffset): StoreFunctions.instant(text).map { .dateTimeOffset($0) }
        case (.string(let text), .dateTime): StoreFunctions.local(text).map { .dateTime($0) }
        case (.string(let text), _): try? ODataValue(lexical: text, type: type)
        default: nil
        }
    }

    private static func cast(_ found: ODataValue, to type: PrimitiveType) -> ODataValue? {
        guard case .string(let text) = found, type.isInteger, let number = ODataDecimal(text) else {
            return ValueCast.cast(found, to: type)
        }
        return ValueCast.cast(.decimal(number), to: type)
    }
}
