/// The features of a provider that its model does not tell.
///
/// They are one value, so that a provider that stands before another one forwards all of them, those of later versions
/// included, and changes one by intent only:
///
/// ```swift
/// var traits: ProviderTraits {
///     var traits = base.traits
///     traits.supportsIsolation = false
///     return traits
/// }
/// ```
public struct ProviderTraits: Sendable {
    /// Whether requests with ``ODataRequest/isolation`` are answered from a snapshot. Without it, an HTTP handler refuses such
    /// requests, since they must never be answered without a snapshot (OData Protocol 4.01, 8.2.6).
    public var supportsIsolation: Bool
    /// The capabilities of the entity sets, which an HTTP handler publishes in the metadata; `nil` if the model says them all.
    public var capabilities: PublishedCapabilities?
    /// The syntax and functions of queries beyond the standard.
    public var queryLanguage: QueryLanguage

    /// Makes traits. No parameter has a default, so that no trait is forgotten.
    ///
    /// - Parameters:
    ///   - supportsIsolation: whether requests can be answered from a snapshot.
    ///   - capabilities: the capabilities of the entity sets; `nil` if the model says them all.
    ///   - queryLanguage: the syntax and functions of queries beyond the standard.
    public init(supportsIsolation: Bool, capabilities: PublishedCapabilities?, queryLanguage: QueryLanguage) {
        self.supportsIsolation = supportsIsolation
        self.capabilities = capabilities
        self.queryLanguage = queryLanguage
    }

    /// The traits of a service of which only the model is known: no snapshots, no capabilities besides the model's, the
    /// query language of the standard.
    public static let standard = ProviderTraits(
        supportsIsolation: false, capabilities: nil, queryLanguage: QueryLanguage())
}
