import ODataModel
import ODataQuery

/// The syntax and functions of a provider's queries beyond the standard.
///
/// A reader of URLs, such as an HTTP handler, parses them with the language of the provider. The language changes
/// only together with the model, so resolved URLs may be cached.
public struct QueryLanguage: Sendable {
    /// The functions that queries may call in addition to the canonical ones.
    public let functions: FunctionRegistry
    private let address: (@Sendable (ODataURL) async throws -> ODataURL?)?
    /// The cache of resolved URLs, shared by all copies of the language.
    package let urls: ResolvedURLs

    /// Creates the language of the standard.
    public init() {
        self.init(functions: FunctionRegistry(), urls: Self.standardURLs, address: nil)
    }

    private static let standardURLs = ResolvedURLs()

    /// Creates a language.
    ///
    /// - Parameters:
    ///   - functions: the functions that queries may call in addition to the canonical ones.
    ///   - address: returns the current address of the resource that an indirect URL leads to; `nil` for a direct
    ///     URL. It is called before the URL is resolved.
    public init(
        functions: FunctionRegistry, address: (@Sendable (ODataURL) async throws -> ODataURL?)? = nil
    ) {
        self.init(functions: functions, urls: ResolvedURLs(), address: address)
    }

    /// Creates a language that shares the cache of an equal one.
    package init(
        functions: FunctionRegistry, urls: ResolvedURLs, address: (@Sendable (ODataURL) async throws -> ODataURL?)?
    ) {
        self.urls = urls
        self.functions = functions
        self.address = address
    }

    /// Whether the language has indirect URLs.
    public var hasAddresses: Bool { address != nil }

    /// Returns the current address of the resource that an indirect URL leads to.
    ///
    /// - Returns: `nil` for a direct URL.
    /// - Throws: ``ODataError`` 404 if there is no resource, and transport or database errors.
    public func address(of url: ODataURL) async throws -> ODataURL? { try await address?(url) }

    /// Resolves a URL against a model.
    ///
    /// - Throws: `QueryError`, as `Binder` does.
    public func bind(_ url: ODataURL, model: EntityDataModel) throws(QueryError) -> BoundURL {
        try Binder(model: model, functions: functions).bind(url)
    }
}
