import ODataModel
import ODataQuery

/// A condition over the entities of a type, made with key paths: `\.freight > 50 && \.shipCity == "Bern"`.
public struct Condition<Paths: TypedPaths>: Sendable {
    /// The condition as part of a query.
    public let query: QueryExpression

    /// Says which type's properties a condition names.
    public init(_ query: QueryExpression) { self.query = query }

    /// `and`.
    public static func && (left: Condition, right: Condition) -> Condition { Condition(left.query && right.query) }
    /// `or`.
    public static func || (left: Condition, right: Condition) -> Condition { Condition(left.query || right.query) }
    /// `not`.
    public static prefix func ! (operand: Condition) -> Condition { Condition(!operand.query) }
}

extension TypedPaths {
    fileprivate static func part<Part: TypedExpression>(_ path: KeyPath<Self, Part>) -> QueryExpression {
        Self(odataPath: "")[keyPath: path].query
    }
}

/// `eq`; `nil` is null.
public func == <Paths, Part: TypedExpression>(left: KeyPath<Paths, Part>, right: Part.Value?) -> Condition<Paths> {
    Condition(Paths.part(left) == .literal(right))
}
/// `ne`; `nil` is null.
public func != <Paths, Part: TypedExpression>(left: KeyPath<Paths, Part>, right: Part.Value?) -> Condition<Paths> {
    Condition(Paths.part(left) != .literal(right))
}
/// `lt`.
public func < <Paths, Part: TypedExpression>(left: KeyPath<Paths, Part>, right: Part.Value) -> Condition<Paths> {
    Condition(Paths.part(left) < .literal(right))
}
/// `le`.
public func <= <Paths, Part: TypedExpression>(left: KeyPath<Paths, Part>, right: Part.Value) -> Condition<Paths> {
    Condition(Paths.part(left) <= .literal(right))
}
/// `gt`.
public func > <Paths, Part: TypedExpression>(left: KeyPath<Paths, Part>, right: Part.Value) -> Condition<Paths> {
    Condition(Paths.part(left) > .literal(right))
}
/// `ge`.
public func >= <Paths, Part: TypedExpression>(left: KeyPath<Paths, Part>, right: Part.Value) -> Condition<Paths> {
    Condition(Paths.part(left) >= .literal(right))
}
