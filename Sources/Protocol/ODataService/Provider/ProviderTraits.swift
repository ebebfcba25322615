/// The features of a provider that are not part of its model.
///
/// They are one value, so that a wrapper forwards all of them, including future ones, and changes a feature only
/// explicitly:
///
/// ```swift
/// var traits: ProviderTraits {
///     var traits = base.traits
///     traits.supportsIsolation = false
///     return traits
/// }
/// ```
public struct ProviderTraits: Sendable {
    /// Whether requests with ``ODataRequest/isolation`` are answered from a snapshot.
    ///
    /// If not, an HTTP handler refuses such requests, since they must not be answered without a snapshot (OData
    /// Protocol 4.01, 8.2.6).
    public var supportsIsolation: Bool
    /// The capabilities of the entity sets, which an HTTP handler publishes in the metadata; `nil` if the model
    /// states them.
    public var capabilities: PublishedCapabilities?
    /// The syntax and functions of queries beyond the standard.
    public var queryLanguage: QueryLanguage

    /// Creates traits. No parameter has a default, so that no trait is forgotten.
    ///
    /// - Parameters:
    ///   - supportsIsolation: whether requests can be answered from a snapshot.
    ///   - capabilities: the capabilities of the entity sets; `nil` if the model states them.
    ///   - queryLanguage: the syntax and functions of queries beyond the standard.
    public init(supportsIsolation: Bool, capabilities: PublishedCapabilities?, queryLanguage: QueryLanguage) {
        self.supportsIsolation = supportsIsolation
        self.capabilities = capabilities
        self.queryLanguage = queryLanguage
    }

    /// The traits of a service of which only the model is known: no snapshots, no additional capabilities, and the
    /// query language of the standard.
    public static let standard = ProviderTraits(
        supportsIsolation: false, capabilities: nil, queryLanguage: QueryLanguage())
}
