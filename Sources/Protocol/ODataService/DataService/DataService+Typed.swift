import ODataModel
import ODataQuery

extension DataService {
    /// Returns all entities of a type as values of a Swift type, following pages.
    ///
    /// ```swift
    /// let orders = try await service.fetch(Order.self)
    /// ```
    /// - Parameters:
    ///   - set: the entity set; optional if only one set holds the type.
    ///   - options: query options such as the filter and the order.
    /// - Throws: ``EntityError`` if a row lacks a property that the type reads, and the errors of the provider.
    public func fetch<Value: EntityRepresentable>(
        _ type: Value.Type, in set: String? = nil, _ options: QueryOptions = QueryOptions()
    ) async throws -> [Value] {
        let set = try await self.set(of: Value.typeName, named: set)
        return try await fetch(type, at: ODataURL(set: set, options: options))
    }

    /// Returns all entities at a URL as values of a Swift type, following pages.
    public func fetch<Value: EntityRepresentable>(_ type: Value.Type, at url: ODataURL) async throws -> [Value] {
        var values: [Value] = []
        for try await var page in pages(url) {
            var entities: [ODataEntity] = []
            swap(&entities, &page.entities)
            let read = try Value.odataInstances(of: consume entities)
            // Most collections have a single page.
            if values.isEmpty { values = read } else { values += read }
        }
        return values
    }

    /// Returns all entities that satisfy a query as values of a Swift type, following pages.
    ///
    /// ```swift
    /// let costly = try await service.fetch(Order.self, ResourceQuery("Orders").filter(.property("Freight") > 250))
    /// ```
    public func fetch<Value: EntityRepresentable>(_ type: Value.Type, _ query: ResourceQuery) async throws -> [Value] {
        try await fetch(type, at: query.url)
    }

    /// Returns the first entity that satisfies a query as a value of a Swift type; `nil` if there is none.
    public func first<Value: EntityRepresentable>(_ type: Value.Type, _ query: ResourceQuery) async throws -> Value? {
        try await first(query.url).map { try Value(row: $0) }
    }

    /// Returns the entity with a key as a value of a Swift type; `nil` if there is none.
    public func fetch<Value: EntityRepresentable>(
        _ type: Value.Type, key: EntityKey, in set: String? = nil
    ) async throws -> Value? {
        let set = try await self.set(of: Value.typeName, named: set)
        return try await entity(set, key: key).map { try Value(row: $0) }
    }

    /// Creates an entity from a value of a Swift type.
    ///
    /// - Returns: the server version of the entity.
    @discardableResult
    public func create<Value: EntityRepresentable>(_ value: Value, in set: String? = nil) async throws -> Value {
        let created = try await create(try await entity(of: value), in: set)
        return try Value(row: created)
    }

    /// Sends all properties of a value as a change (PATCH), because a Swift type does not track its changes.
    ///
    /// To send only changed properties, read and change an ``ODataEntity``.
    ///
    /// - Parameters:
    ///   - ifMatch: the ETag that the entity must still have; `nil` changes any version.
    ///   - set: the entity set; optional if only one set holds the type.
    /// - Returns: the entity after the change.
    @discardableResult
    public func update<Value: EntityRepresentable>(
        _ value: Value, ifMatch: String? = nil, in set: String? = nil
    ) async throws -> Value {
        var entity = try await entity(of: value)
        entity.control.etag = ifMatch
        let set = try await self.set(of: Value.typeName, named: set)
        var changes = entity
        // The key is in the URL, and services may refuse it in the body of a change.
        for ordinal in entity.shape.keyOrdinals { changes.values[ordinal] = nil }
        var request = try await request(.update, entity, in: set)
        request.body = .entity(changes)
        request.ifMatch = ifMatch
        request.preferences.returns = .representation
        let response = try await answer(to: request)
        guard case .entity(let changed) = response.body else { return value }
        return try Value(row: changed)
    }

    /// Deletes the entity that a value represents.
    ///
    /// - Parameter ifMatch: the ETag that the entity must still have; `nil` deletes any version.
    public func delete<Value: EntityRepresentable>(
        _ value: Value, ifMatch: String? = nil, in set: String? = nil
    ) async throws {
        let entity = try await entity(of: value)
        let set = try await self.set(of: Value.typeName, named: set)
        guard let key = entity.key else { throw DataServiceError.notAddressable(type: Value.typeName) }
        try await delete(set, key: key, ifMatch: ifMatch)
    }

    /// Returns a dynamic entity with the properties that a value writes.
    public func entity<Value: EntityRepresentable>(of value: Value) async throws -> ODataEntity {
        guard let shape = try await provider.model.shape(Value.typeName) else {
            throw DataServiceError.ambiguousEntitySet(type: Value.typeName, candidates: [])
        }
        var entity = ODataEntity(shape: shape)
        try value.write(to: &entity)
        return entity
    }
}
