import Foundation
public import ODataModel
import ODataService

/// A cache of entities in memory with limited size.
///
/// ```swift
/// let cache = MemoryEntityCache(model: model)
/// try await cache.store(orders, in: "Orders")
/// let order = await cache.entity(EntityKey("OrderID", .integer(10248)), in: "Orders")
/// let hits = try await cache.search("berl", in: "Customers")
/// ```
///
/// Each collection has a capacity, and the whole cache has a maximum number of bytes. When a limit is exceeded,
/// the least recently used entities are removed. Local and optimistic changes are never removed, because they
/// exist nowhere else.
public actor MemoryEntityCache: EntityCache {
    /// The limits of a cache.
    ///
    /// ```swift
    /// let cache = try MemoryEntityCache(model: model, limits: .init(capacity: 5_000, bytes: 64 << 20))
    /// ```
    public struct Limits: Hashable, Sendable {
        /// The maximum capacity of a collection.
        public static let maximumCapacity = 65_535
        /// The default capacity of a collection: 0 to 65,535 entities, 1,000 by default. With 0, no entities
        /// are kept.
        public var capacity: Int
        /// The maximum number of bytes of all entities and documents, estimated from their values; 32 MiB by
        /// default.
        public var bytes: Int

        /// Creates limits.
        public init(capacity: Int = 1000, bytes: Int = 32 << 20) {
            self.capacity = capacity
            self.bytes = bytes
        }
    }

    /// The number of changes that are buffered for a slow subscriber; the oldest are dropped first.
    public static let changeBufferCount = 1000

    /// The model of the service; `nil` if none was adopted yet.
    public private(set) var model: EntityDataModel?

    private let limits: Limits
    private var capacities: [String: Int] = [:]
    var contents: [String: LeastRecentlyUsed<EntityKey, CachedEntity>] = [:]
    private var documents = LeastRecentlyUsed<ExactText, CachedDocument>()
    private var deltaLinks: [String: String] = [:]
    private var subscribers: [UUID: AsyncStream<CacheChange>.Continuation] = [:]

    /// Creates a cache.
    ///
    /// - Throws: ``CacheError/capacity(_:)``.
    public init(model: EntityDataModel? = nil, limits: Limits = Limits()) throws(CacheError) {
        try Self.check(limits.capacity)
        self.model = model
        self.limits = limits
    }

    /// Creates a cache with the standard limits.
    public init(model: EntityDataModel? = nil) {
        self.model = model
        limits = Limits()
    }

    private static func check(_ capacity: Int) throws(CacheError) {
        guard (0...Limits.maximumCapacity).contains(capacity) else { throw .capacity(capacity) }
    }

    /// Sets the model. A second reading of the same metadata counts as the same model.
    ///
    /// - Throws: ``CacheError/otherModel``.
    public func adopt(_ model: EntityDataModel) throws(CacheError) {
        if let old = self.model, old !== model, contents.values.contains(where: { $0.count > 0 }) {
            guard old.container == model.container, old.schemas == model.schemas else { throw .otherModel }
        }
        self.model = model
    }

    // MARK: Size

    /// Returns the maximum number of entities of a collection.
    public func capacity(of collection: String) -> Int { capacities[collection] ?? limits.capacity }

    /// Sets the capacity of a collection. Entities beyond it are removed at once.
    ///
    /// - Throws: ``CacheError/capacity(_:)``.
    public func setCapacity(_ capacity: Int, of collection: String) throws(CacheError) {
        try Self.check(capacity)
        capacities[collection] = capacity
        tell(evict(from: collection), in: collection)
    }

    /// The estimated number of bytes of all entities and documents.
    public var byteCount: Int { contents.values.reduce(documents.cost) { $0 + $1.cost } }

    /// Removes the least recently used entities and documents until at most this many bytes are left. Call it
    /// when memory is low.
    public func trim(toBytes bytes: Int) {
        for (collection, keys) in evict(toBytes: bytes) { tell(keys, in: collection) }
    }

    // MARK: Entities

    /// The names of the collections that contain entities, sorted.
    public var collections: [String] { contents.filter { $0.value.count > 0 }.keys.sorted() }

    /// Returns the entities of a collection in insertion order.
    public func entries(of collection: String) -> [CachedEntity] { contents[collection]?.inOrder.map(\.value) ?? [] }

    /// Returns an entity and marks it as used.
    public func entry(_ key: EntityKey, in collection: String) -> CachedEntity? { contents[collection]?.use(key) }

    /// Stores entities. A server version does not replace a local change; it is kept behind the change.
    ///
    /// - Throws: ``CacheError``; no entity is stored then.
    public func store(_ entries: [CachedEntity], in collection: String) throws(CacheError) {
        try put(entries, in: collection, cause: .stored)
    }

    func put(_ entries: [CachedEntity], in collection: String, cause: CacheChange.Cause) throws(CacheError) {
        guard let model else { throw .noModel }
        var keyed: [(EntityKey, CachedEntity)] = []
        for entry in entries { keyed.append((try model.check(entry.entity, in: collection), entry)) }
        var content = contents[collection] ?? LeastRecentlyUsed()
        let pinned = content.inOrder.filter { $0.value.state != .server }.map(\.key)
        let unsent = Set(pinned).union(keyed.filter { $0.1.state != .server }.map(\.0))
        guard unsent.count <= max(capacity(of: collection), pinned.count) else { throw .full(collection: collection) }
        for (key, entry) in keyed {
            var entry = entry
            if entry.state == .server, var old = content.peek(key), old.state != .server {
                old.before = entry.entity
                entry = old
            }
            content.set(entry, cost: Self.cost(of: entry), for: key)
        }
        contents[collection] = content
        let gone = Set(evict(from: collection))
        let stored = keyed.map(\.0).filter { !gone.contains($0) }
        tell(CacheChange(collection: collection, stored: stored, cause: cause))
        tell(Array(gone), in: collection)
        for (other, keys) in evict(toBytes: limits.bytes) { tell(keys, in: other) }
    }

    /// Removes entities, including those with local changes.
    ///
    /// - Returns: The number of removed entities.
    @discardableResult
    public func remove(_ keys: [EntityKey], from collection: String) -> Int {
        remove(keys, from: collection, cause: .removed)
    }

    func remove(_ keys: [EntityKey], from collection: String, cause: CacheChange.Cause) -> Int {
        let gone = keys.filter { contents[collection]?.remove($0) != nil }
        if !gone.isEmpty { tell(CacheChange(collection: collection, removed: gone, cause: cause)) }
        return gone.count
    }

    /// Removes everything except the model.
    public func clear() {
        let names = collections
        contents = [:]
        documents.removeAll()
        deltaLinks = [:]
        for name in names { tell(CacheChange(collection: name, cause: .cleared)) }
    }

    // MARK: Documents and links

    /// Returns the delta link of a collection.
    public func deltaLink(of collection: String) -> String? { deltaLinks[collection] }
    /// Stores a delta link; `nil` removes it.
    public func setDeltaLink(_ link: String?, of collection: String) { deltaLinks[collection] = link }

    /// The keys of all documents, sorted.
    public var documentKeys: [String] { documents.inOrder.map(\.key.text).sorted() }
    /// Returns a document and marks it as used.
    public func document(_ key: String) -> CachedDocument? { documents.use(ExactText(key)) }

    /// Stores a document; `nil` removes it. A document larger than the whole cache is not stored.
    public func setDocument(_ document: CachedDocument?, for key: String) {
        let exact = ExactText(key)
        documents.remove(exact)
        guard let document, document.bytes.count <= limits.bytes else { return }
        documents.set(document, cost: document.bytes.count + key.utf8.count, for: exact)
        for (collection, keys) in evict(toBytes: limits.bytes) { tell(keys, in: collection) }
    }

    // MARK: Changes

    /// Returns a stream of all further changes. A slow subscriber loses the oldest changes beyond
    /// ``changeBufferCount``.
    public func changes() -> AsyncStream<CacheChange> {
        let id = UUID()
        let (stream, continuation) = AsyncStream.makeStream(
            of: CacheChange.self, bufferingPolicy: .bufferingNewest(Self.changeBufferCount))
        continuation.onTermination = { _ in Task { [weak self] in await self?.unsubscribe(id) } }
        subscribers[id] = continuation
        return stream
    }

    private func unsubscribe(_ id: UUID) { subscribers[id] = nil }

    func tell(_ change: CacheChange) {
        for subscriber in subscribers.values { subscriber.yield(change) }
    }

    private func tell(_ evicted: [EntityKey], in collection: String) {
        if !evicted.isEmpty { tell(CacheChange(collection: collection, removed: evicted, cause: .evicted)) }
    }

    // MARK: Eviction

    private func evict(from collection: String) -> [EntityKey] {
        var gone: [EntityKey] = []
        let capacity = capacity(of: collection)
        while let count = contents[collection]?.count, count > capacity,
            let oldest = contents[collection]?.oldest(where: { $0.state == .server })
        {
            contents[collection]?.remove(oldest)
            gone.append(oldest)
        }
        return gone
    }

    /// Removes entities from the largest collection first, so that each collection keeps those used last.
    private func evict(toBytes bytes: Int) -> [String: [EntityKey]] {
        var gone: [String: [EntityKey]] = [:]
        var exhausted: Set<String> = []
        while byteCount > bytes {
            let largest = contents.filter { !exhausted.contains($0.key) && $0.value.count > 0 }
                .max { ($0.value.cost, $1.key) < ($1.value.cost, $0.key) }?.key
            guard let largest else {
                guard let document = documents.oldest() else { return gone }
                documents.remove(document)
                continue
            }
            guard let oldest = contents[largest]?.oldest(where: { $0.state == .server }) else {
                exhausted.insert(largest)
                continue
            }
            contents[largest]?.remove(oldest)
            gone[largest, default: []].append(oldest)
        }
        return gone
    }

    static func cost(of entry: CachedEntity) -> Int {
        entry.entity.estimatedByteCount + (entry.before?.estimatedByteCount ?? 0)
    }
}

extension ODataEntity {
    /// The estimated number of bytes of the entity, including inline related entities.
    var estimatedByteCount: Int {
        var count = 64 + values.count * 32
        for case let value? in values { count += Self.extraByteCount(of: value) }
        for (name, value) in dynamicProperties { count += name.utf8.count + 64 + Self.extraByteCount(of: value) }
        for (name, related) in related {
            count += name.utf8.count + 32
            switch related {
            case .one(let entity): count += entity.estimatedByteCount
            case .many(let entities, _, _): count += entities.reduce(0) { $0 + $1.estimatedByteCount }
            case .references(let ids): count += ids.reduce(0) { $0 + $1.utf8.count + 16 }
            case .none: break
            }
        }
        return count
    }

    private static func extraByteCount(of value: ODataValue) -> Int {
        switch value {
        case .string(let text): text.utf8.count
        case .binary(let bytes): bytes.count
        case .collection(let members): members.reduce(0) { $0 + 32 + extraByteCount(of: $1) }
        case .complex(let entity): entity.estimatedByteCount
        default: 0
        }
    }
}
