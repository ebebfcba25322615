public import ODataModel
import ODataQuery
public import ODataService

/// A provider that caches the reads of another provider. Unchanged entities are not transferred again, and
/// cached content is available when the service is unreachable.
///
/// ```swift
/// let provider = CachingProvider(client, cache: cache, policy: .validateElseCached)
/// let service = DataService(provider)
/// let order = try await service.entity("Orders", key: 10248)   // If-None-Match, if it was read before
/// ```
///
/// It caches complete entities: those read by key, and pages of a set without `$select`, `$expand` and
/// `$apply`, including the pages of next links. If all pages of a set were read, queries over the set are also
/// answered from the cache. Other requests are passed on. After a change, the returned entities are cached, and
/// entities that may have changed are removed.
///
/// The list of entities on a page is a document of the cache. A cache that is saved and loaded again
/// (``PersistentStore``) can therefore answer the same collections without the service. The cache must have
/// room for all pages: ``MemoryEntityCache/Limits/capacity``.
public struct CachingProvider: ProviderWrapper {
    /// The provider that is asked.
    public let base: any ODataProvider
    /// The cache of entities.
    public let cache: any EntityCache
    /// The conditions under which the cache answers.
    public let policy: CachePolicy
    /// Whether changes are shown before the service has accepted them. This requires a ``MemoryEntityCache``.
    public let showsChangesAtOnce: Bool
    private let pages: PageIndex

    /// Creates a provider that caches the reads of another one.
    ///
    /// - Parameters:
    ///   - base: The provider that is asked.
    ///   - cache: The cache, which must not be shared between services or users.
    ///   - policy: The conditions under which the cache answers.
    ///   - showsChangesAtOnce: Whether an update or deletion is shown before the service has accepted it. It is
    ///     reverted if the service refuses it.
    public init(
        _ base: any ODataProvider, cache: any EntityCache = MemoryEntityCache(), policy: CachePolicy = .validate,
        showsChangesAtOnce: Bool = false
    ) {
        self.init(base, cache: cache, policy: policy, showsChangesAtOnce: showsChangesAtOnce) { ContinuousClock().now }
    }

    init(
        _ base: any ODataProvider, cache: any EntityCache, policy: CachePolicy, showsChangesAtOnce: Bool = false,
        now: @escaping @Sendable () -> ContinuousClock.Instant
    ) {
        self.base = base
        self.cache = cache
        self.policy = policy
        self.showsChangesAtOnce = showsChangesAtOnce
        pages = PageIndex(now: now)
    }

    /// The model of the cache, if it has one. Otherwise the model of the base, which the cache adopts.
    public var model: EntityDataModel {
        get async throws {
            if let model = await cache.model { return model }
            let model = try await base.model
            try await cache.adopt(model)
            return model
        }
    }

    /// Answers a request from the cache, or sends it to the base, with an ETag if the entity is cached.
    ///
    /// - Throws: The errors of the base; `ODataError` with status 504 under ``CachePolicy/onlyCached`` for
    ///   content that is not cached.
    public func execute(_ request: ODataRequest) async throws -> ODataResponse {
        let model = try await model
        let subject = CachedSubject(request, model)
        if request.method == .read {
            switch subject {
            case .entity(let set, let key): return try await entity(request, set, key: key)
            case .page(let set):
                let address = PageIndex.Address.page(set, request.pageName)
                let start = request.isWholeSet ? address : nil
                return try await page(request, PageIndex.Continuation(address: address, start: start), model: model)
            case .link(let link):
                guard let continuation = await pages.continuation(of: link) else { return try await other(request) }
                return try await page(request, continuation, model: model)
            case .other: return try await other(request)
            }
        }
        guard policy != .onlyCached else { throw Self.notCached(request) }
        return try await change(request, subject)
    }

    // MARK: Reading

    private func entity(_ request: ODataRequest, _ set: String, key: EntityKey) async throws -> ODataResponse {
        let entry = await cache.entry(key, in: set)
        // An entity with a local change is not an answer of the service.
        let known = entry.flatMap { $0.state == .server ? $0.entity : nil }.flatMap { $0.isWhole ? $0 : nil }
        let isGuarded = request.ifNoneMatch != nil || request.ifMatch != nil
        if let known, !isGuarded, await answersAlone(.entity(set, key)) { return Self.response(known) }
        guard policy != .onlyCached else { throw Self.notCached(request) }
        var conditional = request
        if !isGuarded { conditional.ifNoneMatch = known?.control.etag }
        do {
            let response = try await base.execute(conditional)
            if response.status == 304, !isGuarded, let known {
                await pages.note(.entity(set, key))
                return Self.response(known)
            }
            if case .entity(var entity) = response.body, entity.key == key {
                if entity.control.etag == nil { entity.control.etag = response.etag }
                try await keep([entity], in: set)
                await pages.note(.entity(set, key))
            }
            return response
        } catch {
            if let error = error as? ODataError, error.status == 404 || error.status == 410 {
                await cache.remove([key], from: set)
            }
            if let known, !isGuarded, mayAnswerInstead(of: error) { return Self.response(known) }
            throw error
        }
    }

    private func page(
        _ request: ODataRequest, _ place: PageIndex.Continuation, model: EntityDataModel
    ) async throws -> ODataResponse {
        if await answersAlone(place.address), let page = await cachedPage(request, place.address, model: model) {
            return page
        }
        guard policy != .onlyCached else { throw Self.notCached(request) }
        do {
            let response = try await base.execute(request)
            if case .page(let page) = response.body { try await keep(page, place, model: model) }
            return response
        } catch {
            if mayAnswerInstead(of: error), let page = await cachedPage(request, place.address, model: model) {
                return page
            }
            throw error
        }
    }

    /// Caches a page. After the last page of a set, also records the whole set.
    private func keep(_ page: EntityPage, _ place: PageIndex.Continuation, model: EntityDataModel) async throws {
        let (address, set) = (place.address, place.address.set)
        try await keep(page.entities, in: set)
        let keys = page.entities.compactMap(\.key)
        guard keys.count == page.entities.count else { return }
        let documents = PageDocuments(cache, model)
        let kept = PageIndex.Page(keys: keys, count: page.count, nextLink: page.nextLink, start: place.start)
        await documents.forget(await pages.keep(kept, at: address))
        await documents.keep(kept, at: address)
        guard page.nextLink == nil, let start = place.start, let all = await pages.keys(from: start) else { return }
        await pages.setWholeSet(all, of: set)
        await documents.keepWholeSet(all, of: set)
        // The set contains no other entities.
        let known = Set(all)
        let gone = await cache.entries(of: set).filter { $0.state == .server }.compactMap(\.entity.key)
            .filter { !known.contains($0) }
        if !gone.isEmpty { await cache.remove(gone, from: set) }
    }

    /// Returns the page at an address from memory or from a document of an earlier launch.
    private func knownPage(_ address: PageIndex.Address, _ model: EntityDataModel) async -> PageIndex.Page? {
        if let page = await pages.page(at: address) { return page }
        guard let page = await PageDocuments(cache, model).page(at: address) else { return nil }
        await pages.restore(page, at: address)
        return page
    }

    private func knownWholeSet(_ set: String, _ model: EntityDataModel) async -> [EntityKey]? {
        if let keys = await pages.wholeSet(set) { return keys }
        guard let keys = await PageDocuments(cache, model).wholeSet(set) else { return nil }
        await pages.setWholeSet(keys, of: set)
        return keys
    }

    /// Returns the cached page, or computes it if the whole set is cached.
    private func cachedPage(
        _ request: ODataRequest, _ address: PageIndex.Address, model: EntityDataModel
    ) async -> ODataResponse? {
        let set = address.set
        if let kept = await knownPage(address, model), let entities = await entities(kept.keys, of: set) {
            var page = EntityPage(entities: entities)
            page.count = kept.count
            page.nextLink = kept.nextLink
            return ODataResponse(body: .page(page))
        }
        guard request.link == nil, let keys = await knownWholeSet(set, model), await entities(keys, of: set) != nil,
            let answer = try? await cache.entities(matching: request.url)
        else { return nil }
        return ODataResponse(body: .page(EntityPage(entities: answer.entities, count: answer.count.map { Int64($0) })))
    }

    /// Returns the entities of some keys, or `nil` if one of them is not cached as the service returned it.
    private func entities(_ keys: [EntityKey], of set: String) async -> [ODataEntity]? {
        var entities: [ODataEntity] = []
        for key in keys {
            guard let entry = await cache.entry(key, in: set), entry.state == .server, entry.entity.isWhole else {
                return nil
            }
            entities.append(entry.entity)
        }
        return entities
    }

    /// Sends a request that cannot be cached: an unknown link, a projection, an expansion or a count.
    private func other(_ request: ODataRequest) async throws -> ODataResponse {
        guard policy != .onlyCached else { throw Self.notCached(request) }
        return try await base.execute(request)
    }

    /// A cache that is too small or refuses an entity does not make the request fail.
    private func keep(_ entities: [ODataEntity], in set: String) async throws {
        do { try await cache.store(entities, in: set) } catch is CacheError {}
    }

    private func answersAlone(_ address: PageIndex.Address) async -> Bool {
        switch policy {
        case .validate, .validateElseCached: false
        case .cached(let time): await pages.isFresh(address, within: time)
        case .onlyCached: true
        }
    }

    /// Returns whether an error means that the service was unreachable, and not that it refused the request.
    private func mayAnswerInstead(of error: any Error) -> Bool {
        if policy == .validate || error is CancellationError { return false }
        guard let error = error as? ODataError else { return true }
        return [502, 503, 504].contains(error.status)
    }

    private static func response(_ entity: ODataEntity) -> ODataResponse {
        ODataResponse(body: .entity(entity), etag: entity.control.etag)
    }

    private static func notCached(_ request: ODataRequest) -> ODataError {
        ODataError(
            status: 504, code: "NotCached", message: "This is not in the cache, and the service is not asked.",
            target: request.url.urlEncoded())
    }

    // MARK: Changing

    private func change(_ request: ODataRequest, _ subject: CachedSubject) async throws -> ODataResponse {
        guard case .entity(let set, let key) = subject else {
            let response = try await base.execute(request)
            if request.method == .create, case .page(let set) = subject, case .entity(let entity) = response.body {
                try await keep([entity], in: set)
                await forgetPages(of: set)
            } else {
                // A batch, an action or a link may have changed any entity.
                await forgetEverything()
            }
            return response
        }
        let shown = try await show(request, set, key: key)
        do {
            let response = try await base.execute(request)
            await forgetPages(of: set)
            if request.method == .delete {
                await cache.remove([key], from: set)
            } else if case .entity(var entity) = response.body {
                if entity.control.etag == nil { entity.control.etag = response.etag }
                if case .update = shown, let cache = cache as? MemoryEntityCache {
                    try await cache.confirm(key, in: set, as: entity)
                } else {
                    try await keep([entity], in: set)
                }
            } else if request.method != .create {
                // The new server version is unknown until the entity is read again.
                await cache.remove([key], from: set)
            }
            return response
        } catch {
            if let error = error as? ODataError, [404, 410, 412].contains(error.status) {
                // Someone else has changed or deleted the entity, so the cached version is outdated.
                await cache.remove([key], from: set)
            } else {
                await takeBack(shown, set, key: key)
            }
            throw error
        }
    }

    /// The part of a change that the cache shows before the service has accepted it.
    private enum Shown {
        case nothing
        case update
        /// The entity before its deletion.
        case deletion(CachedEntity)
    }

    /// Shows a change before the service has accepted it.
    private func show(_ request: ODataRequest, _ set: String, key: EntityKey) async throws -> Shown {
        guard showsChangesAtOnce, let cache = cache as? MemoryEntityCache else { return .nothing }
        if request.method == .delete {
            return await cache.withdraw(key, from: set).map { .deletion($0) } ?? .nothing
        }
        guard case .entity(let patch) = request.body, request.method == .update,
            let old = await cache.entity(key, in: set)
        else { return .nothing }
        // A cache that is full of local changes does not show further ones.
        let isShown = (try? await cache.change(old.updated(with: patch), in: set, state: .optimistic)) != nil
        return isShown ? .update : .nothing
    }

    /// Restores the server version after the service has refused a change.
    private func takeBack(_ shown: Shown, _ set: String, key: EntityKey) async {
        guard let cache = cache as? MemoryEntityCache else { return }
        switch shown {
        case .nothing: break
        case .update: await cache.revert(key, in: set)
        case .deletion(let entry): await cache.putBack(entry, in: set)
        }
    }

    private func forgetPages(of set: String) async {
        await pages.forget(set)
        if let model = await cache.model { await PageDocuments(cache, model).forget(set) }
    }

    private func forgetEverything() async {
        await pages.forgetAll()
        if let model = await cache.model { await PageDocuments(cache, model).forget() }
        for collection in await cache.collections {
            let keys = await cache.entries(of: collection).filter { $0.state == .server }.compactMap(\.entity.key)
            await cache.remove(keys, from: collection)
        }
    }
}

/// The subject of a request, as far as a cache of entities distinguishes it.
enum CachedSubject {
    case entity(String, EntityKey)
    case page(String)
    /// A page that is requested by its link.
    case link(String)
    case other

    init(_ request: ODataRequest, _ model: EntityDataModel) {
        self = .other
        let options = request.url.options
        guard request.format == nil, request.isolation == nil else { return }
        if let link = request.link {
            self = .link(link)
            return
        }
        guard options.select.isEmpty,
            options.expand.isEmpty, options.compute.isEmpty, options.apply.isEmpty,
            let bound = try? request.bound(in: model),
            case .entitySet(let set, _)? = bound.resource.steps.first
        else { return }
        switch (bound.resource.target, bound.resource.steps.count) {
        case (.entities, 1) where !request.preferences.trackChanges: self = .page(set.name)
        case (.entity, 2):
            if case .key(let key) = bound.resource.steps[1] { self = .entity(set.name, key) }
        default: break
        }
    }
}

extension ODataRequest {
    fileprivate var isWholeSet: Bool { url.options == QueryOptions() }

    /// The name of the requested page. The maximum page size is part of it.
    fileprivate var pageName: String {
        (preferences.maxPageSize.map { "\($0) " } ?? "") + url.urlEncoded()
    }
}

extension ODataEntity {
    var isWhole: Bool {
        shape.properties.indices.allSatisfy { values[$0] != nil || shape.primitiveTypes[$0] == .stream }
    }
}
