public import ODataModel

/// What happened in a cache, for views that show it.
public struct CacheChange: Hashable, Sendable {
    /// Why.
    public enum Cause: String, Hashable, Sendable {
        /// Entities were kept.
        case stored
        /// Changes that a service told were merged.
        case merged
        /// The app changed something.
        case changed
        /// The service accepted a change.
        case confirmed
        /// A change was taken back.
        case reverted
        /// Entities were removed.
        case removed
        /// Entities went for lack of room.
        case evicted
        /// Everything was removed; the collection is empty.
        case cleared
    }

    /// The collection.
    public var collection: String
    /// The entities that are new or other than before.
    public var stored: [EntityKey]
    /// The entities that are gone.
    public var removed: [EntityKey]
    /// Why.
    public var cause: Cause

    /// Makes a change.
    public init(collection: String, stored: [EntityKey] = [], removed: [EntityKey] = [], cause: Cause) {
        self.collection = collection
        self.stored = stored
        self.removed = removed
        self.cause = cause
    }
}
