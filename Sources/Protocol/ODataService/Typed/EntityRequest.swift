import ODataModel
import ODataQuery

/// A request for one entity of a known type: by its key, a singleton, or the target of a navigation property.
///
/// Its properties are requests in turn, as in `northwind.orders.key(10248).customer.get()`.
///
/// ```swift
/// let alfreds = northwind.customers.key("ALFKI")
/// if let customer = try await alfreds.get() { show(customer.companyName as Any) }
/// ```
public struct EntityRequest<Element: TypedEntity>: TypedProjection, TypedResource, Sendable {
    /// The paths of the entity's properties.
    public typealias Paths = Element.Paths

    /// The service that sends the requests.
    public let odataService: DataService
    /// The query.
    public var query: ResourceQuery

    /// Creates a request for the entity at the end of a query's path.
    public init(_ service: DataService, _ query: ResourceQuery) {
        odataService = service
        self.query = query
    }

    /// Creates a request for a singleton (OData CSDL 4.01, 13.3).
    public init(_ service: DataService, singleton: String) {
        self.init(service, ResourceQuery(ODataURL(set: singleton)))
    }

    // MARK: Reading

    /// Returns the entity; `nil` if there is none.
    public func get() async throws -> Element? { try await odataService.entity(query).map { try Element(row: $0) } }

    /// Returns the value of one property; `nil` for null.
    public func value<Value>(_ path: KeyPath<Element.Paths, PropertyPath<Value>>) async throws -> Value? {
        try await navigate(path).get()
    }

    /// Returns a request for the same entity as one of a derived type.
    public func cast<Derived: TypedEntity>(_ type: Derived.Type) -> EntityRequest<Derived> {
        EntityRequest<Derived>(odataService, query.navigate(Derived.typeName.description))
    }

    // MARK: Changing

    /// Sends the changed properties of the entity (PATCH; OData Protocol 4.01, 11.4.3).
    ///
    /// If the ETag of the entity is known, the service refuses the change after a change by someone else. An entity
    /// without changes is not sent.
    ///
    /// - Parameter overwriting: whether the change is made even if someone else changed the entity.
    /// - Returns: the entity after the change.
    /// - Throws: ``ConflictError`` if someone else changed the entity.
    @discardableResult
    public func update(_ value: Element, overwriting: Bool = false) async throws -> Element {
        guard !value.changedProperties.isEmpty else { return value }
        let entity = try await odataService.localized(value)
        return try Element(row: try await odataService.update(entity, at: url, overwriting: overwriting))
    }

    /// Replaces the entity as a whole (PUT; OData Protocol 4.01, 11.4.4): missing properties get their defaults.
    ///
    /// - Parameter overwriting: whether the entity is replaced even if someone else changed it.
    @discardableResult
    public func replace(_ value: Element, overwriting: Bool = false) async throws -> Element {
        let entity = try await odataService.localized(value)
        return try Element(row: try await odataService.replace(entity, at: url, overwriting: overwriting))
    }

    /// Deletes the entity (OData Protocol 4.01, 11.4.5).
    ///
    /// - Parameter ifMatch: the ETag that the entity must still have; `nil` deletes any version.
    public func delete(ifMatch: String? = nil) async throws {
        _ = try await odataService.send(ODataRequest(.delete, url, ifMatch: ifMatch))
    }

    /// Adds an existing entity to a navigation collection (OData Protocol 4.01, 11.4.6.1).
    public func link<Target>(
        _ path: KeyPath<Element.Paths, NavigationCollectionPath<Target>>, to other: EntityRequest<Target>
    ) async throws {
        var links = property(Element.paths[keyPath: path].odataPath).url
        links.path.segments.append(.reference)
        _ = try await odataService.send(
            ODataRequest(.create, links, body: .reference(other.reference)))
    }

    /// Sets the related entity of a single-valued navigation property (OData Protocol 4.01, 11.4.6.3).
    public func link<Target>(
        _ path: KeyPath<Element.Paths, NavigationEntityPath<Target>>, to other: EntityRequest<Target>
    ) async throws {
        var links = property(Element.paths[keyPath: path].odataPath).url
        links.path.segments.append(.reference)
        _ = try await odataService.send(
            ODataRequest(.replace, links, body: .reference(other.reference)))
    }

    /// The URL without query options.
    var url: ODataURL { ODataURL(path: query.url.path) }

    /// The id of the entity: its URL without type casts.
    var reference: String {
        var path = query.url.path
        if path.segments.count > 1, case .name(let type, let key)? = path.segments.last, type.text.contains("."),
            case .name(let set, .none) = path.segments[path.segments.count - 2]
        {
            path.segments.removeLast(2)
            path.segments.append(.name(set, key))
        }
        return ODataURL(path: path).description
    }

    // MARK: Streams

    /// Returns the bytes of a stream property with their media type. The bytes are fetched on demand.
    public func stream(_ path: KeyPath<Element.Paths, StreamPath>) async throws -> (ByteStream, contentType: String) {
        try await odataService.media(property(Element.paths[keyPath: path].odataPath).url)
    }

    /// Sets the bytes of a stream property.
    public func setStream(
        _ path: KeyPath<Element.Paths, StreamPath>, _ bytes: ByteStream, contentType: String
    ) async throws {
        _ = try await odataService.send(
            ODataRequest(
                .replace, property(Element.paths[keyPath: path].odataPath).url,
                body: .media(bytes, contentType: contentType)))
    }
}

extension EntityRequest where Element: MediaEntity {
    /// Returns the bytes of the media entity with their media type (OData Protocol 4.01, 11.2.3). The bytes are
    /// fetched on demand.
    public func media() async throws -> (ByteStream, contentType: String) {
        var url = url
        url.path.segments.append(.value)
        return try await odataService.media(url)
    }

    /// Replaces the bytes of the media entity (OData Protocol 4.01, 11.4.7.2).
    public func setMedia(_ bytes: ByteStream, contentType: String, ifMatch: String? = nil) async throws {
        var url = url
        url.path.segments.append(.value)
        _ = try await odataService.send(
            ODataRequest(.replace, url, body: .media(bytes, contentType: contentType), ifMatch: ifMatch))
    }
}

extension TypedCollection where Element: MediaEntity {
    /// Creates a media entity from its bytes (OData Protocol 4.01, 11.4.7.1).
    ///
    /// - Returns: the server version of the entity. Set its properties with an update.
    public func create(media bytes: ByteStream, contentType: String) async throws -> Element {
        let request = ODataRequest(
            .create, ODataURL(path: query.url.path), body: .media(bytes, contentType: contentType),
            preferences: Preferences(returns: .representation))
        return try Element(row: try await odataService.created(request, from: ODataEntity(shape: Element.odataShape)))
    }
}
