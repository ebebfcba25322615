import ODataModel
import ODataQuery
import ODataService
import OfflineOData

/// The objects of a type that satisfy a query over the local database.
///
/// ```swift
/// let north = crm.customers.filter(\.region == "North").orderBy(\.lastName)
/// for customer in try await north.page(skip: 0, take: 50) { print(customer.lastName) }
/// ```
public struct ObjectSet<Element: BusinessObject>: TypedQuery, Sendable {
    /// The query.
    public var query: ResourceQuery
    private let database: PackageDatabase<Element.Package>
    /// The error of a query in generated code that was edited.
    private var failure: ObjectError?

    /// Creates the set of all objects of the type.
    public init(_ database: PackageDatabase<Element.Package>) {
        self.database = database
        query = ResourceQuery(ODataURL(set: Element.objectType.entitySet))
    }

    /// Creates the set of the objects in an entity set, for a type with several sets.
    public init(_ database: PackageDatabase<Element.Package>, entitySet: String) {
        self.database = database
        query = ResourceQuery(ODataURL(set: entitySet))
    }

    // MARK: Reading

    /// Returns all objects.
    ///
    /// - Throws: ``ObjectError/attributeMissing(type:attribute:)`` for a row that lacks an attribute; `ODataError`.
    public func all() async throws -> [Element] { try await collection().all() }

    /// Returns the first object; `nil` if there is none.
    public func first() async throws -> Element? { try await collection().first() }

    /// Returns the number of objects.
    public func count() async throws -> Int64 { try await collection().count() }

    /// Returns a range of the objects.
    ///
    /// - Parameters:
    ///   - skip: the number of objects before the range, 0 or more.
    ///   - take: the number of objects in the range at most, 0 or more.
    public func page(skip: Int, take: Int) async throws -> [Element] {
        try await self.skip(skip).top(take).collection().all()
    }

    /// Returns the objects one after the other. Only one page is held at a time.
    public func rows() throws -> AsyncThrowingMapSequence<EntityRows, Element> { try collection().rows() }

    /// Returns the objects now and whenever the database changes.
    public func observe() -> AsyncThrowingStream<[Element], any Error> {
        AsyncThrowingStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
            let task = Task {
                do {
                    for try await _ in database.store.observe.results(of: try collection().query.url) {
                        continuation.yield(try await all())
                    }
                    continuation.finish()
                } catch {
                    continuation.finish(throwing: error)
                }
            }
            continuation.onTermination = { _ in task.cancel() }
        }
    }

    // MARK: For generated finders

    /// Returns the objects of an object query.
    ///
    /// - Parameters:
    ///   - text: query options with parameters after `@`.
    ///   - arguments: the values of the parameters.
    public func query(_ text: String, _ arguments: [QueryArgument]) -> Self {
        var result = self
        do {
            var url = try ODataURL(parsing: "\(query.url)?\(text)")
            for argument in arguments {
                url.options.aliases[argument.name] = QueryExpression.value(argument.value).expression
            }
            result.query = ResourceQuery(url)
        } catch {
            result.failure = .invalidQuery("\(error)")
        }
        return result
    }

    /// Returns the object with a key; `nil` if there is none.
    public func find(parts: [QueryArgument]) async throws -> Element? {
        let key = EntityKey(parts.map { EntityKey.Part(name: $0.name, value: $0.value) })
        return try await collection().key(key).get()
    }

    /// Returns the object with a key.
    ///
    /// - Throws: ``ObjectError/objectNotFound(type:object:)``.
    public func load(parts: [QueryArgument]) async throws -> Element {
        if let object = try await find(parts: parts) { return object }
        let key = EntityKey(parts.map { EntityKey.Part(name: $0.name, value: $0.value) })
        throw ObjectError.objectNotFound(
            type: Element.typeName,
            object: ODataURL(set: Element.objectType.entitySet, key: key, model: Element.odataModel).description)
    }

    private func collection() throws -> TypedCollection<Element> {
        if let failure { throw failure }
        return TypedCollection(database.service, query)
    }
}

/// The value of a parameter of an object query, or of a part of a key.
public struct QueryArgument: Hashable, Sendable {
    /// The name.
    public var name: String
    /// The value.
    public var value: ODataValue

    /// Creates an argument; `nil` stands for null.
    public init(_ name: String, _ value: (some ODataValueConvertible)?) {
        self.name = name
        self.value = value?.odataValue ?? .null
    }
}
