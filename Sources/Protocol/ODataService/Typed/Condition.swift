import ODataModel
import ODataQuery

/// A condition on the entities of a type, written with key paths: `\.freight > 50 && \.shipCity == "Bern"`.
public struct Condition<Paths: TypedPaths>: Sendable {
    /// The condition as an untyped expression.
    public let query: QueryExpression

    /// Creates a condition on the type of the paths from an untyped expression.
    public init(_ query: QueryExpression) { self.query = query }

    /// Combines two conditions with `and`.
    public static func && (left: Condition, right: Condition) -> Condition { Condition(left.query && right.query) }
    /// Combines two conditions with `or`.
    public static func || (left: Condition, right: Condition) -> Condition { Condition(left.query || right.query) }
    /// Negates a condition with `not`.
    public static prefix func ! (operand: Condition) -> Condition { Condition(!operand.query) }
}

extension TypedPaths {
    fileprivate static func part<Part: TypedExpression>(_ path: KeyPath<Self, Part>) -> QueryExpression {
        Self(odataPath: "")[keyPath: path].query
    }
}

/// Compares with `eq`; `nil` is null.
public func == <Paths, Part: TypedExpression>(left: KeyPath<Paths, Part>, right: Part.Value?) -> Condition<Paths> {
    Condition(Paths.part(left) == .literal(right))
}
/// Compares with `ne`; `nil` is null.
public func != <Paths, Part: TypedExpression>(left: KeyPath<Paths, Part>, right: Part.Value?) -> Condition<Paths> {
    Condition(Paths.part(left) != .literal(right))
}
/// Compares with `lt`.
public func < <Paths, Part: TypedExpression>(left: KeyPath<Paths, Part>, right: Part.Value) -> Condition<Paths> {
    Condition(Paths.part(left) < .literal(right))
}
/// Compares with `le`.
public func <= <Paths, Part: TypedExpression>(left: KeyPath<Paths, Part>, right: Part.Value) -> Condition<Paths> {
    Condition(Paths.part(left) <= .literal(right))
}
/// Compares with `gt`.
public func > <Paths, Part: TypedExpression>(left: KeyPath<Paths, Part>, right: Part.Value) -> Condition<Paths> {
    Condition(Paths.part(left) > .literal(right))
}
/// Compares with `ge`.
public func >= <Paths, Part: TypedExpression>(left: KeyPath<Paths, Part>, right: Part.Value) -> Condition<Paths> {
    Condition(Paths.part(left) >= .literal(right))
}
