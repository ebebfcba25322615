public import ODataModel

/// Changes of the app: drafts, and what is shown before the service has accepted it.
extension MemoryEntityCache {
    /// Shows an entity as the app has changed or made it, with what the service said behind it.
    ///
    /// - Parameter state: ``CachedEntity/State/local`` for a draft, ``CachedEntity/State/optimistic`` for what is on
    ///   its way to the service.
    /// - Throws: ``CacheError``.
    public func change(
        _ entity: Entity, in collection: String, state: CachedEntity.State = .local
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
    public func confirm(_ key: EntityKey, in collection: String, as entity: Entity? = nil) throws(CacheError) {
        guard let old = contents[collection]?.peek(key), old.state != .server else { return }
        if let entity, let model { _ = try model.check(entity, in: collection) }
        contents[collection]?.remove(key)
        var accepted = entity ?? old.entity
        accepted.markUnchanged()
        let newKey = accepted.key
        try put([CachedEntity(accepted)], in: collection, cause: .confirmed)
        if newKey != key { tell(CacheChange(collection: collection, removed: [key], cause: .confirmed)) }
    }

    /// Takes a change back: what the service said last is shown again, and what it never had is gone.
    ///
    /// - Returns: Whether there was a change.
    @discardableResult
    public func revert(_ key: EntityKey, in collection: String) -> Bool {
        guard let old = contents[collection]?.peek(key), old.state != .server else { return false }
        contents[collection]?.remove(key)
        guard let before = old.before else {
            tell(CacheChange(collection: collection, removed: [key], cause: .reverted))
            return true
        }
        // It was accepted once, so it is again.
        try? put([CachedEntity(before)], in: collection, cause: .reverted)
        return true
    }

    /// The changes of the app in a collection.
    public func changedEntries(of collection: String) -> [CachedEntity] {
        entries(of: collection).filter { $0.state != .server }
    }
}
