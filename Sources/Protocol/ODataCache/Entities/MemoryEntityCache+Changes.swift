public import ODataModel

/// Local changes: drafts, and changes that are shown before the service has accepted them.
extension MemoryEntityCache {
    /// Shows an entity as the app has changed or created it. The server version is kept behind it.
    ///
    /// - Parameter state: ``CachedEntity/State/local`` for a draft, ``CachedEntity/State/optimistic`` for a
    ///   sent change.
    /// - Throws: ``CacheError``.
    public func change(
        _ entity: ODataEntity, in collection: String, state: CachedEntity.State = .local
    ) throws(CacheError) {
        guard let model else { throw .noModel }
        let key = try model.check(entity, in: collection)
        let old = contents[collection]?.peek(key)
        let before = old.flatMap { $0.state == .server ? $0.entity : $0.before }
        try put([CachedEntity(entity, state: state, before: before)], in: collection, cause: .changed)
    }

    /// Replaces a local change by the version that the service has accepted.
    ///
    /// - Parameters:
    ///   - key: The key of the entity as it was shown.
    ///   - entity: The entity as the service returned it; `nil` if it equals the shown one. Its key may differ,
    ///     if the service has assigned it.
    /// - Throws: ``CacheError``.
    public func confirm(_ key: EntityKey, in collection: String, as entity: ODataEntity? = nil) throws(CacheError) {
        guard let old = contents[collection]?.peek(key), old.state != .server else { return }
        if let entity, let model { _ = try model.check(entity, in: collection) }
        var accepted = entity ?? old.entity
        accepted.markUnchanged()
        guard accepted.key == key else {
            contents[collection]?.remove(key)
            try put([CachedEntity(accepted)], in: collection, cause: .confirmed)
            tell(CacheChange(collection: collection, removed: [key], cause: .confirmed))
            return
        }
        settle(accepted, key, in: collection, cause: .confirmed)
    }

    /// Replaces a changed entity by the server version in the same position.
    private func settle(_ entity: ODataEntity, _ key: EntityKey, in collection: String, cause: CacheChange.Cause) {
        let entry = CachedEntity(entity)
        contents[collection]?.set(entry, cost: Self.cost(of: entry), for: key)
        tell(CacheChange(collection: collection, stored: [key], cause: cause))
    }

    /// Reverts a local change: the server version is shown again, and a created entity is removed.
    ///
    /// - Returns: Whether there was a change.
    @discardableResult
    public func revert(_ key: EntityKey, in collection: String) -> Bool {
        guard let old = contents[collection]?.peek(key), old.state != .server else { return false }
        if let before = old.before {
            settle(before, key, in: collection, cause: .reverted)
        } else {
            contents[collection]?.remove(key)
            tell(CacheChange(collection: collection, removed: [key], cause: .reverted))
        }
        return true
    }

    /// Hides an entity that the app deletes before the service has accepted the deletion.
    ///
    /// - Returns: The server version for ``putBack(_:in:)``. `nil` if the entity is missing or has a local
    ///   change; it then stays visible.
    func withdraw(_ key: EntityKey, from collection: String) -> CachedEntity? {
        guard let entry = contents[collection]?.peek(key), entry.state == .server else { return nil }
        remove([key], from: collection)
        return entry
    }

    /// Shows an entity again after the service has refused its deletion, unless it was read again in the
    /// meantime.
    func putBack(_ entry: CachedEntity, in collection: String) {
        guard let key = entry.entity.key, contents[collection]?.peek(key) == nil else { return }
        // If the cache is full, the entity is left out.
        try? put([entry], in: collection, cause: .reverted)
    }

    /// Returns the entities of a collection that have local changes.
    public func changedEntries(of collection: String) -> [CachedEntity] {
        entries(of: collection).filter { $0.state != .server }
    }
}
