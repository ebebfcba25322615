import ODataModel

/// The forms by which queries compare texts, where they do not do so by their code points: without regard to case, or in
/// the order of a dictionary.
///
/// A ``Binder`` whose ``FunctionRegistry`` has them puts each text that is compared into its form, so that the evaluator
/// and SQL compare alike. Keys in paths are never put into another form, nor is what `groupby` tells apart.
///
/// ```swift
/// let caseless = ScalarFunction("App.caseless", [.primitive(.string)], returns: .primitive(.string)) { arguments in
///     guard case .string(let text) = arguments[0] else { return .null }
///     return .string(text.lowercased())
/// }
/// let functions = FunctionRegistry(textForms: TextForms(compared: caseless, searched: caseless))
/// ```
public struct TextForms: Sendable {
    /// Makes of a text what stands for it in comparisons, in `in` and in `$orderby`: a function of one text to a text.
    public var compared: ScalarFunction
    /// Makes of a text what stands for it in `contains`, `startswith` and `endswith`; `nil` where that is the text itself.
    public var searched: ScalarFunction?

    /// Makes forms.
    public init(compared: ScalarFunction, searched: ScalarFunction? = nil) {
        self.compared = compared
        self.searched = searched
    }
}

extension BindingSession {
    /// A text in the form by which it is compared; anything else as it is. Members whose type nobody declared count by
    /// their code points.
    func comparable(_ expression: BoundExpression) -> BoundExpression {
        functions.textForms.map { inForm($0.compared, expression) } ?? expression
    }

    /// A text in the form in which it is searched.
    func searchable(_ expression: BoundExpression) -> BoundExpression {
        functions.textForms?.searched.map { inForm($0, expression) } ?? expression
    }

    private func inForm(_ form: ScalarFunction, _ expression: BoundExpression) -> BoundExpression {
        guard expression.type.primitive == .string else { return expression }
        if case .constant(.null, _) = expression { return expression }
        return .custom(form, [expression])
    }
}
