import ODataModel

/// A type that answers OData requests, such as an online service, a local store or an offline store.
///
/// Requests and responses are *semantic*: parsed URLs, entities and preferences instead of HTTP text. The HTTP
/// codec converts them to messages and back. A client and a server can therefore also be connected in memory.
///
/// ```swift
/// /// Counts orders, online or offline.
/// func orders(of provider: some ODataProvider) async throws -> Int64 {
///     try await DataService(provider).count("Orders")
/// }
/// print(try await orders(of: client), try await orders(of: store))
/// ```
public protocol ODataProvider: Sendable {
    /// The model of the service.
    ///
    /// - Throws: the errors of reading the metadata. A local provider never throws.
    var model: EntityDataModel { get async throws }

    /// The features of the provider that are not part of its model. A wrapper forwards all of them
    /// (``ProviderWrapper``).
    var traits: ProviderTraits { get }

    /// Answers a request.
    ///
    /// - Throws: ``ODataError`` if the request is refused, and transport or database errors.
    func execute(_ request: ODataRequest) async throws -> ODataResponse
}
