import ODataModel

/// Anything that answers OData requests: an online service, a local store, an offline store.
///
/// The one protocol that holds the package together. A request and its response are *semantic*: parsed
/// URLs, entities and preferences, never HTTP text. The HTTP codec turns them into messages and back, so
/// that a client and a server can be joined in memory.
public protocol ODataProvider: Sendable {
    /// The service's model.
    ///
    /// - Throws: what reading the metadata can throw; a local provider never throws.
    var model: EntityDataModel { get async throws }

    /// Whether requests with ``ODataRequest/isolation`` are answered from a snapshot. What takes requests from
    /// elsewhere refuses them otherwise, as they must never be answered without it (OData Protocol 4.01, 8.2.6).
    var supportsIsolation: Bool { get }

    /// What the provider can do with its sets, where that is not for the model alone to say: what serves it says so in
    /// the metadata.
    var capabilities: ServiceCapabilities? { get }

    /// What queries may say beyond the standard.
    var queryLanguage: QueryLanguage { get }

    /// Answers a request.
    ///
    /// - Throws: ``ODataError`` when the request is refused, and what the way to the data can throw:
    ///   a transport error, a database error.
    func execute(_ request: ODataRequest) async throws -> ODataResponse
}

extension ODataProvider {
    /// Most give none.
    public var supportsIsolation: Bool { false }
    /// Most say no more than their model does.
    public var capabilities: ServiceCapabilities? { nil }
    /// Most speak the standard's.
    public var queryLanguage: QueryLanguage { QueryLanguage() }
}
