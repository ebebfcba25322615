import ODataModel

/// A provider that wraps another one and has its model and its traits by default.
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
    /// The wrapped provider.
    var base: any ODataProvider { get }
}

extension ProviderWrapper {
    /// The model of the wrapped provider.
    public var model: EntityDataModel { get async throws { try await base.model } }

    /// All traits of the wrapped provider.
    public var traits: ProviderTraits { base.traits }
}
