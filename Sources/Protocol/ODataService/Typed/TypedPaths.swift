import ODataModel
import ODataQuery

/// The properties of a type for use in queries: `\.customer.country` is a key path into it.
///
/// Each generated type has one, named `Paths`. It holds no values, only the path from the start of the query.
public protocol TypedPaths: Sendable {
    /// The path; empty at the start of the query.
    var odataPath: String { get }
    /// Creates the paths below a path.
    init(odataPath: String)
}

extension TypedPaths {
    /// Returns the path of a property.
    func path(to name: String) -> String { odataPath.isEmpty ? name : "\(odataPath)/\(name)" }

    /// Returns the paths of a derived type, as in `$0.cast(Employee.self).cost`.
    public func cast<Derived: TypedStructure>(_ type: Derived.Type) -> Derived.Paths {
        Derived.Paths(odataPath: path(to: Derived.typeName.description))
    }
}

/// A path that `$select` can name.
public protocol SelectablePath: Sendable {
    /// The path, relative to the start of the query.
    var odataPath: String { get }
}

/// A path that `$expand` can name.
public protocol ExpandablePath: SelectablePath {
    /// The type of the related entities.
    associatedtype Target: TypedEntity
}

/// The path of a property with a single value.
public struct PropertyPath<Value: ODataValueConvertible & Sendable>: TypedExpression, SelectablePath {
    /// The path, relative to the start of the query.
    public let odataPath: String

    /// Creates the path of a property.
    public init(_ paths: some TypedPaths, _ name: String) { odataPath = paths.path(to: name) }

    /// The path as an untyped expression.
    public var query: QueryExpression { .property(odataPath) }
}

/// The path of a complex property, through which its own properties are accessible.
@dynamicMemberLookup
public struct ComplexPath<Complex: TypedStructure>: SelectablePath {
    /// The path, relative to the start of the query.
    public let odataPath: String

    /// Creates the path of a property.
    public init(_ paths: some TypedPaths, _ name: String) { odataPath = paths.path(to: name) }

    /// Returns the path of a property of the complex value.
    public subscript<Path>(dynamicMember path: KeyPath<Complex.Paths, Path>) -> Path {
        Complex.Paths(odataPath: odataPath)[keyPath: path]
    }
}

/// The path of a property with a collection of primitive or enumeration values.
public struct CollectionPath<Element: ODataValueConvertible & Sendable>: SelectablePath {
    /// The path, relative to the start of the query.
    public let odataPath: String

    /// Creates the path of a property.
    public init(_ paths: some TypedPaths, _ name: String) { odataPath = paths.path(to: name) }
}

/// The path of a property with a collection of complex values.
public struct ComplexCollectionPath<Complex: TypedStructure>: SelectablePath {
    /// The path, relative to the start of the query.
    public let odataPath: String

    /// Creates the path of a property.
    public init(_ paths: some TypedPaths, _ name: String) { odataPath = paths.path(to: name) }
}

/// The path of a navigation property to one entity, through which the properties of that entity are accessible.
@dynamicMemberLookup
public struct NavigationEntityPath<Target: TypedEntity>: ExpandablePath {
    /// The path, relative to the start of the query.
    public let odataPath: String

    /// Creates the path of a property.
    public init(_ paths: some TypedPaths, _ name: String) { odataPath = paths.path(to: name) }

    /// Returns the path of a property of the related entity.
    public subscript<Path>(dynamicMember path: KeyPath<Target.Paths, Path>) -> Path {
        Target.Paths(odataPath: odataPath)[keyPath: path]
    }
}

/// The path of a navigation property to a collection of entities.
public struct NavigationCollectionPath<Target: TypedEntity>: ExpandablePath {
    /// The path, relative to the start of the query.
    public let odataPath: String

    /// Creates the path of a property.
    public init(_ paths: some TypedPaths, _ name: String) { odataPath = paths.path(to: name) }
}

/// The path of a stream property (OData CSDL 4.01, 4.4 *Built-In Types*).
public struct StreamPath: SelectablePath {
    /// The path, relative to the start of the query.
    public let odataPath: String

    /// Creates the path of a property.
    public init(_ paths: some TypedPaths, _ name: String) { odataPath = paths.path(to: name) }
}
