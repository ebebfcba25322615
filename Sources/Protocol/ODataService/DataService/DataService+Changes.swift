import ODataModel
import ODataQuery

extension DataService {
    /// Creates an entity (OData Protocol 4.01, 11.4.2).
    ///
    /// - Parameter set: the entity set; optional if only one set holds the type.
    /// - Returns: the server version of the entity, which is read if the response does not contain it. If it cannot
    ///   be read, the sent entity is returned, because it was created nevertheless.
    /// - Throws: ``DataServiceError/answeredLater(location:)`` if the service creates the entity asynchronously.
    @discardableResult
    public func create(_ entity: ODataEntity, in set: String? = nil) async throws -> ODataEntity {
        let set = try await self.set(of: entity.shape.name, named: set)
        return try await create(entity, at: ODataURL(set: set))
    }

    /// Creates an entity in the collection at a URL: a set, or a contained or related collection.
    @discardableResult
    public func create(_ entity: ODataEntity, at url: ODataURL) async throws -> ODataEntity {
        let request = ODataRequest(
            .create, url, body: .entity(entity), preferences: Preferences(returns: .representation))
        return try await created(request, from: entity)
    }

    /// Sends a creation and returns the created entity, which is read if the response does not contain it.
    func created(_ request: ODataRequest, from entity: ODataEntity) async throws -> ODataEntity {
        await created(entity, try await answer(to: request))
    }

    /// Returns the created entity: the body of the response, else the entity at its location, else the sent entity.
    func created(_ entity: ODataEntity, _ response: ODataResponse) async -> ODataEntity {
        if let created = response.entity { return created }
        guard defaults.returns == .representation, let link = response.entityID ?? response.location else {
            return settled(entity, response)
        }
        return await readBack(ODataRequest(following: link)) ?? settled(entity, response)
    }

    /// Reads the entity after a change; returns `nil` if it cannot be read.
    ///
    /// An error must not be thrown here: the change was made, and a caller that gets an error would repeat it.
    private func readBack(_ request: ODataRequest) async -> ODataEntity? { try? await entity(request) }

    /// Sends the changed properties of an entity (PATCH; OData Protocol 4.01, 11.4.3).
    ///
    /// If the ETag of the entity is known, the service refuses the change after a change by someone else. An entity
    /// without changes is returned as it is, without a request.
    /// - Parameters:
    ///   - set: the entity set; optional if the entity has an edit link or only one set holds its type.
    ///   - overwriting: whether the change is made even if someone else changed the entity.
    ///   - readingConflict: whether a conflict reads the server version into ``ConflictError/currentEntity``.
    ///   - sendingEmpty: whether an entity without changes is sent too, so that the service can update its ETag.
    /// - Returns: the entity after the change. If the response has neither the entity nor a new ETag, the entity is
    ///   read. If it cannot be read, it keeps its previous ETag, so that the next change is refused instead of
    ///   overwriting another one.
    /// - Throws: ``ConflictError`` if someone else changed the entity,
    ///   ``DataServiceError/answeredLater(location:)`` if the service makes the change asynchronously.
    @discardableResult
    public func update(
        _ entity: ODataEntity, in set: String? = nil, overwriting: Bool = false, readingConflict: Bool = false,
        sendingEmpty: Bool = false
    ) async throws -> ODataEntity {
        guard sendingEmpty || !entity.changedProperties.isEmpty else { return entity }
        return try await change(
            entity, try await self.request(.update, entity, in: set), overwriting, readingConflict)
    }

    /// Sends the changed properties of the entity at a URL; see
    /// ``update(_:in:overwriting:readingConflict:sendingEmpty:)``.
    @discardableResult
    public func update(_ entity: ODataEntity, at url: ODataURL, overwriting: Bool = false) async throws -> ODataEntity {
        guard !entity.changedProperties.isEmpty else { return entity }
        return try await change(entity, ODataRequest(.update, url), overwriting)
    }

    /// Changes an entity together with its loaded related entities (OData Protocol 4.01, 11.4.3.1 *Update Related
    /// Entities When Updating an Entity*).
    ///
    /// Only the changed properties of each entity are sent. The service must support OData 4.01.
    ///
    /// - Parameter navigations: the navigation properties to send. A collection is replaced: entities that are
    ///   missing from it are unlinked.
    @discardableResult
    public func update(
        _ entity: ODataEntity, withRelated navigations: [String], in set: String? = nil, overwriting: Bool = false
    ) async throws -> ODataEntity {
        var changes = entity.changes
        for name in navigations {
            guard let related = entity.related[name] else {
                throw EntityError.notLoaded(property: name, type: entity.shape.name)
            }
            changes.related[name] = related
        }
        var request = try await self.request(.update, entity, in: set)
        request.body = .entity(changes)
        return try await change(entity, request, overwriting, false)
    }

    /// Creates an entity with a key that the app assigned, or changes the existing entity with that key (OData
    /// Protocol 4.01, 11.4.4 *Upsert an Entity*).
    ///
    /// - Parameters:
    ///   - entity: all properties to set, including the key.
    ///   - onlyNew: whether an existing entity stays unchanged (`If-None-Match: *`). The refusal is a
    ///     ``ConflictError``.
    /// - Returns: the entity after the change, as ``update(_:in:overwriting:readingConflict:sendingEmpty:)`` does.
    /// - Throws: the errors of ``update(_:in:overwriting:readingConflict:sendingEmpty:)``.
    @discardableResult
    public func upsert(_ entity: ODataEntity, in set: String? = nil, onlyNew: Bool = false) async throws -> ODataEntity
    {
        let name = try await self.set(of: entity.shape.name, named: set)
        guard let key = entity.key else { throw DataServiceError.notAddressable(type: entity.shape.name) }
        var body = entity
        body.control = ControlInformation()
        body.control.type = entity.control.type
        // The key is in the URL.
        for ordinal in entity.shape.keyOrdinals { body.values[ordinal] = nil }
        var request = ODataRequest(
            .update, ODataURL(set: name, key: key, model: try await provider.model), body: .entity(body))
        request.preferences.returns = .representation
        if onlyNew { request.ifNoneMatch = "*" }
        let response = try await ConflictError.detected(entity, request) { try await answer(to: request) }
        return await changed(entity, request, response)
    }

    /// Replaces an entity as a whole (PUT; OData Protocol 4.01, 11.4.4): missing properties get their defaults.
    ///
    /// - Parameters:
    ///   - set: the entity set, as for ``update(_:in:overwriting:readingConflict:sendingEmpty:)``.
    ///   - overwriting: whether the entity is replaced even if someone else changed it.
    ///   - readingConflict: as for ``update(_:in:overwriting:readingConflict:sendingEmpty:)``.
    /// - Throws: ``ConflictError`` if someone else changed the entity.
    @discardableResult
    public func replace(
        _ entity: ODataEntity, in set: String? = nil, overwriting: Bool = false, readingConflict: Bool = false
    ) async throws -> ODataEntity {
        try await change(entity, try await self.request(.replace, entity, in: set), overwriting, readingConflict)
    }

    /// Replaces the entity at a URL as a whole; see ``replace(_:in:overwriting:readingConflict:)``.
    @discardableResult
    public func replace(_ entity: ODataEntity, at url: ODataURL, overwriting: Bool = false) async throws -> ODataEntity
    {
        try await change(entity, ODataRequest(.replace, url), overwriting)
    }

    /// Deletes an entity (OData Protocol 4.01, 11.4.5), unless its ETag is known and outdated.
    ///
    /// - Parameters:
    ///   - set: the entity set, as for ``update(_:in:overwriting:readingConflict:sendingEmpty:)``.
    ///   - overwriting: whether the entity is deleted even if someone else changed it.
    /// - Throws: ``ConflictError`` if someone else changed the entity.
    public func delete(_ entity: ODataEntity, in set: String? = nil, overwriting: Bool = false) async throws {
        var request = try await self.request(.delete, entity, in: set)
        request.ifMatch = condition(entity, overwriting)
        try await ConflictError.detected(entity, request) { _ = try await send(request) }
    }

    /// Deletes all entities that satisfy a query.
    ///
    /// The keys and ETags are read first. Then each entity is deleted, unless someone else has changed it since.
    ///
    /// - Returns: the number of deleted entities.
    /// - Throws: ``ConflictError`` at the first entity that was changed. The entities before it are deleted.
    @discardableResult
    public func delete(matching query: ResourceQuery) async throws -> Int {
        var url = query.url
        guard case .name(let set, _)? = url.path.segments.first,
            let shape = try await provider.model.shape(ofSet: set.text)
        else { throw DataServiceError.unexpectedAnswer(expected: "a collection of entities") }
        url.options.select = shape.key.map {
            SelectItem(.path($0.path.split(separator: "/").map { Identifier(String($0)) }))
        }
        var count = 0
        for entity in try await entities(url) {
            try await delete(entity, in: set.text)
            count += 1
        }
        return count
    }

    /// Deletes the entity with a key.
    ///
    /// - Parameter ifMatch: the ETag that the entity must still have; `nil` deletes any version.
    public func delete(_ set: String, key: EntityKey, ifMatch: String? = nil) async throws {
        let url = ODataURL(set: set, key: key, model: try await provider.model)
        _ = try await send(ODataRequest(.delete, url, ifMatch: ifMatch))
    }

    private func change(
        _ entity: ODataEntity, _ request: ODataRequest, _ overwriting: Bool, _ readingConflict: Bool = false
    ) async throws -> ODataEntity {
        var request = request
        if case .none = request.body {
            request.body = .entity(request.method == .update ? entity.changes : entity)
        }
        request.preferences.returns = .representation
        request.ifMatch = condition(entity, overwriting)
        let response: ODataResponse
        do {
            response = try await ConflictError.detected(entity, request) { [request] in
                try await answer(to: request)
            }
        } catch var conflict as ConflictError where readingConflict {
            conflict.currentEntity = try await conflict.current(self)
            throw conflict
        }
        return await changed(entity, request, response)
    }

    /// Returns the entity after a change: the body of the response, else the sent entity with its new ETag.
    private func changed(_ entity: ODataEntity, _ request: ODataRequest, _ response: ODataResponse) async -> ODataEntity
    {
        if let changed = response.entity { return changed }
        var settled = settled(entity, response)
        guard settled.control.etag == nil, let etag = entity.control.etag else { return settled }
        // Without an ETag, the next change would overwrite changes by others.
        var read = ODataRequest(.read, ODataURL(path: request.url.path))
        read.link = request.link
        if let current = await readBack(read) { return current }
        settled.control.etag = etag
        return settled
    }

    func condition(_ entity: ODataEntity, _ overwriting: Bool) -> String? {
        // Without a known ETag no condition is sent: a service without ETags would refuse "*".
        entity.control.etag.map { overwriting ? "*" : $0 }
    }

    /// Returns the sent entity with the ETag and id of a response that has no body.
    private func settled(_ entity: ODataEntity, _ response: ODataResponse) -> ODataEntity {
        var entity = entity
        entity.control.etag = response.etag
        if let id = response.entityID { entity.control.id = id }
        entity.markUnchanged()
        return entity
    }
}

extension ODataResponse {
    /// The entity in the body, with the ETag of the body or of the header.
    fileprivate var entity: ODataEntity? {
        guard case .entity(var entity) = body else { return nil }
        entity.control.etag = entity.control.etag ?? etag
        return entity
    }
}

extension ODataEntity {
    /// An entity of the same type with only the changed properties: the body of an update.
    public var changes: ODataEntity {
        var changes = ODataEntity(shape: shape)
        changes.control.type = control.type
        for name in changedProperties { changes[name] = self[name] }
        return changes
    }
}
