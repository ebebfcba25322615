import ODataModel

/// The path of a request below the service root, with unresolved names (OData URL Conventions 4.01, 4).
public struct ResourcePath: Hashable, Sendable {
    /// The segments; empty for the service root.
    public var segments: [PathSegment]

    /// Creates a path.
    public init(_ segments: [PathSegment] = []) { self.segments = segments }
}

/// A segment of a resource path.
public indirect enum PathSegment: Hashable, Sendable {
    /// An entity set, singleton, property, qualified type or operation name, with the parentheses after it.
    ///
    /// The first segment may also be `$` and the content id of another request in a batch, which denotes the
    /// resource of that request (OData Protocol 4.01, 11.7.3.1).
    case name(Identifier, PathArguments)
    /// `$metadata`.
    case metadata
    /// `$batch`.
    case batch
    /// `$entity`.
    case entity
    /// `$all`.
    case all
    /// `$crossjoin(…)`.
    case crossJoin([Identifier])
    /// `$count`.
    case count
    /// `$value`.
    case value
    /// `$ref`.
    case reference
    /// `$links` of V2 and V3.
    case links
    /// `$each`.
    case each
    /// `$query`.
    case query
    /// `$filter(…)`.
    case filter(CommonExpression)
    /// A key in parentheses after the segment's own parentheses, as in `ProductsByColor(color='red')(2)`.
    case key(KeyPredicate)
    /// A segment that may be a key by the key-as-segment convention, with any characters.
    case literal(Identifier)
}

/// The content of the parentheses after a path segment.
public enum PathArguments: Hashable, Sendable {
    /// No parentheses.
    case none
    /// `()`.
    case empty
    /// A key or a single positional value.
    case key(KeyPredicate)
    /// Named values, which the binder resolves to a key or parameters.
    case named([CommonExpression.NamedArgument])
}

/// A key in parentheses (OData URL Conventions 4.01, 4.3.1).
public enum KeyPredicate: Hashable, Sendable {
    /// `(value)`.
    case single(CommonExpression)
    /// `(name=value,…)`.
    case compound([CommonExpression.NamedArgument])
}

/// A parsed URL below the service root: path and query.
///
/// ```swift
/// let url = try ODataURL(parsing: "Orders?$filter=Freight gt 100&$expand=Customer&$top=10")
/// let orders = try await service.entities(url)
/// print(url.options.top ?? 0, url)
/// ```
public struct ODataURL: Hashable, Sendable {
    /// The resource path.
    public var path: ResourcePath
    /// The query options.
    public var options: QueryOptions
    // Optional is written in full for the reason given at `BoundURL.query`.
    /// The percent-decoded text after `#` in a context URL; `nil` in requests.
    public var fragment: Optional<String>

    /// Creates a URL.
    public init(
        path: ResourcePath = ResourcePath(), options: QueryOptions = QueryOptions(), fragment: String? = nil
    ) {
        self.path = path
        self.options = options
        self.fragment = fragment
    }
}
