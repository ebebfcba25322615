import ODataModel
import ODataQuery

/// What properties lead on from: an entity or a complex value that a service holds.
///
/// `northwind.orders.key(10248).customer` is a resource again, whose properties lead on; nothing is read before it is
/// asked for.
@dynamicMemberLookup
public protocol TypedResource: Sendable {
    /// Its properties.
    associatedtype Paths: TypedPaths
    /// Who answers.
    var odataService: DataService { get }
    /// The query so far.
    var query: ResourceQuery { get }
}

extension TypedResource {
    /// The related entities.
    public subscript<Target: TypedEntity>(
        dynamicMember path: KeyPath<Paths, NavigationCollectionPath<Target>>
    ) -> TypedCollection<Target> { navigate(path) }

    /// The related entity.
    public subscript<Target: TypedEntity>(
        dynamicMember path: KeyPath<Paths, NavigationEntityPath<Target>>
    ) -> EntityRequest<Target> { navigate(path) }

    /// A property with a single value.
    public subscript<Value>(dynamicMember path: KeyPath<Paths, PropertyPath<Value>>) -> ValueRequest<Value> {
        navigate(path)
    }

    /// A complex property.
    public subscript<Complex>(dynamicMember path: KeyPath<Paths, ComplexPath<Complex>>) -> ValueRequest<Complex> {
        navigate(path)
    }

    /// A collection of values.
    public subscript<Member>(
        dynamicMember path: KeyPath<Paths, CollectionPath<Member>>
    ) -> ValueCollectionRequest<Member> { navigate(path) }

    /// A collection of complex values.
    public subscript<Complex>(
        dynamicMember path: KeyPath<Paths, ComplexCollectionPath<Complex>>
    ) -> ValueCollectionRequest<Complex> { navigate(path) }

    // MARK: For names that the type has itself

    /// The related entities; for names that this type has itself.
    public func navigate<Target: TypedEntity>(
        _ path: KeyPath<Paths, NavigationCollectionPath<Target>>
    ) -> TypedCollection<Target> {
        TypedCollection(odataService, property(Self.path(path).odataPath))
    }

    /// The related entity; for names that this type has itself.
    public func navigate<Target: TypedEntity>(
        _ path: KeyPath<Paths, NavigationEntityPath<Target>>
    ) -> EntityRequest<Target> {
        EntityRequest<Target>(odataService, property(Self.path(path).odataPath))
    }

    /// A property with a single value; for names that this type has itself.
    public func navigate<Value>(_ path: KeyPath<Paths, PropertyPath<Value>>) -> ValueRequest<Value> {
        ValueRequest(odataService, property(Self.path(path).odataPath))
    }

    /// A complex property; for names that this type has itself.
    public func navigate<Complex>(_ path: KeyPath<Paths, ComplexPath<Complex>>) -> ValueRequest<Complex> {
        ValueRequest(odataService, property(Self.path(path).odataPath))
    }

    /// A collection of values; for names that this type has itself.
    public func navigate<Member>(_ path: KeyPath<Paths, CollectionPath<Member>>) -> ValueCollectionRequest<Member> {
        ValueCollectionRequest(odataService, property(Self.path(path).odataPath))
    }

    /// A collection of complex values; for names that this type has itself.
    public func navigate<Complex>(
        _ path: KeyPath<Paths, ComplexCollectionPath<Complex>>
    ) -> ValueCollectionRequest<Complex> {
        ValueCollectionRequest(odataService, property(Self.path(path).odataPath))
    }

    private static func path<Path>(_ path: KeyPath<Paths, Path>) -> Path { Paths(odataPath: "")[keyPath: path] }

    /// The resource at the end of a path that begins here.
    func property(_ path: String) -> ResourceQuery {
        path.split(separator: "/").reduce(ResourceQuery(ODataURL(path: query.url.path))) { $0.navigate(String($1)) }
    }
}
