public import ODataModel

/// An entity in a cache, with what the cache knows of it.
public struct CachedEntity: Hashable, Sendable {
    /// Who says that the entity is so.
    public enum State: String, Hashable, Sendable, Codable {
        /// The service.
        case server
        /// The app: a draft that nobody has sent.
        case local
        /// The app, which has sent it: shown as if the service had accepted it, until it answers.
        case optimistic
    }

    /// The entity as it is shown.
    public var entity: ODataEntity
    /// Who says so.
    public var state: State
    /// What the service said last, where the entity is shown otherwise; `nil` for one that the service does not have.
    public var before: ODataEntity?

    /// Makes an entry.
    public init(_ entity: ODataEntity, state: State = .server, before: ODataEntity? = nil) {
        self.entity = entity
        self.state = state
        self.before = before
    }
}

/// A document in a cache: the service document, metadata, whatever an app reads and wants again.
public struct CachedDocument: Hashable, Sendable {
    /// The document.
    public var bytes: [UInt8]
    /// Its media type.
    public var contentType: String
    /// Its ETag, where the service gave one.
    public var etag: String?

    /// Makes a document.
    public init(_ bytes: [UInt8], contentType: String, etag: String? = nil) {
        self.bytes = bytes
        self.contentType = contentType
        self.etag = etag
    }
}

/// Entities in memory, by collection and key: ours is ``MemoryEntityCache``, and an app's own takes its place in
/// ``CachingProvider``, in searches and in ``PersistentStore``.
///
/// A cache hangs on one model; an entity whose type does not fit its collection there is refused. A cache that has no
/// use for documents and delta links keeps none; collections are then read whole each time.
public protocol EntityCache: Sendable {
    /// The model of the service; `nil` before there is one.
    var model: EntityDataModel? { get async }
    /// Takes a model.
    ///
    /// - Throws: ``CacheError/otherModel`` when there are entities of another one.
    func adopt(_ model: EntityDataModel) async throws
    /// The names of the collections that have entities, sorted.
    var collections: [String] { get async }
    /// The entities of a collection, in the order in which they came.
    func entries(of collection: String) async -> [CachedEntity]
    /// An entity.
    func entry(_ key: EntityKey, in collection: String) async -> CachedEntity?
    /// Keeps entities, each in place of one of the same key.
    ///
    /// - Throws: ``CacheError`` when one of them does not fit; none is kept then.
    func store(_ entries: [CachedEntity], in collection: String) async throws
    /// Removes entities.
    ///
    /// - Returns: How many there were.
    @discardableResult func remove(_ keys: [EntityKey], from collection: String) async -> Int
    /// Removes all entities, documents and delta links; the model stays.
    func clear() async

    /// The link to what changes from now on, as the service gave it for a collection.
    func deltaLink(of collection: String) async -> String?
    /// Keeps a delta link; `nil` forgets it.
    func setDeltaLink(_ link: String?, of collection: String) async

    /// The keys of all documents, sorted.
    var documentKeys: [String] { get async }
    /// A document.
    func document(_ key: String) async -> CachedDocument?
    /// Keeps a document; `nil` removes it.
    func setDocument(_ document: CachedDocument?, for key: String) async
}

extension EntityCache {
    /// The entities of a collection as they are shown.
    public func entities(of collection: String) async -> [ODataEntity] { await entries(of: collection).map(\.entity) }

    /// An entity as it is shown.
    public func entity(_ key: EntityKey, in collection: String) async -> ODataEntity? {
        await entry(key, in: collection)?.entity
    }

    /// Keeps entities as the service gave them.
    ///
    /// - Throws: ``CacheError``.
    public func store(_ entities: [ODataEntity], in collection: String) async throws {
        try await store(entities.map { CachedEntity($0) }, in: collection)
    }

    /// Puts entities in place of all that a collection has.
    ///
    /// - Throws: ``CacheError``; what was there is then there still.
    public func replace(_ entities: [ODataEntity], in collection: String) async throws {
        try await store(entities, in: collection)
        let kept = Set(entities.compactMap(\.key))
        let gone = await entries(of: collection).compactMap(\.entity.key).filter { !kept.contains($0) }
        await remove(gone, from: collection)
    }

    /// Removes all entities of a collection.
    ///
    /// - Returns: Whether there were any.
    @discardableResult
    public func removeAll(from collection: String) async -> Bool {
        await remove(entries(of: collection).compactMap(\.entity.key), from: collection) > 0
    }
}

extension EntityDataModel {
    /// Refuses an entity that does not belong to a collection.
    func check(_ entity: ODataEntity, in collection: String) throws(CacheError) -> EntityKey {
        guard let set = entitySet(collection) else { throw .unknownCollection(collection) }
        // A shape of the same name from another reading of the metadata fits when it has the same properties.
        guard isType(entity.shape.name, set.type), let shape = shape(entity.shape.name),
            shape === entity.shape || shape.properties == entity.shape.properties
        else { throw .foreignType(entity.shape.name, collection: collection) }
        guard let key = entity.key else { throw .keyMissing(collection: collection) }
        return key
    }
}
