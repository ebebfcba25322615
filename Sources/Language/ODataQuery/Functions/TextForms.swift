import ODataModel

/// Functions that normalise texts for comparison, such as without regard to case or in dictionary order.
///
/// If the ``FunctionRegistry`` of a ``Binder`` has them, each compared text is normalised, so that the evaluator
/// and SQL give the same results. Keys in paths and the values of `groupby` are never normalised.
///
/// ```swift
/// let caseless = ScalarFunction("App.caseless", [.primitive(.string)], returns: .primitive(.string)) { arguments in
///     guard case .string(let text) = arguments[0] else { return .null }
///     return .string(text.lowercased())
/// }
/// let functions = FunctionRegistry(textForms: TextForms(compared: caseless, searched: caseless))
/// ```
public struct TextForms: Sendable {
    /// The function that normalises texts in comparisons, in `in` and in `$orderby`.
    public var compared: ScalarFunction
    /// The function that normalises texts in `contains`, `startswith` and `endswith`; `nil` for none.
    public var searched: ScalarFunction?

    /// Creates forms.
    public init(compared: ScalarFunction, searched: ScalarFunction? = nil) {
        self.compared = compared
        self.searched = searched
    }
}

extension BindingSession {
    /// Returns a text in the form for comparisons. Other expressions and members of undeclared type are unchanged.
    func comparable(_ expression: BoundExpression) -> BoundExpression {
        functions.textForms.map { inForm($0.compared, expression) } ?? expression
    }

    /// Returns a text in the form for searches.
    func searchable(_ expression: BoundExpression) -> BoundExpression {
        functions.textForms?.searched.map { inForm($0, expression) } ?? expression
    }

    private func inForm(_ form: ScalarFunction, _ expression: BoundExpression) -> BoundExpression {
        guard expression.type.primitive == .string else { return expression }
        if case .constant(.null, _) = expression { return expression }
        return .custom(form, [expression])
    }
}
