/// The functions of an app's own that a ``Binder`` knows besides the canonical ones.
///
/// The evaluator and the SQL compiler call them through the bound query, so that registering them with the binder
/// is enough for the evaluator; the store adds each to its connections.
public struct FunctionRegistry: Sendable {
    /// The scalar functions by name; overloads differ in their number of parameters.
    public private(set) var scalar: [String: [ScalarFunction]] = [:]
    /// The aggregation methods by name.
    public private(set) var aggregate: [String: AggregateFunction] = [:]
    /// What custom aggregates stand for, by name (OData Data Aggregation 4.0, 3.2.1.3): `aggregate(Forecast)` is
    /// computed as this item would be.
    public private(set) var customAggregates: [String: AggregateItem] = [:]
    /// The functions that stand for another expression, by name.
    package private(set) var expressions: [String: ExpressionFunction] = [:]
    /// How texts are compared; `nil` by their code points.
    public private(set) var textForms: TextForms?

    /// Makes a registry.
    ///
    /// - Parameters:
    ///   - scalar: scalar functions. Of two with the same name and number of parameters the last counts.
    ///   - aggregate: aggregation methods.
    ///   - customAggregates: custom aggregates by name.
    ///   - textForms: how texts are compared; their functions are registered too.
    public init(
        scalar: [ScalarFunction] = [], aggregate: [AggregateFunction] = [],
        customAggregates: [String: AggregateItem] = [:], textForms: TextForms? = nil
    ) {
        self.textForms = textForms
        for function in scalar + [textForms?.compared, textForms?.searched].compactMap(\.self) {
            self.scalar[function.name, default: []].removeAll { $0.parameters.count == function.parameters.count }
            self.scalar[function.name, default: []].append(function)
        }
        for function in aggregate { self.aggregate[function.name] = function }
        self.customAggregates = customAggregates
    }

    /// Registers functions that stand for another expression, by name.
    package mutating func register(_ functions: [String: ExpressionFunction]) {
        expressions.merge(functions) { $1 }
    }
}

/// A function that stands for an expression of its arguments: a call is resolved as that expression, wherever calls may stand.
package struct ExpressionFunction: Sendable {
    /// The number of arguments.
    package let parameterCount: Int
    /// Makes the expression from ``parameterCount`` arguments.
    package let body: @Sendable ([CommonExpression]) -> CommonExpression

    /// Makes a function.
    package init(parameterCount: Int, body: @escaping @Sendable ([CommonExpression]) -> CommonExpression) {
        self.parameterCount = parameterCount
        self.body = body
    }
}
