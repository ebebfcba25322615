import ODataService

/// The path of a large attribute that holds text. Generated code has one for each stream whose `Core.MediaType` is a
/// text.
public struct LargeTextPath: SelectablePath {
    /// The path, relative to the start of the query.
    public let odataPath: String

    /// Creates the path of an attribute.
    public init(_ paths: some TypedPaths, _ name: String) {
        odataPath = paths.odataPath.isEmpty ? name : "\(paths.odataPath)/\(name)"
    }
}

extension QueryAlias {
    /// A large text, which no query can hold.
    @available(*, unavailable, message: "A large attribute has no value in a query. Read it through its own reader.")
    public subscript(dynamicMember path: KeyPath<Object.Paths, LargeTextPath>) -> UnqueryableAttribute {
        UnqueryableAttribute()
    }
}
