import ODataModel
import ODataQuery

/// Generates the range variables of lambda operators: each nested operator gets another name.
enum RangeVariable {
    @TaskLocal private static var depth = 0

    /// Builds a condition on the members with a new variable.
    static func with(_ body: (String) -> QueryExpression) -> (variable: String, condition: QueryExpression) {
        let variable = "x\(depth + 1)"
        return (variable, $depth.withValue(depth + 1) { body(variable) })
    }
}

/// A path to a collection, to which `any`, `all` and `$count` apply (OData URL Conventions 4.01, 5.1.1.13).
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
    /// Returns whether a related entity satisfies a condition (`any`).
    ///
    /// ```swift
    /// let large = northwind.orders.filter { $0.items.any { $0.quantity > 5 } }
    /// ```
    public func any(_ condition: (Target.Paths) -> QueryExpression) -> QueryExpression {
        any(where: { condition(Target.Paths(odataPath: $0)) })
    }
    /// Returns whether every related entity satisfies a condition (`all`).
    public func all(_ condition: (Target.Paths) -> QueryExpression) -> QueryExpression {
        all(where: { condition(Target.Paths(odataPath: $0)) })
    }
    /// Whether there is a related entity (`any` without a condition).
    public var isNotEmpty: QueryExpression { collection.isNotEmpty }
    /// The number of related entities.
    public var count: ValueExpression<Int64> { ValueExpression(collection.count) }
}

extension ComplexCollectionPath: LambdaPath {
    /// Returns whether a member satisfies a condition (`any`).
    public func any(_ condition: (Complex.Paths) -> QueryExpression) -> QueryExpression {
        any(where: { condition(Complex.Paths(odataPath: $0)) })
    }
    /// Returns whether every member satisfies a condition (`all`).
    public func all(_ condition: (Complex.Paths) -> QueryExpression) -> QueryExpression {
        all(where: { condition(Complex.Paths(odataPath: $0)) })
    }
    /// Whether there is a member (`any` without a condition).
    public var isNotEmpty: QueryExpression { collection.isNotEmpty }
    /// The number of members.
    public var count: ValueExpression<Int64> { ValueExpression(collection.count) }
}

extension CollectionPath: LambdaPath {
    /// Returns whether a member satisfies a condition (`any`).
    public func any(_ condition: (ValueExpression<Element>) -> QueryExpression) -> QueryExpression {
        any(where: { condition(ValueExpression(.property($0))) })
    }
    /// Returns whether every member satisfies a condition (`all`).
    public func all(_ condition: (ValueExpression<Element>) -> QueryExpression) -> QueryExpression {
        all(where: { condition(ValueExpression(.property($0))) })
    }
    /// Returns whether a value is among the members.
    public func contains(_ value: Element) -> QueryExpression { any { $0.query == .literal(value) } }
    /// Whether there is a member (`any` without a condition).
    public var isNotEmpty: QueryExpression { collection.isNotEmpty }
    /// The number of members.
    public var count: ValueExpression<Int64> { ValueExpression(collection.count) }
}

extension NavigationEntityPath {
    /// Returns whether there is no related entity.
    public static func == (left: Self, right: Never?) -> QueryExpression {
        .property(left.odataPath) == .value(.null)
    }
    /// Returns whether there is a related entity.
    public static func != (left: Self, right: Never?) -> QueryExpression {
        .property(left.odataPath) != .value(.null)
    }
}
