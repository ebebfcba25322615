import GRDB
import ODataModel
import ODataQuery
import ODataSQL
import ODataService

/// Drafts that the service keeps itself: an entity with `IsActiveEntity=false` beside the active one, made and activated
/// by the actions that `Common.DraftRoot` names on the entity set.
///
/// Each is called at the service at once, and what it answers is in the store when the call returns. Between them the
/// draft is changed offline like any other entity.
extension OfflineStore.Drafts {
    /// An action of a set of drafts.
    private enum DraftAction: String {
        case edit = "EditAction"
        case prepare = "PreparationAction"
        case activate = "ActivationAction"

        /// The name by convention, where the set does not tell.
        var conventional: String {
            switch self {
            case .edit: "draftEdit"
            case .prepare: "draftPrepare"
            case .activate: "draftActivate"
            }
        }
    }

    /// Has the service make a draft of an active entity, to be changed and activated.
    ///
    /// - Parameters:
    ///   - entity: the active entity by its key, such as `Orders(ID=7,IsActiveEntity=true)`.
    ///   - preservesChanges: whether a draft that somebody else has left unchanged for long is kept (409 then).
    /// - Returns: the draft.
    /// - Throws: ``OfflineError/notConnected``; ``OfflineError/busy(processID:)`` while the store is synchronised; `ODataError` 501 for a
    ///   set without drafts, 409 while changes of the entity or of its parts wait to be uploaded, and what the service answers.
    @discardableResult
    public func editServiceDraft(of entity: ODataURL, preservesChanges: Bool = true) async throws -> ODataEntity {
        try await callDraftAction(.edit, on: entity, parameters: ["PreserveChanges": .boolean(preservesChanges)])
    }

    /// Has the service check a draft, and complete it.
    ///
    /// - Returns: the draft as it is now.
    /// - Throws: as ``activateServiceDraft(_:)``.
    @discardableResult
    public func prepareServiceDraft(_ draft: ODataURL) async throws -> ODataEntity {
        try await callDraftAction(.prepare, on: draft, parameters: [:])
    }

    /// Has the service make a draft what counts. The draft goes from the store.
    ///
    /// - Parameter draft: the draft by its key, such as `Orders(ID=7,IsActiveEntity=false)`.
    /// - Returns: the active entity.
    /// - Throws: ``OfflineError/notConnected``; `ODataError` 409 while changes of the draft wait to be uploaded, or changes of
    ///   its parts (what it contains, and drafts that lead to it by foreign keys), and what the service answers.
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
        // Nobody else may take in what the service has, or give the store to another user, before the answer is in it.
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

    /// What the service does not have yet it cannot copy or activate.
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
            status: 409, code: "ChangesWait", message: "Changes of \(url) wait: they must be uploaded first.")
    }

    /// Takes in what the service answered: it is owned by nobody until the next download brings it. Changes that wait stay on
    /// top of it.
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
