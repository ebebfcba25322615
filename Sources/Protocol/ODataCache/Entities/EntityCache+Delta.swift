import ODataModel
import ODataQuery
public import ODataService

extension EntityCache {
    /// Merges a page of changes (OData Protocol 4.01, 11.3). A partial entity keeps its other properties,
    /// removed entities are deleted, and the delta link is stored.
    ///
    /// - Parameters:
    ///   - page: A page from a delta link, or from a request that asked for change tracking.
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

    /// Refreshes a collection by its delta link. If there is none, all entities are read, and the service is
    /// asked to track changes. A delta link that the service does not know (410) is discarded, and all entities
    /// are read.
    ///
    /// - Returns: The number of new, changed and removed entities.
    /// - Throws: ``CacheError``, and the errors of the provider; pages that were already received stay merged.
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
        // After a complete read, entities that were not received do not exist. Local changes are kept.
        let gone = await entries(of: collection).filter { $0.state == .server }.compactMap(\.entity.key)
            .filter { !seen.contains($0) }
        await remove(gone, from: collection)
        return count + gone.count
    }
}

extension ODataEntity {
    /// Returns the entity with all values of a newer version applied.
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
