import ODataModel

/// A provider that stands before another one and has its model and its traits, unless it changes them by intent.
///
/// ```swift
/// struct CountingProvider: ProviderWrapper {
///     let base: any ODataProvider
///     let count: @Sendable () -> Void
///
///     func execute(_ request: ODataRequest) async throws -> ODataResponse {
///         count()
///         return try await base.execute(request)
///     }
/// }
/// ```
public protocol ProviderWrapper: ODataProvider {
    /// The provider that answers the requests.
    var base: any ODataProvider { get }
}

extension ProviderWrapper {
    /// The model of the base.
    public var model: EntityDataModel { get async throws { try await base.model } }

    /// All traits of the base.
    public var traits: ProviderTraits { base.traits }
}
