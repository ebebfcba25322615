import ODataModel
import ODataQuery

/// A part of a query whose type the compiler knows.
public protocol TypedExpression: Sendable {
    /// The type of its value.
    associatedtype Value: ODataValueConvertible & Sendable
    /// The part of the query.
    var query: QueryExpression { get }
}

/// What a function or operator makes of typed parts.
public struct ValueExpression<Value: ODataValueConvertible & Sendable>: TypedExpression {
    /// The part of the query.
    public let query: QueryExpression

    /// Says of which type a part is.
    public init(_ query: QueryExpression) { self.query = query }
}

extension QueryExpression {
    /// A value of a Swift type as a literal; enumeration values by the names of their members.
    public static func literal(_ value: (some ODataValueConvertible)?) -> QueryExpression {
        guard let value else { return .value(.null) }
        if let value = value as? any TypedEnumeration { return .enumeration(value) }
        // A whole decimal is written as a whole number, which is promoted (OData URL Conventions 4.01, 5.1.1.1).
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
    /// `eq`; `nil` is null.
    public static func == (left: Self, right: Value?) -> QueryExpression { left.query == .literal(right) }
    /// `ne`; `nil` is null.
    public static func != (left: Self, right: Value?) -> QueryExpression { left.query != .literal(right) }
    /// `lt`.
    public static func < (left: Self, right: Value) -> QueryExpression { left.query < .literal(right) }
    /// `le`.
    public static func <= (left: Self, right: Value) -> QueryExpression { left.query <= .literal(right) }
    /// `gt`.
    public static func > (left: Self, right: Value) -> QueryExpression { left.query > .literal(right) }
    /// `ge`.
    public static func >= (left: Self, right: Value) -> QueryExpression { left.query >= .literal(right) }

    /// `eq` with another part of the same type.
    public static func == <Other: TypedExpression>(left: Self, right: Other) -> QueryExpression
    where Other.Value == Value { left.query == right.query }
    /// `ne` with another part of the same type.
    public static func != <Other: TypedExpression>(left: Self, right: Other) -> QueryExpression
    where Other.Value == Value { left.query != right.query }
    /// `lt` with another part of the same type.
    public static func < <Other: TypedExpression>(left: Self, right: Other) -> QueryExpression
    where Other.Value == Value { left.query < right.query }
    /// `le` with another part of the same type.
    public static func <= <Other: TypedExpression>(left: Self, right: Other) -> QueryExpression
    where Other.Value == Value { left.query <= right.query }
    /// `gt` with another part of the same type.
    public static func > <Other: TypedExpression>(left: Self, right: Other) -> QueryExpression
    where Other.Value == Value { left.query > right.query }
    /// `ge` with another part of the same type.
    public static func >= <Other: TypedExpression>(left: Self, right: Other) -> QueryExpression
    where Other.Value == Value { left.query >= right.query }

    /// `in` with a list.
    public func isIn(_ values: [Value]) -> QueryExpression { query.isIn(values.map { .literal($0) }) }
}

extension TypedExpression where Value: TypedFlags {
    /// `has`: whether all these flags are set.
    public func has(_ flags: Value) -> QueryExpression { query.has(.literal(flags)) }
}

// MARK: Functions

extension TypedExpression where Value == String {
    /// `contains`.
    public func contains(_ other: String) -> QueryExpression { query.contains(.value(.string(other))) }
    /// `startswith`.
    public func startsWith(_ prefix: String) -> QueryExpression { query.startsWith(.value(.string(prefix))) }
    /// `endswith`.
    public func endsWith(_ suffix: String) -> QueryExpression { query.endsWith(.value(.string(suffix))) }
    /// `matchesPattern`: a regular expression of ECMAScript.
    public func matches(pattern: String) -> QueryExpression { query.matches(pattern: .value(.string(pattern))) }
    /// `length`: the number of characters.
    public var length: ValueExpression<Int32> { ValueExpression(query.length) }
    /// `tolower`.
    public var lowercased: ValueExpression<String> { ValueExpression(query.lowercased) }
    /// `toupper`.
    public var uppercased: ValueExpression<String> { ValueExpression(query.uppercased) }
    /// `trim`.
    public var trimmed: ValueExpression<String> { ValueExpression(query.trimmed) }
}

/// Values that have a date: `year`, `month` and `day` take them.
public protocol CalendarValue: ODataValueConvertible, Sendable {}
extension ODataDate: CalendarValue {}
extension ODataDateTime: CalendarValue {}
extension ODataDateTimeOffset: CalendarValue {}

/// Values that have a time: `hour`, `minute` and `second` take them.
public protocol ClockValue: ODataValueConvertible, Sendable {}
extension ODataTimeOfDay: ClockValue {}
extension ODataDateTime: ClockValue {}
extension ODataDateTimeOffset: ClockValue {}

extension TypedExpression where Value: CalendarValue {
    /// `year`.
    public var year: ValueExpression<Int32> { ValueExpression(query.year) }
    /// `month`.
    public var month: ValueExpression<Int32> { ValueExpression(query.month) }
    /// `day`.
    public var day: ValueExpression<Int32> { ValueExpression(query.day) }
}

extension TypedExpression where Value: ClockValue {
    /// `hour`.
    public var hour: ValueExpression<Int32> { ValueExpression(query.hour) }
    /// `minute`.
    public var minute: ValueExpression<Int32> { ValueExpression(query.minute) }
    /// `second`.
    public var second: ValueExpression<Int32> { ValueExpression(query.second) }
}

/// Values that take part in arithmetic.
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
    /// `round`.
    public var rounded: ValueExpression<Value> { ValueExpression(query.rounded) }
    /// `floor`.
    public var floor: ValueExpression<Value> { ValueExpression(query.floor) }
    /// `ceiling`.
    public var ceiling: ValueExpression<Value> { ValueExpression(query.ceiling) }

    /// `add`.
    public static func + (left: Self, right: Value) -> ValueExpression<Value> {
        ValueExpression(left.query + .literal(right))
    }
    /// `sub`.
    public static func - (left: Self, right: Value) -> ValueExpression<Value> {
        ValueExpression(left.query - .literal(right))
    }
    /// `mul`.
    public static func * (left: Self, right: Value) -> ValueExpression<Value> {
        ValueExpression(left.query * .literal(right))
    }
    /// `add` of another part of the same type.
    public static func + <Other: TypedExpression>(left: Self, right: Other) -> ValueExpression<Value>
    where Other.Value == Value { ValueExpression(left.query + right.query) }
    /// `sub` of another part of the same type.
    public static func - <Other: TypedExpression>(left: Self, right: Other) -> ValueExpression<Value>
    where Other.Value == Value { ValueExpression(left.query - right.query) }
    /// `mul` by another part of the same type.
    public static func * <Other: TypedExpression>(left: Self, right: Other) -> ValueExpression<Value>
    where Other.Value == Value { ValueExpression(left.query * right.query) }
}
