import ODataModel
import ODataQuery

/// An expression of a query whose type is known to the compiler.
public protocol TypedExpression: Sendable {
    /// The type of its value.
    associatedtype Value: ODataValueConvertible & Sendable
    /// The untyped expression.
    var query: QueryExpression { get }
}

/// The result of a function or operator on typed expressions.
public struct ValueExpression<Value: ODataValueConvertible & Sendable>: TypedExpression {
    /// The untyped expression.
    public let query: QueryExpression

    /// Creates a typed expression from an untyped one.
    public init(_ query: QueryExpression) { self.query = query }
}

extension QueryExpression {
    /// Returns a literal for a Swift value. Enumeration values are written with the names of their members.
    public static func literal(_ value: (some ODataValueConvertible)?) -> QueryExpression {
        guard let value else { return .value(.null) }
        if let value = value as? any TypedEnumeration { return .enumeration(value) }
        // A decimal without a fraction is written as an integer, which is promoted (OData URL Conventions 4.01,
        // 5.1.1.1).
        if let decimal = value as? ODataDecimal, decimal.scale == 0, let whole = Int64(decimal.description) {
            return .value(.integer(whole))
        }
        return .value(value.odataValue)
    }

    private static func enumeration<Value: TypedEnumeration>(_ value: Value) -> QueryExpression {
        .enumeration(Value.typeName.description, value.memberNames)
    }
}

// MARK: Comparisons in closures: { $0.freight > 50 && $0.shipCity == "Bern" }

extension TypedExpression {
    /// Compares with `eq`; `nil` is null.
    public static func == (left: Self, right: Value?) -> QueryExpression { left.query == .literal(right) }
    /// Compares with `ne`; `nil` is null.
    public static func != (left: Self, right: Value?) -> QueryExpression { left.query != .literal(right) }
    /// Compares with `lt`.
    public static func < (left: Self, right: Value) -> QueryExpression { left.query < .literal(right) }
    /// Compares with `le`.
    public static func <= (left: Self, right: Value) -> QueryExpression { left.query <= .literal(right) }
    /// Compares with `gt`.
    public static func > (left: Self, right: Value) -> QueryExpression { left.query > .literal(right) }
    /// Compares with `ge`.
    public static func >= (left: Self, right: Value) -> QueryExpression { left.query >= .literal(right) }

    /// Compares two expressions of the same type with `eq`.
    public static func == <Other: TypedExpression>(left: Self, right: Other) -> QueryExpression
    where Other.Value == Value { left.query == right.query }
    /// Compares two expressions of the same type with `ne`.
    public static func != <Other: TypedExpression>(left: Self, right: Other) -> QueryExpression
    where Other.Value == Value { left.query != right.query }
    /// Compares two expressions of the same type with `lt`.
    public static func < <Other: TypedExpression>(left: Self, right: Other) -> QueryExpression
    where Other.Value == Value { left.query < right.query }
    /// Compares two expressions of the same type with `le`.
    public static func <= <Other: TypedExpression>(left: Self, right: Other) -> QueryExpression
    where Other.Value == Value { left.query <= right.query }
    /// Compares two expressions of the same type with `gt`.
    public static func > <Other: TypedExpression>(left: Self, right: Other) -> QueryExpression
    where Other.Value == Value { left.query > right.query }
    /// Compares two expressions of the same type with `ge`.
    public static func >= <Other: TypedExpression>(left: Self, right: Other) -> QueryExpression
    where Other.Value == Value { left.query >= right.query }

    /// Returns whether the value is one of a list (`in`).
    public func isIn(_ values: [Value]) -> QueryExpression { query.isIn(values.map { .literal($0) }) }
}

extension TypedExpression where Value: TypedFlags {
    /// Returns whether all given flags are set (`has`).
    public func has(_ flags: Value) -> QueryExpression { query.has(.literal(flags)) }
}

// MARK: Functions

extension TypedExpression where Value == String {
    /// Calls the function `contains`.
    public func contains(_ other: String) -> QueryExpression { query.contains(.value(.string(other))) }
    /// Calls the function `startswith`.
    public func startsWith(_ prefix: String) -> QueryExpression { query.startsWith(.value(.string(prefix))) }
    /// Calls the function `endswith`.
    public func endsWith(_ suffix: String) -> QueryExpression { query.endsWith(.value(.string(suffix))) }
    /// Calls the function `matchesPattern` with a regular expression of ECMAScript.
    public func matches(pattern: String) -> QueryExpression { query.matches(pattern: .value(.string(pattern))) }
    /// The number of characters, by the function `length`.
    public var length: ValueExpression<Int32> { ValueExpression(query.length) }
    /// The result of the function `tolower`.
    public var lowercased: ValueExpression<String> { ValueExpression(query.lowercased) }
    /// The result of the function `toupper`.
    public var uppercased: ValueExpression<String> { ValueExpression(query.uppercased) }
    /// The result of the function `trim`.
    public var trimmed: ValueExpression<String> { ValueExpression(query.trimmed) }
}

/// A value with a date, to which `year`, `month` and `day` apply.
public protocol CalendarValue: ODataValueConvertible, Sendable {}
extension ODataDate: CalendarValue {}
extension ODataDateTime: CalendarValue {}
extension ODataDateTimeOffset: CalendarValue {}

/// A value with a time, to which `hour`, `minute` and `second` apply.
public protocol ClockValue: ODataValueConvertible, Sendable {}
extension ODataTimeOfDay: ClockValue {}
extension ODataDateTime: ClockValue {}
extension ODataDateTimeOffset: ClockValue {}

extension TypedExpression where Value: CalendarValue {
    /// The result of the function `year`.
    public var year: ValueExpression<Int32> { ValueExpression(query.year) }
    /// The result of the function `month`.
    public var month: ValueExpression<Int32> { ValueExpression(query.month) }
    /// The result of the function `day`.
    public var day: ValueExpression<Int32> { ValueExpression(query.day) }
}

extension TypedExpression where Value: ClockValue {
    /// The result of the function `hour`.
    public var hour: ValueExpression<Int32> { ValueExpression(query.hour) }
    /// The result of the function `minute`.
    public var minute: ValueExpression<Int32> { ValueExpression(query.minute) }
    /// The result of the function `second`.
    public var second: ValueExpression<Int32> { ValueExpression(query.second) }
}

/// A value to which arithmetic operators apply.
public protocol ArithmeticValue: ODataValueConvertible, Sendable {}
extension ODataDecimal: ArithmeticValue {}
extension Double: ArithmeticValue {}
extension Float: ArithmeticValue {}
extension Int64: ArithmeticValue {}
extension Int32: ArithmeticValue {}
extension Int16: ArithmeticValue {}
extension Int8: ArithmeticValue {}
extension UInt8: ArithmeticValue {}

extension TypedExpression where Value: ArithmeticValue {
    /// The result of the function `round`.
    public var rounded: ValueExpression<Value> { ValueExpression(query.rounded) }
    /// The result of the function `floor`.
    public var floor: ValueExpression<Value> { ValueExpression(query.floor) }
    /// The result of the function `ceiling`.
    public var ceiling: ValueExpression<Value> { ValueExpression(query.ceiling) }

    /// Adds a value with `add`.
    public static func + (left: Self, right: Value) -> ValueExpression<Value> {
        ValueExpression(left.query + .literal(right))
    }
    /// Subtracts a value with `sub`.
    public static func - (left: Self, right: Value) -> ValueExpression<Value> {
        ValueExpression(left.query - .literal(right))
    }
    /// Multiplies by a value with `mul`.
    public static func * (left: Self, right: Value) -> ValueExpression<Value> {
        ValueExpression(left.query * .literal(right))
    }
    /// Adds two expressions of the same type with `add`.
    public static func + <Other: TypedExpression>(left: Self, right: Other) -> ValueExpression<Value>
    where Other.Value == Value { ValueExpression(left.query + right.query) }
    /// Subtracts two expressions of the same type with `sub`.
    public static func - <Other: TypedExpression>(left: Self, right: Other) -> ValueExpression<Value>
    where Other.Value == Value { ValueExpression(left.query - right.query) }
    /// Multiplies two expressions of the same type with `mul`.
    public static func * <Other: TypedExpression>(left: Self, right: Other) -> ValueExpression<Value>
    where Other.Value == Value { ValueExpression(left.query * right.query) }
}
