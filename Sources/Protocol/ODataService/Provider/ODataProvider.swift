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

    /// The features of the provider besides its model. A provider that stands before another one forwards them as a whole
    /// (``ProviderWrapper``).
    var traits: ProviderTraits { get }

    /// Answers a request.
    ///
    /// - Throws: ``ODataError`` when the request is refused, and what the way to the data can throw:
    ///   a transport error, a database error.
    func execute(_ request: ODataRequest) async throws -> ODataResponse
}
