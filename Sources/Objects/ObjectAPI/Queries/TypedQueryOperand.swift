import ODataModel
import ODataQuery
import ODataService

/// A value of a ``DynamicQuery`` whose type is known to the compiler.
public protocol TypedQueryOperand: QueryOperandConvertible {
    /// The type of the value.
    associatedtype Value: ODataValueConvertible & Sendable
}

/// An attribute of an object under an alias.
public struct AttributeOperand<Value: ODataValueConvertible & Sendable>: TypedQueryOperand {
    /// The attribute by its names.
    public let attribute: QueryAttribute

    init(alias: String, path: String) {
        attribute = QueryAttribute(alias: alias, path: path.split(separator: "/").map(String.init))
    }

    /// The attribute as a value.
    public var queryOperand: QueryOperand { .attribute(attribute) }
}

/// An aggregate, or the value of a query.
public struct ResultOperand<Value: ODataValueConvertible & Sendable>: TypedQueryOperand {
    /// The value.
    public let queryOperand: QueryOperand
}

/// A type with an order, to which `minimum` and `maximum` apply.
public protocol OrderedQueryValue: ODataValueConvertible, Sendable {}
extension String: OrderedQueryValue {}
extension [UInt8]: OrderedQueryValue {}
extension ODataDecimal: OrderedQueryValue {}
extension Double: OrderedQueryValue {}
extension Float: OrderedQueryValue {}
extension Int64: OrderedQueryValue {}
extension Int32: OrderedQueryValue {}
extension Int16: OrderedQueryValue {}
extension Int8: OrderedQueryValue {}
extension UInt8: OrderedQueryValue {}
extension ODataDate: OrderedQueryValue {}
extension ODataTimeOfDay: OrderedQueryValue {}
extension ODataDateTime: OrderedQueryValue {}
extension ODataDateTimeOffset: OrderedQueryValue {}
extension ODataDuration: OrderedQueryValue {}

/// A number that `sum` and `average` take, with the types of their results.
public protocol SummableQueryValue: OrderedQueryValue {
    /// The type of a sum.
    associatedtype Sum: ODataValueConvertible & Sendable
    /// The type of a mean.
    associatedtype Mean: ODataValueConvertible & Sendable
}
extension ODataDecimal: SummableQueryValue {
    /// The sum of decimals.
    public typealias Sum = ODataDecimal
    /// The mean of decimals.
    public typealias Mean = ODataDecimal
}
extension Double: SummableQueryValue {
    /// The sum of doubles.
    public typealias Sum = Double
    /// The mean of doubles.
    public typealias Mean = Double
}
extension Float: SummableQueryValue {
    /// The sum of singles.
    public typealias Sum = Double
    /// The mean of singles.
    public typealias Mean = Double
}
extension Int64: SummableQueryValue {
    /// The sum of integers.
    public typealias Sum = Int64
    /// The mean of integers.
    public typealias Mean = ODataDecimal
}
extension Int32: SummableQueryValue {
    /// The sum of integers.
    public typealias Sum = Int64
    /// The mean of integers.
    public typealias Mean = ODataDecimal
}
extension Int16: SummableQueryValue {
    /// The sum of integers.
    public typealias Sum = Int64
    /// The mean of integers.
    public typealias Mean = ODataDecimal
}
extension Int8: SummableQueryValue {
    /// The sum of integers.
    public typealias Sum = Int64
    /// The mean of integers.
    public typealias Mean = ODataDecimal
}
extension UInt8: SummableQueryValue {
    /// The sum of integers.
    public typealias Sum = Int64
    /// The mean of integers.
    public typealias Mean = ODataDecimal
}

extension AttributeOperand {
    /// The number of values that are not null.
    public var count: ResultOperand<Int64> { ResultOperand(queryOperand: .count(attribute)) }
}

extension AttributeOperand where Value: OrderedQueryValue {
    /// The least value of a group.
    public var minimum: ResultOperand<Value> { ResultOperand(queryOperand: .minimum(attribute)) }
    /// The greatest value of a group.
    public var maximum: ResultOperand<Value> { ResultOperand(queryOperand: .maximum(attribute)) }
}

extension AttributeOperand where Value: SummableQueryValue {
    /// The sum of a group.
    public var sum: ResultOperand<Value.Sum> { ResultOperand(queryOperand: .sum(attribute)) }
    /// The mean of a group.
    public var average: ResultOperand<Value.Mean> { ResultOperand(queryOperand: .average(attribute)) }
}

// MARK: Tests

extension TypedQueryOperand {
    private func test(_ symbol: QueryOperator, _ value: QueryOperand? = nil) -> QueryTest {
        .test(queryOperand, symbol, value)
    }

    /// Returns whether both values are equal; `nil` is null.
    public static func == (left: Self, right: Value?) -> QueryTest { left.test(.equal, .constant(right)) }
    /// Returns whether the values differ; `nil` is null.
    public static func != (left: Self, right: Value?) -> QueryTest { left.test(.notEqual, .constant(right)) }
    /// Returns whether the left value is less.
    public static func < (left: Self, right: Value) -> QueryTest { left.test(.lessThan, .constant(right)) }
    /// Returns whether the left value is less or equal.
    public static func <= (left: Self, right: Value) -> QueryTest { left.test(.lessEqual, .constant(right)) }
    /// Returns whether the left value is greater.
    public static func > (left: Self, right: Value) -> QueryTest { left.test(.greaterThan, .constant(right)) }
    /// Returns whether the left value is greater or equal.
    public static func >= (left: Self, right: Value) -> QueryTest { left.test(.greaterEqual, .constant(right)) }

    /// Returns whether two values of the same type are equal.
    public static func == <Other: TypedQueryOperand>(left: Self, right: Other) -> QueryTest
    where Other.Value == Value { left.test(.equal, right.queryOperand) }
    /// Returns whether two values of the same type differ.
    public static func != <Other: TypedQueryOperand>(left: Self, right: Other) -> QueryTest
    where Other.Value == Value { left.test(.notEqual, right.queryOperand) }
    /// Returns whether the left of two values of the same type is less.
    public static func < <Other: TypedQueryOperand>(left: Self, right: Other) -> QueryTest
    where Other.Value == Value { left.test(.lessThan, right.queryOperand) }
    /// Returns whether the left of two values of the same type is less or equal.
    public static func <= <Other: TypedQueryOperand>(left: Self, right: Other) -> QueryTest
    where Other.Value == Value { left.test(.lessEqual, right.queryOperand) }
    /// Returns whether the left of two values of the same type is greater.
    public static func > <Other: TypedQueryOperand>(left: Self, right: Other) -> QueryTest
    where Other.Value == Value { left.test(.greaterThan, right.queryOperand) }
    /// Returns whether the left of two values of the same type is greater or equal.
    public static func >= <Other: TypedQueryOperand>(left: Self, right: Other) -> QueryTest
    where Other.Value == Value { left.test(.greaterEqual, right.queryOperand) }

    /// Whether the value is null.
    public var isNull: QueryTest { test(.isNull) }
    /// Whether the value is not null.
    public var isNotNull: QueryTest { test(.notNull) }

    /// Returns whether the value is in a list.
    public func isIn(_ values: [Value]) -> QueryTest { test(.in, .list(values.map(\.odataValue))) }
    /// Returns whether the value is not in a list.
    public func isNotIn(_ values: [Value]) -> QueryTest { test(.notIn, .list(values.map(\.odataValue))) }
    /// Returns whether the value is the only column of a row of a query.
    public func isIn(_ query: DynamicQuery) -> QueryTest { test(.in, .selection(query)) }
    /// Returns whether the value is not the only column of a row of a query.
    public func isNotIn(_ query: DynamicQuery) -> QueryTest { test(.notIn, .selection(query)) }

    /// Returns a column of the result with a name.
    public func named(_ name: String) -> Selection.Column { Selection.Column(queryOperand, as: name) }
}

extension TypedQueryOperand where Value == String {
    /// Returns whether the text matches a pattern, in which `%` stands for any characters and `_` for one.
    public func isLike(_ pattern: String) -> QueryTest { .test(queryOperand, .like, .constant(pattern)) }
    /// Returns whether the text does not match a pattern, or is null.
    public func isNotLike(_ pattern: String) -> QueryTest { .test(queryOperand, .notLike, .constant(pattern)) }
    /// Returns whether the text contains another one.
    public func contains(_ text: String) -> QueryTest { .test(queryOperand, .contains, .constant(text)) }
    /// Returns whether the text starts with another one.
    public func startsWith(_ text: String) -> QueryTest { .test(queryOperand, .startsWith, .constant(text)) }
    /// Returns whether the text ends with another one.
    public func endsWith(_ text: String) -> QueryTest { .test(queryOperand, .endsWith, .constant(text)) }
    /// Returns whether the text does not contain another one, or is null.
    public func doesNotContain(_ text: String) -> QueryTest { .test(queryOperand, .notContains, .constant(text)) }
    /// Returns whether the text does not start with another one, or is null.
    public func doesNotStart(with text: String) -> QueryTest { .test(queryOperand, .notStartsWith, .constant(text)) }
    /// Returns whether the text does not end with another one, or is null.
    public func doesNotEnd(with text: String) -> QueryTest { .test(queryOperand, .notEndsWith, .constant(text)) }
}
