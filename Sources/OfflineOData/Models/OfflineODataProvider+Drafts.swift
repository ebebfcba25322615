import GRDB
import ODataModel
import ODataQuery
import ODataService
import ODataStore

/// Entities that only the store has, and drafts of the service's.
extension OfflineODataProvider {
    /// Deletes everything that the app has for itself (``Options/clientOnlyModel``), drafts included.
    ///
    /// - Throws: `StoreError`.
    public func purgeClientOnlyData() async throws {
        let model = model
        try await database.write { try LocalModel.purge(model, in: $0) }
    }

    /// Copies an entity into the set of its drafts. Changing the draft changes nothing else, and is never sent.
    ///
    /// - Parameters:
    ///   - entity: the entity by its key.
    ///   - drafts: the set of drafts (``Options/localDrafts``); the only one where it is left out.
    /// - Returns: the draft.
    /// - Throws: `ODataError` 404 for what is not there, 409 for one that has a draft already.
    @discardableResult
    public func makeDraft(of entity: ODataURL, in drafts: String? = nil) async throws -> Entity {
        try await transaction { [self] changes in
            guard let original = try changes.entities(entity.description).first, let set = setName(of: entity) else {
                throw ODataError.notFound(entity.description)
            }
            guard let target = drafts ?? options.localDrafts.first(where: { $0.value == set })?.key else {
                throw ODataError.notImplemented("Drafts of \(set)")
            }
            return try changes.create(original.loadedCopy, in: target)
        }
    }

    /// Makes a draft what counts: the active entity gets its values, or is created where there is none, and the draft
    /// goes. This is a change like any other, which the next upload sends.
    ///
    /// - Parameter draft: the draft by its key.
    /// - Throws: `ODataError` 404 for what is no draft; what changing the active entity throws.
    public func activateDraft(_ draft: ODataURL) async throws {
        try await transaction { [self] changes in
            guard let set = setName(of: draft), let active = options.localDrafts[set],
                let entity = try changes.entities(draft.description).first, let key = entity.key
            else { throw ODataError.notFound(draft.description) }
            let url = KeyURL.url(set: active, key: key).description
            if try BulkLoader(set: active, mapping: mapping, in: changes.database).find(key) == nil {
                try changes.create(entity.loadedCopy, in: active)
            } else {
                var values: [String: ODataValue] = [:]
                let keys = Set(entity.shape.key.map(\.path))
                for (ordinal, property) in entity.shape.properties.enumerated() where !keys.contains(property.name) {
                    if !property.isComputed, let value = entity.values[ordinal] { values[property.name] = value }
                }
                try changes.update(url, values)
            }
            try changes.delete(draft.description)
        }
    }

    private func setName(of url: ODataURL) -> String? {
        guard case .name(let set, .key)? = url.path.segments.first else { return nil }
        return set.text
    }
}

extension Entity {
    /// The same values without what was read along with them.
    fileprivate var loadedCopy: Entity { Entity(shape: shape, values: values) }

    /// Whether the entity is a draft: in a set of drafts of this store.
    public var isDraft: Bool { control.annotations["\(EngineSet.namespace).IsDraft"] == .boolean(true) }
}
