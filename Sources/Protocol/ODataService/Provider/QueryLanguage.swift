import ODataModel
import ODataQuery

/// What the queries of a provider may say beyond the standard: whatever reads URLs for the provider, as an HTTP handler
/// does, understands them by it.
///
/// A provider's language changes with its model alone: what was resolved by both may be kept.
public struct QueryLanguage: Sendable {
    /// The functions that queries may call besides the canonical ones.
    public let functions: FunctionRegistry
    private let address: (@Sendable (ODataURL) async throws -> ODataURL?)?
    /// The URLs that the language has resolved before, for all who hold the language.
    package let urls: ResolvedURLs

    /// Makes the language of the standard.
    public init() {
        self.init(functions: FunctionRegistry(), urls: Self.standardURLs, address: nil)
    }

    private static let standardURLs = ResolvedURLs()

    /// Makes a language.
    ///
    /// - Parameters:
    ///   - functions: what queries may call besides the canonical functions.
    ///   - address: where the resource is found that a URL leads to by way of another one, now; `nil` for a URL that is its own
    ///     address. It is asked before the URL is resolved.
    public init(
        functions: FunctionRegistry, address: (@Sendable (ODataURL) async throws -> ODataURL?)? = nil
    ) {
        self.init(functions: functions, urls: ResolvedURLs(), address: address)
    }

    /// Makes a language that finds the URLs which were resolved by an equal one.
    package init(
        functions: FunctionRegistry, urls: ResolvedURLs, address: (@Sendable (ODataURL) async throws -> ODataURL?)?
    ) {
        self.urls = urls
        self.functions = functions
        self.address = address
    }

    /// Whether some URLs have another address.
    public var hasAddresses: Bool { address != nil }

    /// Where the resource of a URL is found now.
    ///
    /// - Returns: `nil` for a URL that is its own address.
    /// - Throws: ``ODataError`` 404 for what is not there, and what the way to the data can throw.
    public func address(of url: ODataURL) async throws -> ODataURL? { try await address?(url) }

    /// Resolves a URL against a model.
    ///
    /// - Throws: `QueryError`, as `Binder` does.
    public func bind(_ url: ODataURL, model: EntityDataModel) throws(QueryError) -> BoundURL {
        try Binder(model: model, functions: functions).bind(url)
    }
}
