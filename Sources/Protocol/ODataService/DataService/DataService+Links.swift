import ODataModel
import ODataQuery

/// Reads and changes related entities and the links to them (OData Protocol 4.01, 11.2.7, 11.2.8 and 11.4.6).
extension DataService {
    /// Returns all entities that a navigation property leads to, following pages.
    ///
    /// - Parameter options: query options such as the filter and the order.
    public func related(
        _ navigation: String, of entity: ODataEntity, in set: String? = nil, _ options: QueryOptions = QueryOptions()
    ) async throws -> [ODataEntity] {
        var request = try await self.request(.read, entity, in: set, [navigation])
        request.url.options = options
        guard let property = entity.shape.navigationProperty(navigation) else {
            throw EntityError.unknownProperty(navigation, type: entity.shape.name)
        }
        guard property.isCollection else { return try await self.entity(request).map { [$0] } ?? [] }
        var all: [ODataEntity] = []
        for try await page in EntityPages(service: self, first: request) { all += page.entities }
        return all
    }

    /// Returns the same entity with related entities loaded, in one request with `$expand`.
    public func load(_ navigations: String..., of entity: ODataEntity, in set: String? = nil) async throws
        -> ODataEntity
    {
        var request = try await self.request(.read, entity, in: set)
        // Query options need a URL that was built here, because a link of the service is opaque.
        if request.link != nil {
            let name = try await self.set(of: entity.shape.name, named: set)
            guard let key = entity.key else { throw DataServiceError.notAddressable(type: entity.shape.name) }
            request = ODataRequest(.read, ODataURL(set: name, key: key, model: try await provider.model))
        }
        request.url.options.expand = navigations.map {
            ExpandItem(path: $0.split(separator: "/").map { Identifier(String($0)) })
        }
        guard let loaded = try await self.entity(request) else {
            throw ODataError.notFound(entity.shape.name.description)
        }
        return loaded
    }

    /// Returns the ids of the entities that a navigation property leads to (OData Protocol 4.01, 11.2.8).
    public func links(_ navigation: String, of entity: ODataEntity, in set: String? = nil) async throws -> [String] {
        let request = try await self.request(.read, entity, in: set, [navigation], reference: true)
        switch try await answer(to: request).body {
        case .references(let ids, _, _, _): return ids
        case .none: return []
        default: throw DataServiceError.unexpectedAnswer(expected: "references")
        }
    }

    /// Links two entities: adds to a collection (11.4.6.1), or sets a single-valued navigation property (11.4.6.3).
    ///
    /// - Throws: ``EntityError/unknownProperty(_:type:)``, ``DataServiceError/notAddressable(type:)``.
    public func link(
        _ navigation: String, of entity: ODataEntity, to target: ODataEntity, in set: String? = nil,
        targetSet: String? = nil
    ) async throws {
        guard let property = entity.shape.navigationProperty(navigation) else {
            throw EntityError.unknownProperty(navigation, type: entity.shape.name)
        }
        var request = try await self.request(
            property.isCollection ? .create : .replace, entity, in: set, [navigation], reference: true)
        request.body = .reference(try await reference(to: target, in: targetSet))
        _ = try await send(request)
    }

    /// Removes a link (OData Protocol 4.01, 11.4.6.2) without deleting either entity.
    ///
    /// - Parameter target: the entity to remove from a collection; `nil` for a single-valued property.
    public func unlink(
        _ navigation: String, of entity: ODataEntity, from target: ODataEntity? = nil, in set: String? = nil,
        targetSet: String? = nil
    ) async throws {
        var request = try await self.request(.delete, entity, in: set, [navigation], reference: true)
        if let target {
            let model = try await provider.model
            if model.version < .v4 {
                // V2 puts the key after the property: Orders(1)/$links/Items(2) (MS-ODATA, 2.2.7.4.3).
                guard let key = target.key, request.link == nil, request.url.path.segments.count > 1 else {
                    throw DataServiceError.notAddressable(type: target.shape.name)
                }
                let position = request.url.path.segments.count - 2
                request.url.path.segments[position] = .name(
                    Identifier(navigation), .key(KeyPredicate(key, shape: target.shape, model: model)))
            } else if let link = request.link {
                request.link = "\(link)?$id=\(QueryOptions.encodedID(try await reference(to: target, in: targetSet)))"
            } else {
                request.url.options.id = try await reference(to: target, in: targetSet)
            }
        }
        _ = try await send(request)
    }

    /// Sets the entities of a navigation property to exactly the given ones (OData Protocol 4.01, 11.4.6.3).
    public func setLinks(
        _ navigation: String, of entity: ODataEntity, to targets: [ODataEntity], in set: String? = nil,
        targetSet: String? = nil
    ) async throws {
        var request = try await self.request(.replace, entity, in: set, [navigation], reference: true)
        var ids: [String] = []
        for target in targets { ids.append(try await reference(to: target, in: targetSet)) }
        request.body = .references(ids)
        _ = try await send(request)
    }

    /// Returns a reference to an entity: its id, else its canonical URL relative to the service root.
    ///
    /// Assign the reference to `related` of a new or changed entity to link the two (OData Protocol 4.01,
    /// 11.4.2.1): `order.related["Customer"] = .references([try await service.reference(to: customer)])`.
    public func reference(to entity: ODataEntity, in set: String? = nil) async throws -> String {
        let request = try await self.request(.read, entity, in: set)
        return request.link ?? request.url.urlEncoded()
    }
}

extension QueryOptions {
    /// Returns an id as it is written in `$id`.
    static func encodedID(_ id: String) -> String {
        var options = QueryOptions()
        options.id = id
        return String(options.urlEncoded().dropFirst("$id=".count))
    }
}
