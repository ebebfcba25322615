import ODataModel
import ODataQuery

extension DataService {
    /// Creates an entity (OData Protocol 4.01, 11.4.2).
    ///
    /// - Parameter set: the set; may be left out where the type is in a single one.
    /// - Returns: the entity as the service has it, read again where the service does not return it; as it was sent where
    ///   it cannot be read, since it is created all the same.
    /// - Throws: ``DataServiceError/answeredLater(location:)`` where the service has not created it yet.
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

    /// What a request creates, read again where the answer does not hold it.
    func created(_ request: ODataRequest, from entity: ODataEntity) async throws -> ODataEntity {
        await created(entity, try await answer(to: request))
    }

    /// What a creation gave: the body, else what its address leads to, else what was sent.
    func created(_ entity: ODataEntity, _ response: ODataResponse) async -> ODataEntity {
        if let created = response.entity { return created }
        guard defaults.returns == .representation, let link = response.entityID ?? response.location else {
            return settled(entity, response)
        }
        return await readBack(ODataRequest(following: link)) ?? settled(entity, response)
    }

    /// The entity that a change was made of; `nil` where it cannot be read. The change was made all the same, and whoever
    /// got an error would make it twice.
    private func readBack(_ request: ODataRequest) async -> ODataEntity? { try? await entity(request) }

    /// Sends what changed of an entity (PATCH; OData Protocol 4.01, 11.4.3), on condition that nobody else
    /// changed it where its ETag is known.
    ///
    /// An entity without changes is returned as it is, and nothing is sent.
    /// - Parameters:
    ///   - set: the set; may be left out where the entity has an edit link or its type is in a single set.
    ///   - overwriting: whether the change is made even if somebody else changed the entity.
    ///   - readingConflict: whether the entity as the service has it is read when somebody else changed it, into
    ///     ``ConflictError/currentEntity``.
    ///   - sendingEmpty: whether an entity without changes is sent all the same, which touches it.
    /// - Returns: the entity as it is now. Where the service answers without it and without its new ETag, it is read again;
    ///   where that fails it keeps the ETag that it had, so that the next change is refused and overwrites nobody's.
    /// - Throws: ``ConflictError`` when somebody else changed it, ``DataServiceError/answeredLater(location:)`` where the
    ///   service has not changed it yet.
    @discardableResult
    public func update(
        _ entity: ODataEntity, in set: String? = nil, overwriting: Bool = false, readingConflict: Bool = false,
        sendingEmpty: Bool = false
    ) async throws -> ODataEntity {
        guard sendingEmpty || !entity.changedProperties.isEmpty else { return entity }
        return try await change(
            entity, try await self.request(.update, entity, in: set), overwriting, readingConflict)
    }

    /// Sends what changed of the entity at a URL, as
    /// ``update(_:in:overwriting:readingConflict:sendingEmpty:)`` does.
    @discardableResult
    public func update(_ entity: ODataEntity, at url: ODataURL, overwriting: Bool = false) async throws -> ODataEntity {
        guard !entity.changedProperties.isEmpty else { return entity }
        return try await change(entity, ODataRequest(.update, url), overwriting)
    }

    /// Changes an entity together with related ones: what changed of it, and the related entities that it has
    /// loaded, each with what changed (OData Protocol 4.01, 11.4.3.1 *Update Related Entities When Updating an
    /// Entity*). Only services of 4.01 do so.
    ///
    /// - Parameter navigations: the navigation properties whose entities go along. A collection is then exactly
    ///   what is sent: what is left out is unlinked.
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

    /// Creates an entity with a key that the app chose, or changes the one that has it (OData Protocol 4.01, 11.4.4
    /// *Upsert an Entity*).
    ///
    /// - Parameters:
    ///   - entity: all that is to be set, the key included.
    ///   - onlyNew: whether an entity that exists is left alone: `If-None-Match: *`. The refusal is a
    ///     ``ConflictError``.
    /// - Returns: the entity as it is now, as ``update(_:in:overwriting:readingConflict:sendingEmpty:)`` does.
    /// - Throws: as ``update(_:in:overwriting:readingConflict:sendingEmpty:)``.
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

    /// Replaces an entity as a whole (PUT; OData Protocol 4.01, 11.4.4): what it lacks gets its default.
    ///
    /// - Parameters:
    ///   - set: the set, as for ``update(_:in:overwriting:readingConflict:sendingEmpty:)``.
    ///   - overwriting: whether it is replaced even if somebody else changed it.
    ///   - readingConflict: as for ``update(_:in:overwriting:readingConflict:sendingEmpty:)``.
    /// - Throws: ``ConflictError`` when somebody else changed it.
    @discardableResult
    public func replace(
        _ entity: ODataEntity, in set: String? = nil, overwriting: Bool = false, readingConflict: Bool = false
    ) async throws -> ODataEntity {
        try await change(entity, try await self.request(.replace, entity, in: set), overwriting, readingConflict)
    }

    /// Replaces the entity at a URL as a whole, as ``replace(_:in:overwriting:readingConflict:)`` does.
    @discardableResult
    public func replace(_ entity: ODataEntity, at url: ODataURL, overwriting: Bool = false) async throws -> ODataEntity
    {
        try await change(entity, ODataRequest(.replace, url), overwriting)
    }

    /// Deletes an entity (OData Protocol 4.01, 11.4.5), on condition that nobody changed it.
    ///
    /// - Parameters:
    ///   - set: the set, as for ``update(_:in:overwriting:readingConflict:sendingEmpty:)``.
    ///   - overwriting: whether it is deleted even if somebody else changed it.
    /// - Throws: ``ConflictError`` when somebody changed it.
    public func delete(_ entity: ODataEntity, in set: String? = nil, overwriting: Bool = false) async throws {
        var request = try await self.request(.delete, entity, in: set)
        request.ifMatch = condition(entity, overwriting)
        try await ConflictError.detected(entity, request) { _ = try await send(request) }
    }

    /// Deletes all entities that satisfy a query, as many as there are when the query is answered: their keys and
    /// ETags are read, then each is deleted unless somebody changed it since.
    ///
    /// - Returns: how many were deleted.
    /// - Throws: ``ConflictError`` at the first that was changed; those before it are deleted.
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
    /// - Parameter ifMatch: the ETag that must still hold; none deletes whatever is there.
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

    /// What a change gave: the body, else what was sent, with the ETag that it has now.
    private func changed(_ entity: ODataEntity, _ request: ODataRequest, _ response: ODataResponse) async -> ODataEntity
    {
        if let changed = response.entity { return changed }
        var settled = settled(entity, response)
        guard settled.control.etag == nil, let etag = entity.control.etag else { return settled }
        // Without a tag, the next change would be made whatever others did in between.
        var read = ODataRequest(.read, ODataURL(path: request.url.path))
        read.link = request.link
        if let current = await readBack(read) { return current }
        settled.control.etag = etag
        return settled
    }

    func condition(_ entity: ODataEntity, _ overwriting: Bool) -> String? {
        // Without a known ETag nothing is stated: "*" would be refused where ETags are not supported.
        entity.control.etag.map { overwriting ? "*" : $0 }
    }

    /// The entity as sent, for answers without a body.
    private func settled(_ entity: ODataEntity, _ response: ODataResponse) -> ODataEntity {
        var entity = entity
        entity.control.etag = response.etag
        if let id = response.entityID { entity.control.id = id }
        entity.markUnchanged()
        return entity
    }
}

extension ODataResponse {
    /// The entity in the body, with its ETag wherever that stands.
    fileprivate var entity: ODataEntity? {
        guard case .entity(var entity) = body else { return nil }
        entity.control.etag = entity.control.etag ?? etag
        return entity
    }
}

extension ODataEntity {
    /// An entity of the same type with only what changed: the body of an update.
    public var changes: ODataEntity {
        var changes = ODataEntity(shape: shape)
        changes.control.type = control.type
        for name in changedProperties { changes[name] = self[name] }
        return changes
    }
}
