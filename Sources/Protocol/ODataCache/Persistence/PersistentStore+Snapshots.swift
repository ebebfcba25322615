import Foundation
import ODataModel

/// Named snapshots of caches, including caches of the app.
extension PersistentStore {
    /// The number of entities in one step of loading.
    static let entitiesPerStep = 100

    /// Saves the content of a cache in place of any snapshot of that name: model, documents, delta links,
    /// entities and local changes.
    ///
    /// - Throws: ``PersistenceError``, ``CacheError/noModel`` for a cache without a model.
    public func save(_ cache: any EntityCache, as name: String) async throws {
        guard let model = await cache.model else { throw CacheError.noModel }
        let header = ItemHeader(kind: .snapshot, name: name)
        let draft = try draft(header)
        do {
            try await write(cache, model, to: draft.writer)
            try draft.writer.finish()
        } catch {
            discard(draft)
            throw error
        }
        try await publish(draft, header)
    }

    /// Saves the content of a cache under a new name.
    ///
    /// - Returns: The name.
    /// - Throws: The errors of ``save(_:as:)``.
    public func save(_ cache: any EntityCache) async throws -> String {
        let name = UUID().uuidString.lowercased()
        try await save(cache, as: name)
        return name
    }

    private func write(_ cache: any EntityCache, _ model: EntityDataModel, to writer: ItemWriter) async throws {
        let encoder = JSONEncoder()
        func write(_ frame: SnapshotFrame) throws(PersistenceError) {
            let bytes = frame.bytes
            guard bytes.count <= SnapshotFrame.maximumByteCount else {
                throw .tooLarge(name: "a part of a cache", bytes: bytes.count, limit: SnapshotFrame.maximumByteCount)
            }
            try writer.write(bytes)
        }
        try write(.model(model.originalText ?? CSDLWriter.json(model)))
        for key in await cache.documentKeys {
            guard let document = await cache.document(key) else { continue }
            let stored = SnapshotDocument(
                key: key, contentType: document.contentType, etag: document.etag, bytes: Data(document.bytes))
            try write(.document(Array(try encoder.encode(stored))))
        }
        let coding = SnapshotCoding(model: model)
        let names = await cache.collections
        for set in model.container.entitySets {
            if let link = await cache.deltaLink(of: set.name) {
                try write(
                    .deltaLink(Array(try encoder.encode(SnapshotDeltaLink(collection: set.name, link: link)))))
            }
            guard names.contains(set.name) else { continue }
            try write(.collection(Array(try encoder.encode(SnapshotCollection(collection: set.name)))))
            for entry in await cache.entries(of: set.name) {
                if entry.state != .server {
                    let state = SnapshotState(state: entry.state, hasBefore: entry.before != nil)
                    try write(.state(Array(try encoder.encode(state))))
                }
                try write(coding.frame(entry.entity, declared: set.type))
                if let before = entry.before { try write(coding.frame(before, declared: set.type)) }
            }
        }
    }

    /// Loads a snapshot into a cache in steps. The content of each step can be shown while the rest is still
    /// being read.
    ///
    /// ```swift
    /// let files = PersistentStore(folder: folder, key: .generated(in: keys, named: try SecretName("cache")))
    /// for try await step in files.load("orders", into: cache) {
    ///     if case .entities("Orders", _, let total) = step { show(total) }
    /// }
    /// ```
    ///
    /// The snapshot is read only as far as steps are requested. Existing content of the cache is kept, except
    /// for entities with the same keys. If the loop ends early or an error occurs, the content loaded so far is
    /// kept.
    ///
    /// - Returns: The steps. They throw ``PersistenceError`` (`damaged` for an altered or invalid snapshot) and
    ///   ``CacheError``. If the snapshot does not exist, the only step is ``SnapshotProgress/finished``; see
    ///   ``containsSnapshot(_:)``.
    public nonisolated func load(
        _ name: String, into cache: any EntityCache
    ) -> AsyncThrowingStream<SnapshotProgress, any Error> {
        let loading = SnapshotLoading(store: self, name: name, cache: cache)
        return AsyncThrowingStream { try await loading.step() }
    }

    /// Returns whether a snapshot of that name exists, damaged or not.
    ///
    /// - Throws: ``PersistenceError``.
    public func containsSnapshot(_ name: String) throws(PersistenceError) -> Bool {
        try path(of: ItemHeader(kind: .snapshot, name: name)) != nil
    }

    /// Removes a snapshot.
    ///
    /// - Returns: Whether it existed.
    /// - Throws: ``PersistenceError``.
    @discardableResult
    public func removeSnapshot(_ name: String) async throws(PersistenceError) -> Bool {
        try await remove(ItemHeader(kind: .snapshot, name: name))
    }

    /// Returns the names of all snapshots, sorted. Damaged snapshots are left out.
    ///
    /// - Throws: ``PersistenceError``.
    public func snapshotNames() throws(PersistenceError) -> [String] { try names(inSpace: "snapshot") }

    fileprivate func snapshot(_ name: String) throws(PersistenceError) -> SnapshotSource? {
        guard let reader = try reader(ItemHeader(kind: .snapshot, name: name)) else { return nil }
        return SnapshotSource(reader)
    }
}

private actor SnapshotSource {
    private let reader: ItemReader

    init(_ reader: sending ItemReader) { self.reader = reader }

    func next() throws(PersistenceError) -> [UInt8]? { try reader.next() }
}

/// The state of a snapshot that is being loaded into a cache.
private actor SnapshotLoading {
    private let store: PersistentStore
    private let name: String
    private let cache: any EntityCache

    private var source: SnapshotSource?
    private var hasBegun = false
    private var hasEnded = false
    private var frames = SnapshotFrameReader()
    private var model: EntityDataModel?
    private var collection: (name: String, type: QualifiedName)?
    private var batch: [CachedEntity] = []
    private var total = 0
    private var pending: SnapshotState?
    private var shown: ODataEntity?

    init(store: PersistentStore, name: String, cache: any EntityCache) {
        self.store = store
        self.name = name
        self.cache = cache
    }

    func step() async throws -> SnapshotProgress? {
        guard !hasEnded else { return nil }
        if !hasBegun {
            hasBegun = true
            source = try await store.snapshot(name)
        }
        while true {
            try Task.checkCancellation()
            if let frame = try frames.next(name: name) {
                if let progress = try await take(frame) { return progress }
                continue
            }
            if let chunk = try await source?.next() {
                frames.append(chunk)
                continue
            }
            guard frames.isEmpty, pending == nil else { throw PersistenceError.damaged(name: name) }
            if let progress = try await flush() { return progress }
            hasEnded = true
            return .finished
        }
    }

    private func take(_ frame: SnapshotFrame) async throws -> SnapshotProgress? {
        let decoder = JSONDecoder()
        switch frame {
        case .model(let bytes):
            guard let read = try? CSDLReader.read(bytes) else { throw PersistenceError.damaged(name: name) }
            try await cache.adopt(read)
            // The cache may have adopted the same model before; its entities then use the shapes of that model.
            let model = await cache.model ?? read
            self.model = model
            return .model(model)
        case .document(let bytes):
            let document: SnapshotDocument = try decode(bytes, decoder)
            await cache.setDocument(
                CachedDocument(Array(document.bytes), contentType: document.contentType, etag: document.etag),
                for: document.key)
            return .document(document.key)
        case .deltaLink(let bytes):
            let link: SnapshotDeltaLink = try decode(bytes, decoder)
            await cache.setDeltaLink(link.link, of: link.collection)
            return nil
        case .collection(let bytes):
            let begun: SnapshotCollection = try decode(bytes, decoder)
            let progress = try await flush()
            guard let set = model?.entitySet(begun.collection) else { throw PersistenceError.damaged(name: name) }
            collection = (set.name, set.type)
            total = 0
            return progress
        case .state(let bytes):
            pending = try decode(bytes, decoder)
            return nil
        case .entity(let bytes):
            guard let model, let collection,
                let entity = SnapshotCoding(model: model).entity(bytes, declared: collection.type)
            else { throw PersistenceError.damaged(name: name) }
            return try await take(entity)
        }
    }

    private func take(_ entity: ODataEntity) async throws -> SnapshotProgress? {
        if let state = pending {
            if state.hasBefore, shown == nil {
                shown = entity
                return nil
            }
            batch.append(CachedEntity(shown ?? entity, state: state.state, before: shown == nil ? nil : entity))
            pending = nil
            shown = nil
        } else {
            batch.append(CachedEntity(entity))
        }
        return batch.count < PersistentStore.entitiesPerStep ? nil : try await flush()
    }

    private func flush() async throws -> SnapshotProgress? {
        guard let collection, !batch.isEmpty else { return nil }
        let count = batch.count
        try await cache.store(batch, in: collection.name)
        batch = []
        total += count
        return .entities(collection: collection.name, count: count, total: total)
    }

    private func decode<Value: Decodable>(_ bytes: [UInt8], _ decoder: JSONDecoder) throws(PersistenceError) -> Value {
        do { return try decoder.decode(Value.self, from: Data(bytes)) } catch { throw .damaged(name: name) }
    }
}
