import ODataModel
import ODataQuery

/// Names the range variables of lambda operators: each nested one has a name of its own.
enum RangeVariable {
    @TaskLocal private static var depth = 0

    /// Makes a condition over the members with a fresh variable.
    static func with(_ body: (String) -> QueryExpression) -> (variable: String, condition: QueryExpression) {
        let variable = "x\(depth + 1)"
        return (variable, $depth.withValue(depth + 1) { body(variable) })
    }
}

/// Paths that lead to many: what `any`, `all` and `$count` take (OData URL Conventions 4.01, 5.1.1.13).
protocol LambdaPath: SelectablePath {}

extension LambdaPath {
    fileprivate var collection: QueryExpression { .property(odataPath) }

    fileprivate func any(where body: (String) -> QueryExpression) -> QueryExpression {
        let (variable, condition) = RangeVariable.with(body)
        return collection.any(variable) { _ in condition }
    }

    fileprivate func all(where body: (String) -> QueryExpression) -> QueryExpression {
        let (variable, condition) = RangeVariable.with(body)
        return collection.all(variable) { _ in condition }
    }
}

extension NavigationCollectionPath: LambdaPath {
    /// `any`: whether a related entity satisfies a condition.
    ///
    /// ```swift
    /// northwind.orders.filter { $0.items.any { $0.quantity > 5 } }
    /// ```
    public func any(_ condition: (Target.Paths) -> QueryExpression) -> QueryExpression {
        any(where: { condition(Target.Paths(odataPath: $0)) })
    }
    /// `all`: whether every related entity satisfies a condition.
    public func all(_ condition: (Target.Paths) -> QueryExpression) -> QueryExpression {
        all(where: { condition(Target.Paths(odataPath: $0)) })
    }
    /// `any` without a condition.
    public var isNotEmpty: QueryExpression { collection.isNotEmpty }
    /// The number of related entities.
    public var count: ValueExpression<Int64> { ValueExpression(collection.count) }
}

extension ComplexCollectionPath: LambdaPath {
    /// `any`: whether a member satisfies a condition.
    public func any(_ condition: (Complex.Paths) -> QueryExpression) -> QueryExpression {
        any(where: { condition(Complex.Paths(odataPath: $0)) })
    }
    /// `all`: whether every member satisfies a condition.
    public func all(_ condition: (Complex.Paths) -> QueryExpression) -> QueryExpression {
        all(where: { condition(Complex.Paths(odataPath: $0)) })
    }
    /// `any` without a condition.
    public var isNotEmpty: QueryExpression { collection.isNotEmpty }
    /// The number of members.
    public var count: ValueExpression<Int64> { ValueExpression(collection.count) }
}

extension CollectionPath: LambdaPath {
    /// `any`: whether a member satisfies a condition.
    public func any(_ condition: (ValueExpression<Element>) -> QueryExpression) -> QueryExpression {
        any(where: { condition(ValueExpression(.property($0))) })
    }
    /// `all`: whether every member satisfies a condition.
    public func all(_ condition: (ValueExpression<Element>) -> QueryExpression) -> QueryExpression {
        all(where: { condition(ValueExpression(.property($0))) })
    }
    /// Whether a value is among the members.
    public func contains(_ value: Element) -> QueryExpression { any { $0.query == .literal(value) } }
    /// `any` without a condition.
    public var isNotEmpty: QueryExpression { collection.isNotEmpty }
    /// The number of members.
    public var count: ValueExpression<Int64> { ValueExpression(collection.count) }
}

extension NavigationEntityPath {
    /// Whether the property leads nowhere.
    public static func == (left: Self, right: Never?) -> QueryExpression {
        .property(left.odataPath) == .value(.null)
    }
    /// Whether the property leads somewhere.
    public static func != (left: Self, right: Never?) -> QueryExpression {
        .property(left.odataPath) != .value(.null)
    }
}
