import ODataModel

/// The path of a request below the service root, names not yet resolved (OData URL Conventions 4.01, 4).
public struct ResourcePath: Hashable, Sendable {
    /// The segments; none is the service root itself.
    public var segments: [PathSegment]

    /// Makes a path.
    public init(_ segments: [PathSegment] = []) { self.segments = segments }
}

/// One segment of a resource path.
public indirect enum PathSegment: Hashable, Sendable {
    /// An entity set, singleton, property, qualified type or operation name, with what stands in the
    /// parentheses after it. At the start also `$` and the content id of another request of a batch, for what that
    /// request made or addressed (OData Protocol 4.01, 11.7.3.1).
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
    /// V2 and V3: `$links`.
    case links
    /// `$each`.
    case each
    /// `$query`.
    case query
    /// `$filter(…)`.
    case filter(CommonExpression)
    /// A key in parentheses after a segment's own parentheses, as `ProductsByColor(color='red')(2)`.
    case key(KeyPredicate)
    /// A segment that may be a key under the key-as-segment convention: its text, whatever characters it has.
    case literal(Identifier)
}

/// What stands in the parentheses after a path segment.
public enum PathArguments: Hashable, Sendable {
    /// No parentheses.
    case none
    /// `()`.
    case empty
    /// A key or a single positional value.
    case key(KeyPredicate)
    /// Named values that the binder tells apart as key or parameters.
    case named([CommonExpression.NamedArgument])
}

/// The key in parentheses (OData URL Conventions 4.01, 4.3.1).
public enum KeyPredicate: Hashable, Sendable {
    /// `(value)`.
    case single(CommonExpression)
    /// `(name=value,…)`.
    case compound([CommonExpression.NamedArgument])
}

/// A parsed URL below the service root: path and query.
public struct ODataURL: Hashable, Sendable {
    /// The path.
    public var path: ResourcePath
    /// The query.
    public var options: QueryOptions
    // Spelt out for the reason at `BoundURL.query`.
    /// What follows `#` in a context URL, percent-decoded; `nil` in requests.
    public var fragment: Optional<String>

    /// Makes a URL.
    public init(
        path: ResourcePath = ResourcePath(), options: QueryOptions = QueryOptions(), fragment: String? = nil
    ) {
        self.path = path
        self.options = options
        self.fragment = fragment
    }
}
