import ODataModel
import ODataQuery

/// An entity or complex value of a service whose properties are requests in turn.
///
/// `northwind.orders.key(10248).customer` is again a resource. Nothing is read until a method such as
/// ``EntityRequest/get()`` is called.
@dynamicMemberLookup
public protocol TypedResource: Sendable {
    /// The paths of its properties.
    associatedtype Paths: TypedPaths
    /// The service that sends the requests.
    var odataService: DataService { get }
    /// The query.
    var query: ResourceQuery { get }
}

extension TypedResource {
    /// Returns the collection of related entities.
    public subscript<Target: TypedEntity>(
        dynamicMember path: KeyPath<Paths, NavigationCollectionPath<Target>>
    ) -> TypedCollection<Target> { navigate(path) }

    /// Returns a request for the related entity.
    public subscript<Target: TypedEntity>(
        dynamicMember path: KeyPath<Paths, NavigationEntityPath<Target>>
    ) -> EntityRequest<Target> { navigate(path) }

    /// Returns a request for a single-valued property.
    public subscript<Value>(dynamicMember path: KeyPath<Paths, PropertyPath<Value>>) -> ValueRequest<Value> {
        navigate(path)
    }

    /// Returns a request for a complex property.
    public subscript<Complex>(dynamicMember path: KeyPath<Paths, ComplexPath<Complex>>) -> ValueRequest<Complex> {
        navigate(path)
    }

    /// Returns a request for a collection of values.
    public subscript<Member>(
        dynamicMember path: KeyPath<Paths, CollectionPath<Member>>
    ) -> ValueCollectionRequest<Member> { navigate(path) }

    /// Returns a request for a collection of complex values.
    public subscript<Complex>(
        dynamicMember path: KeyPath<Paths, ComplexCollectionPath<Complex>>
    ) -> ValueCollectionRequest<Complex> { navigate(path) }

    // MARK: For names that the type has itself

    /// Returns the collection of related entities, for a property with the name of a member of this type.
    public func navigate<Target: TypedEntity>(
        _ path: KeyPath<Paths, NavigationCollectionPath<Target>>
    ) -> TypedCollection<Target> {
        TypedCollection(odataService, property(Self.path(path).odataPath))
    }

    /// Returns a request for the related entity, for a property with the name of a member of this type.
    public func navigate<Target: TypedEntity>(
        _ path: KeyPath<Paths, NavigationEntityPath<Target>>
    ) -> EntityRequest<Target> {
        EntityRequest<Target>(odataService, property(Self.path(path).odataPath))
    }

    /// Returns a request for a single-valued property with the name of a member of this type.
    public func navigate<Value>(_ path: KeyPath<Paths, PropertyPath<Value>>) -> ValueRequest<Value> {
        ValueRequest(odataService, property(Self.path(path).odataPath))
    }

    /// Returns a request for a complex property with the name of a member of this type.
    public func navigate<Complex>(_ path: KeyPath<Paths, ComplexPath<Complex>>) -> ValueRequest<Complex> {
        ValueRequest(odataService, property(Self.path(path).odataPath))
    }

    /// Returns a request for a collection of values with the name of a member of this type.
    public func navigate<Member>(_ path: KeyPath<Paths, CollectionPath<Member>>) -> ValueCollectionRequest<Member> {
        ValueCollectionRequest(odataService, property(Self.path(path).odataPath))
    }

    /// Returns a request for a collection of complex values with the name of a member of this type.
    public func navigate<Complex>(
        _ path: KeyPath<Paths, ComplexCollectionPath<Complex>>
    ) -> ValueCollectionRequest<Complex> {
        ValueCollectionRequest(odataService, property(Self.path(path).odataPath))
    }

    private static func path<Path>(_ path: KeyPath<Paths, Path>) -> Path { Paths(odataPath: "")[keyPath: path] }

    /// Returns the query for the resource at the end of a path below this one.
    func property(_ path: String) -> ResourceQuery {
        path.split(separator: "/").reduce(ResourceQuery(ODataURL(path: query.url.path))) { $0.navigate(String($1)) }
    }
}
