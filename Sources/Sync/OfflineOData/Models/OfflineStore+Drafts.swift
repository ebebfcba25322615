import GRDB
import ODataModel
import ODataQuery
import ODataSQL
import ODataService

extension OfflineStore {
    /// Drafts of entities, in the store or at the service.
    public var drafts: Drafts { Drafts(store: self) }

    /// Drafts of entities, and other data that only the store has.
    ///
    /// A draft of the store is in one of ``CreationOptions/localDrafts``: changing it changes nothing else until
    /// it is activated.
    ///
    /// ```swift
    /// let draft = try await store.drafts.make(of: ODataURL(parsing: "Orders(7)"))
    /// // The user edits the draft, also over several starts of the app.
    /// try await store.drafts.activate(ODataURL(parsing: "OrderDrafts(7)"))
    /// ```
    public struct Drafts: Sendable {
        let store: OfflineStore
    }
}

extension OfflineStore.Drafts {
    /// Deletes all data that only the store has (``OfflineStore/CreationOptions/clientOnlyModel``), drafts included.
    ///
    /// - Throws: `StoreError`.
    public func purgeClientOnlyData() async throws {
        let model = store.model
        try await store.database.write { try LocalModel.purge(model, in: $0) }
    }

    /// Returns the number of entities that only the store has (``OfflineStore/CreationOptions/clientOnlyModel``), drafts included.
    ///
    /// - Throws: `StoreError`.
    public func count() async throws -> Int {
        let model = store.model
        return try await store.database.read { try LocalModel.countRows(of: model, in: $0) }
    }

    /// Copies an entity into the set of its drafts. Changes of the draft affect no other entity, and are never
    /// sent. The base version of the draft is stored with it.
    ///
    /// - Parameters:
    ///   - entity: the entity by its key.
    ///   - drafts: the set of drafts (``OfflineStore/CreationOptions/localDrafts``); may be left out if there is
    ///     only one.
    /// - Returns: the draft.
    /// - Throws: `ODataError` 404 if the entity does not exist, 409 if it has a draft already.
    @discardableResult
    public func make(of entity: ODataURL, in drafts: String? = nil) async throws -> ODataEntity {
        try await store.changes.transaction { [self] changes in
            guard let original = try changes.entities(entity.description).first, let set = setName(of: entity) else {
                throw ODataError.notFound(entity.description)
            }
            guard let target = drafts ?? store.options.creation.localDrafts.first(where: { $0.value == set })?.key
            else {
                throw ODataError.notImplemented("Drafts of \(set)")
            }
            let draft = try changes.create(original.loadedCopy, in: target)
            try keepOrigin(of: draft, in: target, from: set, database: changes.database)
            return draft
        }
    }

    /// Applies a draft to the active entity, and removes the draft. This is a change like any other, which the
    /// next upload sends.
    ///
    /// The active entity gets the properties changed in the draft, so that later downloads are not overwritten.
    /// If someone else has changed the same property, the change is based on the version from which the draft was
    /// made: the upload finds the conflict, and its policy decides. A draft that was not made by ``make(of:in:)``
    /// provides all its values. Without an active entity, one is created.
    ///
    /// - Parameter draft: the draft by its key.
    /// - Throws: `ODataError` 404 if it is no draft; 409 if someone else has changed the same property while
    ///   changes of the active entity are pending on another version than the draft's, which must be uploaded
    ///   first; the errors of changing the active entity. Nothing was changed then.
    public func activate(_ draft: ODataURL) async throws {
        // A single change of the service's entities needs no change set of its own.
        try await store.database.write { [self] database in
            let mapping = store.mapping
            let changes = LocalTransaction(provider: store, options: ChangeOptions(), database: database)
            guard let set = setName(of: draft), let active = store.options.creation.localDrafts[set],
                let table = mapping.tables[active], let key = try changes.entities(draft.description).first?.key
            else { throw ODataError.notFound(draft.description) }
            let drafts = try BulkLoader(set: set, mapping: mapping, in: database)
            guard let row = try drafts.find(key), let entity = try drafts.read(row) else {
                throw ODataError.notFound(draft.description)
            }
            // The active entity may have got its final key since.
            let present = try Aliases(mapping: mapping).key(set: active, formerly: key, in: database) ?? key
            if let rowID = try BulkLoader(table: table, in: database).find(present) {
                let origin = try BeforeImages(snapshots: store.queue.snapshots).image(
                    set: set, rowID: row, shape: table.shape, in: database)
                let activation = DraftActivation(
                    draft: entity, origin: origin, table: table, rowID: rowID,
                    url: KeyURL.url(set: active, key: present, mapping).description, queue: store.queue)
                try activation.run(changes)
            } else {
                try changes.create(entity.loadedCopy, in: active)
            }
            try changes.delete(draft.description)
        }
    }

    /// Stores the original values of a draft, and the server version of the entity at that time.
    private func keepOrigin(of draft: ODataEntity, in drafts: String, from active: String, database: Database) throws {
        let (mapping, queue) = (store.mapping, store.queue)
        guard let key = draft.key, let table = mapping.tables[active],
            let row = try BulkLoader(set: drafts, mapping: mapping, in: database).find(key)
        else { return }
        let before = BeforeImages(snapshots: queue.snapshots)
        let loader = try BulkLoader(table: table, in: database)
        var etag: String?
        if let rowID = try loader.find(key) {
            if let image = try before.image(set: active, rowID: rowID, shape: table.shape, in: database) {
                etag = image.etag
            } else if try !queue.hasRequests(set: active, rowID: rowID, in: database) {
                etag = try loader.read(rowID)?.control.etag
            }
        }
        try before.save(.init(entity: draft, etag: etag, owner: 0), set: drafts, rowID: row, in: database)
    }

    private func setName(of url: ODataURL) -> String? {
        guard case .name(let set, .key)? = url.path.segments.first else { return nil }
        return set.text
    }
}

/// Applies the changes of a draft to the active entity.
private struct DraftActivation {
    let draft: ODataEntity
    /// The base version of the draft; `nil` if it was not made from an entity.
    let origin: BeforeImages.Image?
    /// The table of the active entity.
    let table: TableStorage
    let rowID: Int64
    let url: String
    let queue: QueueTable

    func run(_ changes: LocalTransaction) throws {
        let values = changedValues
        guard !values.isEmpty else { return }
        let contested = try contested(values, in: changes.database)
        try changes.update(url, values)
        guard let origin, !contested.isEmpty else { return }
        try guardUpdate(of: contested, by: origin, in: changes.database)
    }

    /// The properties changed in the draft.
    private var changedValues: [String: ODataValue] {
        var values: [String: ODataValue] = [:]
        let keys = Set(draft.shape.key.map(\.path))
        for (ordinal, property) in draft.shape.properties.enumerated()
        where !keys.contains(property.name) && !property.isComputed {
            guard let value = draft.values[ordinal], value != origin?.entity?[property.name] else { continue }
            values[property.name] = value
        }
        let former = origin?.entity?.dynamicProperties ?? [:]
        for name in Set(draft.dynamicProperties.keys).union(former.keys)
        where draft.dynamicProperties[name] != former[name] {
            values[name] = draft.dynamicProperties[name] ?? .null
        }
        return values
    }

    /// The properties to be changed that someone else has changed since the draft was made. Local changes belong
    /// to the same user, and are in the queue before this one.
    private func contested(_ values: [String: ODataValue], in database: Database) throws -> Set<String> {
        guard let former = origin?.entity, let current = try BulkLoader(table: table, in: database).read(rowID) else {
            return []
        }
        let requests = try queue.requests(set: table.set, rowID: rowID, in: database)
        let names = values.keys.filter { name in
            guard let value = current[name], value != former[name], value != values[name] else { return false }
            return !requests.contains { $0.changes[name] != nil }
        }
        return Set(names)
    }

    /// Bases the update on the version from which the draft was made. This is impossible behind another pending
    /// change of the entity, which will provide the version. The update joins that change if both have the same
    /// base version, and meets the conflict with it.
    private func guardUpdate(
        of contested: Set<String>, by origin: BeforeImages.Image, in database: Database
    ) throws {
        let requests = try queue.requests(set: table.set, rowID: rowID, in: database).filter { $0.kind != .stream }
        guard
            let update = requests.last(where: { request in
                request.kind == .update && contested.contains { request.changes[$0] != nil }
            }), let former = origin.entity?.only(where: contested.contains)
        else { return }
        try queue.rewrite(
            update.id, key: ODataEntity(shape: update.changes.shape, key: update.key), changes: update.changes,
            base: update.base?.merging(former) ?? former, in: database)
        guard let first = requests.first, first.id != update.id else {
            return try queue.setETag(origin.etag, of: update.id, in: database)
        }
        if requests.count == 2, origin.etag != nil, first.etag == origin.etag,
            let rewritten = try queue.request(update.id, in: database),
            try QueueFolding(queue: queue, categories: nil).join(rewritten, into: first, in: database)
        {
            return
        }
        throw ODataError(
            status: 409, code: "ChangesWait",
            message: "\(url) has pending changes of another version than the draft. Upload them first.")
    }
}

extension ODataEntity {
    /// The entity with its own values, without expanded entities.
    fileprivate var loadedCopy: ODataEntity {
        var copy = ODataEntity(shape: shape, values: values)
        for (name, value) in dynamicProperties { copy.dynamicProperties[name] = value }
        return copy
    }

    /// Whether the entity is a draft: in a set of drafts of this store.
    public var isDraft: Bool { control.annotations["\(EngineSet.namespace).IsDraft"] == .boolean(true) }
}
