import ODataModel
import ODataQuery

/// The properties of a type by name, for queries: `\.customer.country` is a key path into it.
///
/// Generated types have one each, named `Paths`. It holds no values, only the way from where the query starts.
public protocol TypedPaths: Sendable {
    /// The path so far; empty at the start.
    var odataPath: String { get }
    /// Continues a path.
    init(odataPath: String)
}

extension TypedPaths {
    /// The path of a property.
    func path(to name: String) -> String { odataPath.isEmpty ? name : "\(odataPath)/\(name)" }

    /// The paths of a type that derives from this one, as in `$0.cast(Employee.self).cost`.
    public func cast<Derived: TypedStructure>(_ type: Derived.Type) -> Derived.Paths {
        Derived.Paths(odataPath: path(to: Derived.typeName.description))
    }
}

/// What `$select` may name.
public protocol SelectablePath: Sendable {
    /// The path from where the query starts.
    var odataPath: String { get }
}

/// What `$expand` may name.
public protocol ExpandablePath: SelectablePath {
    /// The type of the related entities.
    associatedtype Target: TypedEntity
}

/// A property with a single value.
public struct PropertyPath<Value: ODataValueConvertible & Sendable>: TypedExpression, SelectablePath {
    /// The path from where the query starts.
    public let odataPath: String

    /// Names a property.
    public init(_ paths: some TypedPaths, _ name: String) { odataPath = paths.path(to: name) }

    /// The path as part of a query.
    public var query: QueryExpression { .property(odataPath) }
}

/// A complex property; its own properties are reached through it.
@dynamicMemberLookup
public struct ComplexPath<Complex: TypedStructure>: SelectablePath {
    /// The path from where the query starts.
    public let odataPath: String

    /// Names a property.
    public init(_ paths: some TypedPaths, _ name: String) { odataPath = paths.path(to: name) }

    /// A property of the complex value.
    public subscript<Path>(dynamicMember path: KeyPath<Complex.Paths, Path>) -> Path {
        Complex.Paths(odataPath: odataPath)[keyPath: path]
    }
}

/// A property with a collection of primitive or enumeration values.
public struct CollectionPath<Element: ODataValueConvertible & Sendable>: SelectablePath {
    /// The path from where the query starts.
    public let odataPath: String

    /// Names a property.
    public init(_ paths: some TypedPaths, _ name: String) { odataPath = paths.path(to: name) }
}

/// A property with a collection of complex values.
public struct ComplexCollectionPath<Complex: TypedStructure>: SelectablePath {
    /// The path from where the query starts.
    public let odataPath: String

    /// Names a property.
    public init(_ paths: some TypedPaths, _ name: String) { odataPath = paths.path(to: name) }
}

/// A navigation property that leads to one entity; that one's properties are reached through it.
@dynamicMemberLookup
public struct NavigationEntityPath<Target: TypedEntity>: ExpandablePath {
    /// The path from where the query starts.
    public let odataPath: String

    /// Names a property.
    public init(_ paths: some TypedPaths, _ name: String) { odataPath = paths.path(to: name) }

    /// A property of the related entity.
    public subscript<Path>(dynamicMember path: KeyPath<Target.Paths, Path>) -> Path {
        Target.Paths(odataPath: odataPath)[keyPath: path]
    }
}

/// A navigation property that leads to many entities.
public struct NavigationCollectionPath<Target: TypedEntity>: ExpandablePath {
    /// The path from where the query starts.
    public let odataPath: String

    /// Names a property.
    public init(_ paths: some TypedPaths, _ name: String) { odataPath = paths.path(to: name) }
}

/// A stream property (OData CSDL 4.01, 4.4 *Built-In Types*).
public struct StreamPath: SelectablePath {
    /// The path from where the query starts.
    public let odataPath: String

    /// Names a property.
    public init(_ paths: some TypedPaths, _ name: String) { odataPath = paths.path(to: name) }
}
