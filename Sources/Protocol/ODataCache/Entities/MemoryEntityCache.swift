import Foundation
public import ODataModel
import ODataService

/// A cache of entities in memory with a size, shared by whoever has a reference to it.
///
/// ```swift
/// let cache = MemoryEntityCache(model: model)
/// try await cache.store(orders, in: "Orders")
/// let order = await cache.entity(EntityKey("OrderID", .integer(10248)), in: "Orders")
/// let hits = try await cache.search("berl", in: "Customers")
/// ```
///
/// Each collection has a capacity, and all of them together a number of bytes. Where there are too many, the entity
/// goes that was neither read nor written for longest; local and optimistic ones stay, as nobody else has them.
public actor MemoryEntityCache: EntityCache {
    /// How much is kept.
    public struct Limits: Hashable, Sendable {
        /// The greatest capacity of a collection.
        public static let maximumCapacity = 65_535
        /// The capacity of a collection that has none of its own: 0 to 65,535 entities, 1,000 if not said. 0 keeps
        /// nothing.
        public var capacity: Int
        /// The most bytes of all entities and documents, as estimated from their values; 32 MiB if not said.
        public var bytes: Int

        /// Makes limits.
        public init(capacity: Int = 1000, bytes: Int = 32 << 20) {
            self.capacity = capacity
            self.bytes = bytes
        }
    }

    /// How many changes wait for a subscriber that does not take them; the oldest go first.
    public static let changeBufferCount = 1000

    /// The model of the service.
    public private(set) var model: EntityDataModel?

    private let limits: Limits
    private var capacities: [String: Int] = [:]
    var contents: [String: LeastRecentlyUsed<EntityKey, CachedEntity>] = [:]
    private var documents = LeastRecentlyUsed<ExactText, CachedDocument>()
    private var deltaLinks: [String: String] = [:]
    private var subscribers: [UUID: AsyncStream<CacheChange>.Continuation] = [:]

    /// Makes a cache.
    ///
    /// - Throws: ``CacheError/capacity(_:)``.
    public init(model: EntityDataModel? = nil, limits: Limits = Limits()) throws(CacheError) {
        try Self.check(limits.capacity)
        self.model = model
        self.limits = limits
    }

    /// Makes a cache with the standard limits.
    public init(model: EntityDataModel? = nil) {
        self.model = model
        limits = Limits()
    }

    private static func check(_ capacity: Int) throws(CacheError) {
        guard (0...Limits.maximumCapacity).contains(capacity) else { throw .capacity(capacity) }
    }

    /// Takes a model; the same one read again is no other.
    ///
    /// - Throws: ``CacheError/otherModel``.
    public func adopt(_ model: EntityDataModel) throws(CacheError) {
        if let old = self.model, old !== model, contents.values.contains(where: { $0.count > 0 }) {
            guard old.container == model.container, old.schemas == model.schemas else { throw .otherModel }
        }
        self.model = model
    }

    // MARK: Size

    /// How many entities a collection may have.
    public func capacity(of collection: String) -> Int { capacities[collection] ?? limits.capacity }

    /// Sets the capacity of a collection; what is too many goes at once.
    ///
    /// - Throws: ``CacheError/capacity(_:)``.
    public func setCapacity(_ capacity: Int, of collection: String) throws(CacheError) {
        try Self.check(capacity)
        capacities[collection] = capacity
        tell(evict(from: collection), in: collection)
    }

    /// The bytes of all entities and documents, as estimated.
    public var byteCount: Int { contents.values.reduce(documents.cost) { $0 + $1.cost } }

    /// Lets go of what was not used for longest until at most this many bytes are left: what an app does when memory
    /// is short.
    public func trim(toBytes bytes: Int) {
        for (collection, keys) in evict(toBytes: bytes) { tell(keys, in: collection) }
    }

    // MARK: Entities

    /// The names of the collections that have entities, sorted.
    public var collections: [String] { contents.filter { $0.value.count > 0 }.keys.sorted() }

    /// The entities of a collection, in the order in which they came.
    public func entries(of collection: String) -> [CachedEntity] { contents[collection]?.inOrder.map(\.value) ?? [] }

    /// An entity, which counts as used then.
    public func entry(_ key: EntityKey, in collection: String) -> CachedEntity? { contents[collection]?.use(key) }

    /// Keeps entities. One of the service's does not take the place of a local change: it becomes what is behind it.
    ///
    /// - Throws: ``CacheError``; nothing is kept then.
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

    /// Removes entities, local changes too.
    ///
    /// - Returns: How many there were.
    @discardableResult
    public func remove(_ keys: [EntityKey], from collection: String) -> Int {
        remove(keys, from: collection, cause: .removed)
    }

    func remove(_ keys: [EntityKey], from collection: String, cause: CacheChange.Cause) -> Int {
        let gone = keys.filter { contents[collection]?.remove($0) != nil }
        if !gone.isEmpty { tell(CacheChange(collection: collection, removed: gone, cause: cause)) }
        return gone.count
    }

    /// Removes everything but the model.
    public func clear() {
        let names = collections
        contents = [:]
        documents.removeAll()
        deltaLinks = [:]
        for name in names { tell(CacheChange(collection: name, cause: .cleared)) }
    }

    // MARK: Documents and links

    /// The delta link of a collection.
    public func deltaLink(of collection: String) -> String? { deltaLinks[collection] }
    /// Keeps a delta link.
    public func setDeltaLink(_ link: String?, of collection: String) { deltaLinks[collection] = link }

    /// The keys of all documents, sorted.
    public var documentKeys: [String] { documents.inOrder.map(\.key.text).sorted() }
    /// A document, which counts as used then.
    public func document(_ key: String) -> CachedDocument? { documents.use(ExactText(key)) }

    /// Keeps a document; `nil` removes it. One that is larger than all the room there is is not kept.
    public func setDocument(_ document: CachedDocument?, for key: String) {
        let exact = ExactText(key)
        documents.remove(exact)
        guard let document, document.bytes.count <= limits.bytes else { return }
        documents.set(document, cost: document.bytes.count + key.utf8.count, for: exact)
        for (collection, keys) in evict(toBytes: limits.bytes) { tell(keys, in: collection) }
    }

    // MARK: Changes

    /// What happens from now on. A subscriber that is slow loses the oldest of more than
    /// ``changeBufferCount`` changes.
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

    /// Takes from the largest collection each time: what is left of each is what was used last.
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
    /// About how many bytes of memory the entity takes with what is inline in it.
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
