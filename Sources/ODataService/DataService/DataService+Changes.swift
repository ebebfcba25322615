import ODataModel
import ODataQuery

extension DataService {
    /// Creates an entity (OData Protocol 4.01, 11.4.2).
    ///
    /// - Parameter set: the set; may be left out where the type is in a single one.
    /// - Returns: the entity as the service has it, read again where the service does not return it.
    @discardableResult
    public func create(_ entity: Entity, in set: String? = nil) async throws -> Entity {
        let set = try await self.set(of: entity.shape.name, named: set)
        return try await create(entity, at: ODataURL(set: set))
    }

    /// Creates an entity in the collection at a URL: a set, or a contained or related collection.
    @discardableResult
    public func create(_ entity: Entity, at url: ODataURL) async throws -> Entity {
        let request = ODataRequest(
            .create, url, body: .entity(entity), preferences: Preferences(returns: .representation))
        return try await created(request, from: entity)
    }

    /// What a request creates, read again where the answer does not hold it.
    func created(_ request: ODataRequest, from entity: Entity) async throws -> Entity {
        let response = try await provider.execute(request)
        if case .entity(var created) = response.body {
            if created.control.etag == nil { created.control.etag = response.etag }
            return created
        }
        guard let link = response.entityID ?? response.location else {
            return settled(entity, response)
        }
        return try await self.entity(ODataRequest(following: link)) ?? settled(entity, response)
    }

    /// Sends what changed of an entity (PATCH; OData Protocol 4.01, 11.4.3), on condition that nobody else
    /// changed it where its ETag is known.
    ///
    /// An entity without changes is returned as it is, and nothing is sent.
    /// - Parameters:
    ///   - set: the set; may be left out where the entity has an edit link or its type is in a single set.
    ///   - overwriting: whether the change is made even if somebody else changed the entity.
    /// - Returns: the entity as it is now.
    /// - Throws: ``ODataError`` with status 412 when somebody else changed it.
    @discardableResult
    public func update(_ entity: Entity, in set: String? = nil, overwriting: Bool = false) async throws -> Entity {
        guard !entity.changedProperties.isEmpty else { return entity }
        return try await change(entity, try await self.request(.update, entity, in: set), overwriting)
    }

    /// Sends what changed of the entity at a URL, as ``update(_:in:overwriting:)`` does.
    @discardableResult
    public func update(_ entity: Entity, at url: ODataURL, overwriting: Bool = false) async throws -> Entity {
        guard !entity.changedProperties.isEmpty else { return entity }
        return try await change(entity, ODataRequest(.update, url), overwriting)
    }

    /// Replaces an entity as a whole (PUT; OData Protocol 4.01, 11.4.4): what it lacks gets its default.
    ///
    /// - Parameters:
    ///   - set: the set, as for ``update(_:in:overwriting:)``.
    ///   - overwriting: whether it is replaced even if somebody else changed it.
    @discardableResult
    public func replace(_ entity: Entity, in set: String? = nil, overwriting: Bool = false) async throws -> Entity {
        try await change(entity, try await self.request(.replace, entity, in: set), overwriting)
    }

    /// Replaces the entity at a URL as a whole, as ``replace(_:in:overwriting:)`` does.
    @discardableResult
    public func replace(_ entity: Entity, at url: ODataURL, overwriting: Bool = false) async throws -> Entity {
        try await change(entity, ODataRequest(.replace, url), overwriting)
    }

    /// Deletes an entity (OData Protocol 4.01, 11.4.5), on condition that nobody changed it.
    ///
    /// - Parameters:
    ///   - set: the set, as for ``update(_:in:overwriting:)``.
    ///   - overwriting: whether it is deleted even if somebody else changed it.
    public func delete(_ entity: Entity, in set: String? = nil, overwriting: Bool = false) async throws {
        var request = try await self.request(.delete, entity, in: set)
        request.ifMatch = condition(entity, overwriting)
        _ = try await provider.execute(request)
    }

    /// Deletes the entity with a key.
    ///
    /// - Parameter ifMatch: the ETag that must still hold; none deletes whatever is there.
    public func delete(_ set: String, key: EntityKey, ifMatch: String? = nil) async throws {
        let url = ODataURL(set: set, key: key, model: try await provider.model)
        _ = try await provider.execute(ODataRequest(.delete, url, ifMatch: ifMatch))
    }

    private func change(_ entity: Entity, _ request: ODataRequest, _ overwriting: Bool) async throws -> Entity {
        var request = request
        request.body = .entity(request.method == .update ? entity.changes : entity)
        request.preferences.returns = .representation
        request.ifMatch = condition(entity, overwriting)
        let response = try await provider.execute(request)
        guard case .entity(var changed) = response.body else { return settled(entity, response) }
        if changed.control.etag == nil { changed.control.etag = response.etag }
        return changed
    }

    private func condition(_ entity: Entity, _ overwriting: Bool) -> String? {
        // Without a known ETag nothing is stated: "*" would be refused where ETags are not supported.
        entity.control.etag.map { overwriting ? "*" : $0 }
    }

    /// The entity as sent, for answers without a body.
    private func settled(_ entity: Entity, _ response: ODataResponse) -> Entity {
        var entity = entity
        entity.control.etag = response.etag
        if let id = response.entityID { entity.control.id = id }
        entity.markUnchanged()
        return entity
    }
}

extension Entity {
    /// An entity of the same type with only what changed: the body of an update.
    public var changes: Entity {
        var changes = Entity(shape: shape)
        changes.control.type = control.type
        for name in changedProperties { changes[name] = self[name] }
        return changes
    }
}
