import GRDB
import ODataModel
import ODataQuery
import ODataSQL
import ODataService

/// Drafts at the service: an entity with `IsActiveEntity=false` beside the active one, created and activated by
/// the actions that `Common.DraftRoot` names on the entity set.
///
/// Each action is called at the service at once, and the store has its result when the call returns. In between,
/// the draft is changed offline like any other entity.
extension OfflineStore.Drafts {
    /// An action of a set of drafts.
    private enum DraftAction: String {
        case edit = "EditAction"
        case prepare = "PreparationAction"
        case activate = "ActivationAction"

        /// The conventional name, used if the set does not name the action.
        var conventional: String {
            switch self {
            case .edit: "draftEdit"
            case .prepare: "draftPrepare"
            case .activate: "draftActivate"
            }
        }
    }

    /// Lets the service create a draft of an active entity.
    ///
    /// - Parameters:
    ///   - entity: the active entity by its key, such as `Orders(ID=7,IsActiveEntity=true)`.
    ///   - preservesChanges: whether an abandoned draft of another user is kept (status 409 then).
    /// - Returns: the draft.
    /// - Throws: ``OfflineError/notConnected``; ``OfflineError/busy(processID:)`` during a synchronisation;
    ///   `ODataError` 501 for a set without drafts, 409 while changes of the entity or its parts are pending, and
    ///   the errors of the service.
    @discardableResult
    public func editServiceDraft(of entity: ODataURL, preservesChanges: Bool = true) async throws -> ODataEntity {
        try await callDraftAction(.edit, on: entity, parameters: ["PreserveChanges": .boolean(preservesChanges)])
    }

    /// Lets the service check and complete a draft.
    ///
    /// - Returns: the current draft.
    /// - Throws: as ``activateServiceDraft(_:)``.
    @discardableResult
    public func prepareServiceDraft(_ draft: ODataURL) async throws -> ODataEntity {
        try await callDraftAction(.prepare, on: draft, parameters: [:])
    }

    /// Lets the service activate a draft. The draft is removed from the store.
    ///
    /// - Parameter draft: the draft by its key, such as `Orders(ID=7,IsActiveEntity=false)`.
    /// - Returns: the active entity.
    /// - Throws: ``OfflineError/notConnected``; `ODataError` 409 while changes of the draft or its parts are
    ///   pending (contained entities, and drafts that refer to it by foreign keys), and the errors of the
    ///   service.
    @discardableResult
    public func activateServiceDraft(_ draft: ODataURL) async throws -> ODataEntity {
        try await callDraftAction(.activate, on: draft, parameters: [:])
    }

    private func callDraftAction(
        _ action: DraftAction, on url: ODataURL, parameters: [String: ODataValue]
    ) async throws -> ODataEntity {
        let steps = try Binder(model: store.serviceModel).bind(url).resource.steps
        guard steps.count == 2, case .entitySet(let set, _) = steps[0], case .key(let key) = steps[1] else {
            throw OfflineError.unknown(kind: "entity", name: url.description)
        }
        let name = try draftAction(action, of: set)
        // No other download or change of the user may come before the response is stored.
        let lock = try SyncLock(path: StoreFiles.lock(in: store.directory))
        defer { withExtendedLifetime(lock) {} }
        try await checkUploaded(set.name, key, url: url)
        var request = ODataRequest(.create, url)
        request = try await store.followingAlias(request) ?? request
        request.url.path.segments.append(.name(Identifier(name.description), .none))
        let known = store.serviceModel.operations(name).flatMap(\.parameters).map(\.name)
        request.body = .parameters(parameters.filter { known.contains($0.key) })
        request.preferences = Preferences(returns: .representation)
        guard case .entity(let answer) = try await store.connection().execute(request).body else {
            throw ODataError(
                status: 502, code: "UnexpectedAnswer", message: "\(name) was answered without an entity.")
        }
        try await keep(answer, of: set.name, activated: action == .activate ? key : nil)
        return answer
    }

    private func draftAction(_ action: DraftAction, of set: EntitySet) throws -> QualifiedName {
        let root = set.annotations.annotation(Vocabulary.common + "DraftRoot")?.value
        let names = [
            root?.recordProperty(action.rawValue)?.string, "\(set.type.namespace).\(action.conventional)",
        ].compactMap { $0.flatMap { QualifiedName($0) } }
        guard let name = names.first(where: { !store.serviceModel.operations($0).isEmpty }) else {
            throw ODataError.notImplemented("\(action.conventional) of \(set.name)")
        }
        return name
    }

    /// The service cannot copy or activate changes that it does not have yet.
    private func checkUploaded(_ set: String, _ key: EntityKey, url: ODataURL) async throws {
        let waits = try await store.database.read { [mapping = store.mapping, queue = store.queue] database in
            guard let table = mapping.tables[set],
                let rowID = try BulkLoader(table: table, in: database).find(key)
                    ?? Aliases(mapping: mapping).rowID(set: set, key: key, in: database)
            else { return false }
            return try DraftChanges(mapping: mapping, queue: queue).wait(of: rowID, table, in: database)
        }
        guard waits else { return }
        throw ODataError(
            status: 409, code: "ChangesWait", message: "\(url) has pending changes. Upload them first.")
    }

    /// Stores the service's response. The entity has no owner until the next download brings it. Pending changes
    /// stay on top of it.
    private func keep(_ entity: ODataEntity, of set: String, activated draft: EntityKey?) async throws {
        try await store.database.write { [mapping = store.mapping, queue = store.queue] database in
            guard let table = mapping.tables[set] else { return }
            let loader = try BulkLoader(table: table, in: database)
            let images = BeforeImages(snapshots: queue.snapshots)
            if let draft, draft != entity.key, let rowID = try loader.find(draft) {
                if try queue.hasRequests(set: set, rowID: rowID, in: database) {
                    let owner = try images.image(set: set, rowID: rowID, shape: table.shape, in: database)?.owner ?? 0
                    let gone = BeforeImages.Image(entity: nil, etag: nil, owner: owner)
                    try images.save(gone, set: set, rowID: rowID, in: database)
                } else {
                    try loader.delete(rowID)
                }
            }
            guard let key = entity.key else { return }
            let deleted = try images.deletedRows(of: table, in: database)[key]?.first
            guard let rowID = try loader.find(key) ?? deleted else {
                let rowID = try loader.load(entity, owner: 0).rowID
                return try Membership.markUploaded(rowID, of: set, in: database)
            }
            let requests = try queue.requests(set: set, rowID: rowID, in: database)
            guard !requests.isEmpty else { return try loader.update(rowID, entity) }
            let known = try images.image(set: set, rowID: rowID, shape: table.shape, in: database)
            let version = known?.entity?.merging(entity) ?? entity
            try images.save(
                BeforeImages.Image(entity: version, etag: entity.control.etag, owner: known?.owner ?? 0), set: set,
                rowID: rowID, in: database)
            guard try Rows.owner(table, rowID: rowID, in: database) != nil else { return }
            try loader.update(rowID, requests.reduce(version) { $0.merging($1.changes) })
        }
    }
}
