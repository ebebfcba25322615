import ODataModel
import ODataQuery

/// One entity of a known type that a service holds: by its key, a singleton, or what a navigation property leads to.
///
/// Its properties lead on, as in `northwind.orders.key(10248).customer.get()`.
public struct EntityRequest<Element: TypedEntity>: TypedProjection, TypedResource, Sendable {
    /// What leads on from it.
    public typealias Paths = Element.Paths

    /// Who answers.
    public let odataService: DataService
    /// The query so far.
    public var query: ResourceQuery

    /// The entity at the end of a query's path.
    public init(_ service: DataService, _ query: ResourceQuery) {
        odataService = service
        self.query = query
    }

    /// A singleton (OData CSDL 4.01, 13.3).
    public init(_ service: DataService, singleton: String) {
        self.init(service, ResourceQuery(ODataURL(set: singleton)))
    }

    // MARK: Reading

    /// The entity; `nil` when there is none.
    public func get() async throws -> Element? { try await odataService.entity(query).map { try Element(row: $0) } }

    /// The value of one property; `nil` for null.
    public func value<Value>(_ path: KeyPath<Element.Paths, PropertyPath<Value>>) async throws -> Value? {
        try await navigate(path).get()
    }

    /// The same entity as one of a derived type.
    public func cast<Derived: TypedEntity>(_ type: Derived.Type) -> EntityRequest<Derived> {
        EntityRequest<Derived>(odataService, query.navigate(Derived.typeName.description))
    }

    // MARK: Changing

    /// Sends what changed of the entity (PATCH; OData Protocol 4.01, 11.4.3), on condition that nobody else changed
    /// it where its ETag is known. Without changes nothing is sent.
    ///
    /// - Parameter overwriting: whether the change is made even if somebody else changed the entity.
    /// - Returns: the entity as it is now.
    /// - Throws: ``ODataError`` with status 412 when somebody else changed it.
    @discardableResult
    public func update(_ value: Element, overwriting: Bool = false) async throws -> Element {
        guard !value.changedProperties.isEmpty else { return value }
        let entity = try await odataService.localized(value)
        return try Element(row: try await odataService.update(entity, at: url, overwriting: overwriting))
    }

    /// Replaces the entity as a whole (PUT; OData Protocol 4.01, 11.4.4): what it lacks gets its default.
    ///
    /// - Parameter overwriting: whether it is replaced even if somebody else changed it.
    @discardableResult
    public func replace(_ value: Element, overwriting: Bool = false) async throws -> Element {
        let entity = try await odataService.localized(value)
        return try Element(row: try await odataService.replace(entity, at: url, overwriting: overwriting))
    }

    /// Deletes the entity (OData Protocol 4.01, 11.4.5).
    ///
    /// - Parameter ifMatch: the ETag that must still hold; none deletes whatever is there.
    public func delete(ifMatch: String? = nil) async throws {
        _ = try await odataService.send(ODataRequest(.delete, url, ifMatch: ifMatch))
    }

    /// Relates another entity that exists (OData Protocol 4.01, 11.4.6.1).
    public func link<Target>(
        _ path: KeyPath<Element.Paths, NavigationCollectionPath<Target>>, to other: EntityRequest<Target>
    ) async throws {
        var links = property(Element.paths[keyPath: path].odataPath).url
        links.path.segments.append(.reference)
        _ = try await odataService.send(
            ODataRequest(.create, links, body: .reference(other.reference)))
    }

    /// Relates the only entity that a property leads to (OData Protocol 4.01, 11.4.6.3).
    public func link<Target>(
        _ path: KeyPath<Element.Paths, NavigationEntityPath<Target>>, to other: EntityRequest<Target>
    ) async throws {
        var links = property(Element.paths[keyPath: path].odataPath).url
        links.path.segments.append(.reference)
        _ = try await odataService.send(
            ODataRequest(.replace, links, body: .reference(other.reference)))
    }

    /// The path alone.
    var url: ODataURL { ODataURL(path: query.url.path) }

    /// The id of the entity: its address without the type that it was looked at as.
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

    /// The bytes of a stream property with their media type, pulled as they are read.
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
    /// The bytes of the media entity with their media type, pulled as they are read (OData Protocol 4.01, 11.2.3).
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
    /// - Returns: the entity as the service has it; its properties are changed by an update.
    public func create(media bytes: ByteStream, contentType: String) async throws -> Element {
        let request = ODataRequest(
            .create, ODataURL(path: query.url.path), body: .media(bytes, contentType: contentType),
            preferences: Preferences(returns: .representation))
        return try Element(row: try await odataService.created(request, from: ODataEntity(shape: Element.odataShape)))
    }
}
