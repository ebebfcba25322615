public import ODataModel

/// A change of a cache, for views that show its content.
public struct CacheChange: Hashable, Sendable {
    /// The causes of changes.
    public enum Cause: String, Hashable, Sendable {
        /// Entities were stored.
        case stored
        /// Changes from a service were merged.
        case merged
        /// The app changed an entity.
        case changed
        /// The service accepted a change.
        case confirmed
        /// A local change was reverted.
        case reverted
        /// Entities were removed.
        case removed
        /// Entities were removed because the cache was full.
        case evicted
        /// All entities were removed; the collection is empty.
        case cleared
    }

    /// The name of the collection.
    public var collection: String
    /// The keys of new and changed entities.
    public var stored: [EntityKey]
    /// The keys of removed entities.
    public var removed: [EntityKey]
    /// The cause of the change.
    public var cause: Cause

    /// Creates a change of a collection.
    public init(collection: String, stored: [EntityKey] = [], removed: [EntityKey] = [], cause: Cause) {
        self.collection = collection
        self.stored = stored
        self.removed = removed
        self.cause = cause
    }
}
