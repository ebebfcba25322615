import ODataModel
import ODataQuery

/// What the queries of a provider may say beyond the standard: whatever reads URLs for the provider, as an HTTP handler
/// does, understands them by it.
///
/// A provider's language changes with its model alone: what was resolved by both may be kept.
public struct QueryLanguage: Sendable {
    /// The functions that queries may call besides the canonical ones.
    public let functions: FunctionRegistry
    private let meaning: @Sendable (ODataURL) -> ODataURL

    /// Makes a language.
    ///
    /// - Parameters:
    ///   - functions: what queries may call besides the canonical functions.
    ///   - meaning: the URL that one stands for, told by its text alone: neither by the time nor by who asks.
    public init(
        functions: FunctionRegistry = FunctionRegistry(),
        meaning: @escaping @Sendable (ODataURL) -> ODataURL = { $0 }
    ) {
        self.functions = functions
        self.meaning = meaning
    }

    /// Resolves a URL against a model.
    ///
    /// - Throws: `QueryError`, as `Binder` does.
    public func bind(_ url: ODataURL, model: EntityDataModel) throws(QueryError) -> BoundURL {
        try Binder(model: model, functions: functions).bind(meaning(url))
    }
}
