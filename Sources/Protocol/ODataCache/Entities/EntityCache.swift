public import ODataModel

/// An entity in a cache with its state.
public struct CachedEntity: Hashable, Sendable {
    /// The source of the shown values.
    public enum State: String, Hashable, Sendable, Codable {
        /// The service has returned the entity.
        case server
        /// The app has changed the entity, and the change has not been sent.
        case local
        /// The app has sent the change; the entity is shown as if the service had accepted it.
        case optimistic
    }

    /// The entity as it is shown.
    public var entity: ODataEntity
    /// The source of the shown values.
    public var state: State
    /// The last server version, if the shown entity differs; `nil` for an entity that does not exist at the
    /// service.
    public var before: ODataEntity?

    /// Creates an entry.
    public init(_ entity: ODataEntity, state: State = .server, before: ODataEntity? = nil) {
        self.entity = entity
        self.state = state
        self.before = before
    }
}

/// A document in a cache, such as the service document or the metadata.
public struct CachedDocument: Hashable, Sendable {
    /// The content of the document.
    public var bytes: [UInt8]
    /// The media type of the document.
    public var contentType: String
    /// The ETag, if the service has sent one.
    public var etag: String?

    /// Creates a document.
    public init(_ bytes: [UInt8], contentType: String, etag: String? = nil) {
        self.bytes = bytes
        self.contentType = contentType
        self.etag = etag
    }
}

/// Entities in memory, by collection and key. ``MemoryEntityCache`` is the default implementation. An app can
/// pass its own to ``CachingProvider``, searches and ``PersistentStore``.
///
/// A cache belongs to one model; an entity whose type does not fit its collection is refused. A cache may
/// ignore documents and delta links; collections are then read completely each time.
public protocol EntityCache: Sendable {
    /// The model of the service; `nil` if none was adopted yet.
    var model: EntityDataModel? { get async }
    /// Sets the model of the service.
    ///
    /// - Throws: ``CacheError/otherModel`` if the cache contains entities of another model.
    func adopt(_ model: EntityDataModel) async throws
    /// The names of the collections that contain entities, sorted.
    var collections: [String] { get async }
    /// Returns the entities of a collection in insertion order.
    func entries(of collection: String) async -> [CachedEntity]
    /// Returns an entity, or `nil` if the collection does not contain the key.
    func entry(_ key: EntityKey, in collection: String) async -> CachedEntity?
    /// Stores entities, each in place of one with the same key.
    ///
    /// - Throws: ``CacheError`` if an entity does not fit; none is stored then.
    func store(_ entries: [CachedEntity], in collection: String) async throws
    /// Removes entities.
    ///
    /// - Returns: The number of removed entities.
    @discardableResult func remove(_ keys: [EntityKey], from collection: String) async -> Int
    /// Removes all entities, documents and delta links, but not the model.
    func clear() async

    /// Returns the delta link that the service returned for a collection.
    func deltaLink(of collection: String) async -> String?
    /// Stores a delta link; `nil` removes it.
    func setDeltaLink(_ link: String?, of collection: String) async

    /// The keys of all documents, sorted.
    var documentKeys: [String] { get async }
    /// Returns a document, or `nil` if there is none for the key.
    func document(_ key: String) async -> CachedDocument?
    /// Stores a document; `nil` removes it.
    func setDocument(_ document: CachedDocument?, for key: String) async
}

extension EntityCache {
    /// Returns the entities of a collection as they are shown.
    public func entities(of collection: String) async -> [ODataEntity] { await entries(of: collection).map(\.entity) }

    /// Returns an entity as it is shown.
    public func entity(_ key: EntityKey, in collection: String) async -> ODataEntity? {
        await entry(key, in: collection)?.entity
    }

    /// Stores entities as the service returned them.
    ///
    /// - Throws: ``CacheError``.
    public func store(_ entities: [ODataEntity], in collection: String) async throws {
        try await store(entities.map { CachedEntity($0) }, in: collection)
    }

    /// Replaces all entities of a collection.
    ///
    /// - Throws: ``CacheError``; the collection is then unchanged.
    public func replace(_ entities: [ODataEntity], in collection: String) async throws {
        try await store(entities, in: collection)
        let kept = Set(entities.compactMap(\.key))
        let gone = await entries(of: collection).compactMap(\.entity.key).filter { !kept.contains($0) }
        await remove(gone, from: collection)
    }

    /// Removes all entities of a collection.
    ///
    /// - Returns: Whether the collection contained entities.
    @discardableResult
    public func removeAll(from collection: String) async -> Bool {
        await remove(entries(of: collection).compactMap(\.entity.key), from: collection) > 0
    }
}

extension EntityDataModel {
    /// Checks that an entity belongs to a collection, and returns its key.
    func check(_ entity: ODataEntity, in collection: String) throws(CacheError) -> EntityKey {
        guard let set = entitySet(collection) else { throw .unknownCollection(collection) }
        // A shape from another reading of the metadata is accepted if its properties are equal.
        guard isType(entity.shape.name, set.type), let shape = shape(entity.shape.name),
            shape === entity.shape || shape.properties == entity.shape.properties
        else { throw .foreignType(entity.shape.name, collection: collection) }
        guard let key = entity.key else { throw .keyMissing(collection: collection) }
        return key
    }
}
