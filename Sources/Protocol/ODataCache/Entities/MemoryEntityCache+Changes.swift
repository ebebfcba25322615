public import ODataModel

/// Changes of the app: drafts, and what is shown before the service has accepted it.
extension MemoryEntityCache {
    /// Shows an entity as the app has changed or made it, with what the service said behind it.
    ///
    /// - Parameter state: ``CachedEntity/State/local`` for a draft, ``CachedEntity/State/optimistic`` for what is on
    ///   its way to the service.
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

    /// Ends a change that the service has accepted.
    ///
    /// - Parameters:
    ///   - key: The entity as it was shown.
    ///   - entity: The entity as the service has it now; `nil` for as it is shown. Its key may be another one, which
    ///     the service has given.
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

    /// Shows an entity as the service has it, in the place where its change was.
    private func settle(_ entity: ODataEntity, _ key: EntityKey, in collection: String, cause: CacheChange.Cause) {
        let entry = CachedEntity(entity)
        contents[collection]?.set(entry, cost: Self.cost(of: entry), for: key)
        tell(CacheChange(collection: collection, stored: [key], cause: cause))
    }

    /// Takes a change back: what the service said last is shown again, and what it never had is gone.
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

    /// Takes an entity away that the app deletes, before the service has accepted it.
    ///
    /// - Returns: The entity as the service had given it, for ``putBack(_:in:)``; `nil` where there is none, which then stays
    ///   as it is shown.
    func withdraw(_ key: EntityKey, from collection: String) -> CachedEntity? {
        guard let entry = contents[collection]?.peek(key), entry.state == .server else { return nil }
        remove([key], from: collection)
        return entry
    }

    /// Shows an entity again whose deletion the service has refused, unless it was read anew meanwhile.
    func putBack(_ entry: CachedEntity, in collection: String) {
        guard let key = entry.entity.key, contents[collection]?.peek(key) == nil else { return }
        // A cache that is full by now goes without it.
        try? put([entry], in: collection, cause: .reverted)
    }

    /// The changes of the app in a collection.
    public func changedEntries(of collection: String) -> [CachedEntity] {
        entries(of: collection).filter { $0.state != .server }
    }
}
