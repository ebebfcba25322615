/// The functions of an app that a ``Binder`` knows in addition to the canonical ones.
///
/// The evaluator and the SQL compiler call them through the bound query, so only the binder needs the registry. The
/// store also registers each function on its connections.
public struct FunctionRegistry: Sendable {
    /// The scalar functions by name; overloads differ in their number of parameters.
    public private(set) var scalar: [String: [ScalarFunction]] = [:]
    /// The aggregation methods by name.
    public private(set) var aggregate: [String: AggregateFunction] = [:]
    /// The definitions of custom aggregates by name (OData Data Aggregation 4.0, 3.2.1.3). `aggregate(Forecast)` is
    /// computed like its item.
    public private(set) var customAggregates: [String: AggregateItem] = [:]
    /// The functions that are defined by an expression, by name.
    package private(set) var expressions: [String: ExpressionFunction] = [:]
    /// The forms in which texts are compared; `nil` to compare code points.
    public private(set) var textForms: TextForms?

    /// Creates a registry.
    ///
    /// - Parameters:
    ///   - scalar: the scalar functions. A later one replaces one with the same name and number of parameters.
    ///   - aggregate: the aggregation methods.
    ///   - customAggregates: the custom aggregates by name.
    ///   - textForms: the forms in which texts are compared; their functions are registered too.
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

    /// Registers functions that are defined by an expression, by name.
    package mutating func register(_ functions: [String: ExpressionFunction]) {
        expressions.merge(functions) { $1 }
    }
}

/// A function that is defined by an expression of its arguments. A call is resolved as the expression.
package struct ExpressionFunction: Sendable {
    package let parameterCount: Int
    /// Builds the expression from ``parameterCount`` arguments.
    package let body: @Sendable ([CommonExpression]) -> CommonExpression

    package init(parameterCount: Int, body: @escaping @Sendable ([CommonExpression]) -> CommonExpression) {
        self.parameterCount = parameterCount
        self.body = body
    }
}
