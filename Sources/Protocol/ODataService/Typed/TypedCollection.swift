import ODataModel
import ODataQuery

/// A collection of entities of one type with a query: a set, the target of a navigation property, or the result of
/// a function.
///
/// It reads and writes values of the Swift type, over any provider, online or offline.
///
/// ```swift
/// let northwind = NorthwindService(store)
/// let orders = try await northwind.orders.filter(\.freight > 50).expand(\.customer).top(10).all()
/// ```
public struct TypedCollection<Element: TypedEntity>: TypedQuery, Sendable {
    /// The service that sends the requests.
    public let odataService: DataService
    /// The query.
    public var query: ResourceQuery

    /// Creates the collection at the end of a query's path.
    public init(_ service: DataService, _ query: ResourceQuery) {
        odataService = service
        self.query = query
    }

    /// Creates the collection of an entity set.
    public init(_ service: DataService, set: String) { self.init(service, ResourceQuery(ODataURL(set: set))) }

    // MARK: Reading

    /// Returns all entities, following pages.
    public func all() async throws -> [Element] { try await odataService.fetch(Element.self, query) }

    /// Returns the first entity; `nil` if there is none. Requests one entity only.
    public func first() async throws -> Element? { try await odataService.first(Element.self, query) }

    /// Returns the number of entities that satisfy the filter and search.
    public func count() async throws -> Int64 { try await odataService.count(query) }

    /// Returns the entities one after the other. Only one page is held at a time.
    ///
    /// ```swift
    /// for try await order in northwind.orders.rows() { show(order) }
    /// ```
    public func rows(preferences: Preferences = Preferences()) -> AsyncThrowingMapSequence<EntityRows, Element> {
        odataService.pages(query, preferences: preferences).entities.map { try Element(row: $0) }
    }

    /// Returns the pages, each of which is read on demand. The last one has the delta link if changes are tracked.
    public func pages(
        preferences: Preferences = Preferences()
    ) -> AsyncThrowingMapSequence<EntityPages, TypedPage<Element>> {
        odataService.pages(query, preferences: preferences).map { try TypedPage($0) }
    }

    /// Returns the changes since a delta link (OData Protocol 4.01, 11.3).
    public func changes(since deltaLink: String) -> AsyncThrowingMapSequence<EntityPages, TypedPage<Element>> {
        odataService.changes(since: deltaLink).map { try TypedPage($0) }
    }

    // MARK: Addressing

    /// Returns a request for the entity with a key. Generated code has a variant with the names and types of the
    /// key properties.
    public func key(_ key: EntityKey) -> EntityRequest<Element> {
        EntityRequest(odataService, query.addressing(key, of: Element.self))
    }

    /// Returns the entities that are of a derived type (OData URL Conventions 4.01, 4.11).
    public func cast<Derived: TypedEntity>(_ type: Derived.Type) -> TypedCollection<Derived> {
        TypedCollection<Derived>(odataService, query.navigate(Derived.typeName.description))
    }

    // MARK: Changing

    /// Creates an entity and the related entities that it contains (OData Protocol 4.01, 11.4.2).
    ///
    /// - Returns: the server version of the entity.
    @discardableResult
    public func create(_ value: Element) async throws -> Element {
        let entity = try await odataService.localized(value)
        return try Element(row: try await odataService.create(entity, at: ODataURL(path: query.url.path)))
    }

    /// Sends the changed properties of an entity; see ``EntityRequest/update(_:overwriting:)``.
    @discardableResult
    public func update(_ value: Element, overwriting: Bool = false) async throws -> Element {
        try await key(of: value).update(value, overwriting: overwriting)
    }

    /// Replaces an entity as a whole; see ``EntityRequest/replace(_:overwriting:)``.
    @discardableResult
    public func replace(_ value: Element, overwriting: Bool = false) async throws -> Element {
        try await key(of: value).replace(value, overwriting: overwriting)
    }

    /// Deletes an entity, unless its ETag is known and outdated.
    public func delete(_ value: Element, overwriting: Bool = false) async throws {
        try await key(of: value).delete(ifMatch: overwriting ? nil : value.odataETag)
    }

    private func key(of value: Element) throws -> EntityRequest<Element> {
        guard let key = value.odataKey else { throw DataServiceError.notAddressable(type: Element.typeName) }
        return self.key(key)
    }
}

/// A page of entities of one type.
///
/// ```swift
/// for try await page in northwind.orders.pages() { show(page.values.count, page.deltaLink ?? "") }
/// ```
public struct TypedPage<Element: TypedEntity>: Sendable {
    /// The entities; in a delta, the new and changed ones.
    public var values: [Element]
    /// The removed entities of a delta.
    public var removed: [RemovedEntity]
    /// The total number of entities, if it was requested.
    public var count: Int64?
    /// The delta link, at which later changes are read.
    public var deltaLink: String?

    init(_ page: EntityPage) throws {
        values = try page.entities.map { try Element(row: $0) }
        removed = page.removed
        count = page.count
        deltaLink = page.deltaLink
    }
}

extension ResourceQuery {
    /// Returns the query for the entity with a key in this collection, without options that apply only to
    /// collections.
    func addressing<Element: TypedEntity>(_ key: EntityKey, of type: Element.Type) -> ResourceQuery {
        var options = QueryOptions()
        options.select = url.options.select
        options.expand = url.options.expand
        var path = url.path
        let predicate = KeyPredicate(key, shape: Element.odataShape, model: Element.odataModel)
        if case .name(let name, .none)? = path.segments.last {
            path.segments[path.segments.count - 1] = .name(name, .key(predicate))
        } else {
            path.segments.append(.key(predicate))
        }
        return ResourceQuery(ODataURL(path: path, options: options))
    }
}
