import ODataModel
import ODataQuery

/// Entities of one type that a service holds: a set, what a navigation property leads to, or the result of a
/// function, with a query.
///
/// Over any provider, online or offline, it reads and writes values of the Swift type.
///
/// ```swift
/// let northwind = NorthwindService(store)
/// let orders = try await northwind.orders.filter(\.freight > 50).expand(\.customer).top(10).all()
/// ```
public struct TypedCollection<Element: TypedEntity>: TypedQuery, Sendable {
    /// Who answers.
    public let odataService: DataService
    /// The query so far.
    public var query: ResourceQuery

    /// A collection at the end of a query's path.
    public init(_ service: DataService, _ query: ResourceQuery) {
        odataService = service
        self.query = query
    }

    /// An entity set.
    public init(_ service: DataService, set: String) { self.init(service, ResourceQuery(ODataURL(set: set))) }

    // MARK: Reading

    /// All entities, following pages.
    public func all() async throws -> [Element] { try await odataService.fetch(Element.self, query) }

    /// The first entity; `nil` when there is none. Asks for no more than one.
    public func first() async throws -> Element? { try await odataService.first(Element.self, query) }

    /// The number of entities that satisfy the filter and search.
    public func count() async throws -> Int64 { try await odataService.count(query) }

    /// The entities one after the other, holding one page at a time.
    ///
    /// ```swift
    /// for try await order in northwind.orders.rows() { show(order) }
    /// ```
    public func rows(preferences: Preferences = Preferences()) -> AsyncThrowingMapSequence<EntityRows, Element> {
        odataService.pages(query, preferences: preferences).entities.map { try Element(row: $0) }
    }

    /// The pages, each read when it is asked for. The last one has the delta link, if changes are tracked.
    public func pages(
        preferences: Preferences = Preferences()
    ) -> AsyncThrowingMapSequence<EntityPages, TypedPage<Element>> {
        odataService.pages(query, preferences: preferences).map { try TypedPage($0) }
    }

    /// What changed since a delta link was given (OData Protocol 4.01, 11.3).
    public func changes(since deltaLink: String) -> AsyncThrowingMapSequence<EntityPages, TypedPage<Element>> {
        odataService.changes(since: deltaLink).map { try TypedPage($0) }
    }

    // MARK: Addressing

    /// The entity with a key. Generated code has a method that names the parts and their types.
    public func key(_ key: EntityKey) -> EntityRequest<Element> {
        EntityRequest(odataService, query.addressing(key, of: Element.self))
    }

    /// Those that are of a derived type (OData URL Conventions 4.01, 4.11).
    public func cast<Derived: TypedEntity>(_ type: Derived.Type) -> TypedCollection<Derived> {
        TypedCollection<Derived>(odataService, query.navigate(Derived.typeName.description))
    }

    // MARK: Changing

    /// Creates an entity (OData Protocol 4.01, 11.4.2), with the related ones that stand in it.
    ///
    /// - Returns: the entity as the service has it.
    @discardableResult
    public func create(_ value: Element) async throws -> Element {
        let entity = try await odataService.localized(value)
        return try Element(row: try await odataService.create(entity, at: ODataURL(path: query.url.path)))
    }

    /// Sends what changed of an entity; see ``EntityRequest/update(_:overwriting:)``.
    @discardableResult
    public func update(_ value: Element, overwriting: Bool = false) async throws -> Element {
        try await key(of: value).update(value, overwriting: overwriting)
    }

    /// Replaces an entity as a whole; see ``EntityRequest/replace(_:overwriting:)``.
    @discardableResult
    public func replace(_ value: Element, overwriting: Bool = false) async throws -> Element {
        try await key(of: value).replace(value, overwriting: overwriting)
    }

    /// Deletes an entity, on condition that nobody changed it where its ETag is known.
    public func delete(_ value: Element, overwriting: Bool = false) async throws {
        try await key(of: value).delete(ifMatch: overwriting ? nil : value.odataETag)
    }

    private func key(of value: Element) throws -> EntityRequest<Element> {
        guard let key = value.odataKey else { throw DataServiceError.notAddressable(type: Element.typeName) }
        return self.key(key)
    }
}

/// A page of entities of one type.
public struct TypedPage<Element: TypedEntity>: Sendable {
    /// The entities, new and changed ones in a delta.
    public var values: [Element]
    /// The entities that a delta says are gone.
    public var removed: [RemovedEntity]
    /// The total number, where it was asked for.
    public var count: Int64?
    /// The link to what changes from now on.
    public var deltaLink: String?

    init(_ page: EntityPage) throws {
        values = try page.entities.map { try Element(row: $0) }
        removed = page.removed
        count = page.count
        deltaLink = page.deltaLink
    }
}

extension ResourceQuery {
    /// The entity with a key in this collection; options that are for collections alone go.
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
