import ODataModel
import ODataQuery
public import ODataService

extension EntityCache {
    /// Merges a page of changes (OData Protocol 4.01, 11.3): entities that the service sent in part keep their other
    /// properties, those that it says are gone go, and its delta link is kept for the next time.
    ///
    /// - Parameters:
    ///   - page: A page that a delta link, or a request that asked for tracking, gave.
    ///   - collection: The entity set.
    /// - Throws: ``CacheError``.
    public func merge(_ page: EntityPage, into collection: String) async throws {
        var merged: [CachedEntity] = []
        for entity in page.entities {
            guard let key = entity.key, let old = await entry(key, in: collection) else {
                merged.append(CachedEntity(entity))
                continue
            }
            let known = old.state == .server ? old.entity : old.before
            merged.append(CachedEntity(known.map { $0.updated(with: entity) } ?? entity))
        }
        if !merged.isEmpty { try await store(merged, in: collection) }
        var gone = page.removed.compactMap(\.key)
        let ids = Set(page.removed.filter { $0.key == nil }.map(\.id))
        if !ids.isEmpty {
            gone += await entries(of: collection).filter { ids.contains($0.entity.control.id ?? "") }
                .compactMap(\.entity.key)
        }
        if !gone.isEmpty { await remove(gone, from: collection) }
        if let link = page.deltaLink { await setDeltaLink(link, of: collection) }
    }

    /// Brings a collection up to date: by its delta link where there is one, else by reading it all and asking the
    /// service to track changes. A delta link that the service no longer knows (410) is forgotten, and all is read.
    ///
    /// - Returns: How many entities were new, changed or gone.
    /// - Throws: ``CacheError``, and what the provider throws; pages that came before stay merged.
    @discardableResult
    public func refresh(_ collection: String, from provider: any ODataProvider) async throws -> Int {
        if await model == nil { try await adopt(provider.model) }
        let service = DataService(provider)
        var count = 0
        if let link = await deltaLink(of: collection) {
            do {
                for try await page in service.changes(since: link) {
                    count += page.entities.count + page.removed.count
                    try await merge(page, into: collection)
                }
                return count
            } catch let error as ODataError where error.status == 410 {
                await setDeltaLink(nil, of: collection)
                count = 0
            }
        }
        var seen: Set<EntityKey> = []
        for try await page in service.pages(
            ODataURL(set: collection), preferences: Preferences(trackChanges: true))
        {
            count += page.entities.count
            seen.formUnion(page.entities.compactMap(\.key))
            try await merge(page, into: collection)
        }
        // A collection that was read to its end has no others; changes of the app are not the service's.
        let gone = await entries(of: collection).filter { $0.state == .server }.compactMap(\.entity.key)
            .filter { !seen.contains($0) }
        await remove(gone, from: collection)
        return count + gone.count
    }
}

extension ODataEntity {
    /// The entity with everything that another version of it has loaded.
    func updated(with newer: ODataEntity) -> ODataEntity {
        guard newer.shape.name == shape.name else { return newer }
        var result = newer
        for (ordinal, value) in values.enumerated() where result.values[ordinal] == nil {
            result.values[ordinal] = value
        }
        for (name, value) in dynamicProperties where result.dynamicProperties[name] == nil {
            result.dynamicProperties[name] = value
        }
        for (name, value) in related where result.related[name] == nil { result.related[name] = value }
        if result.control.id == nil { result.control.id = control.id }
        result.markUnchanged()
        return result
    }
}
