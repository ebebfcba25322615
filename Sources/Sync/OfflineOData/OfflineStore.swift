import Foundation
import GRDB
import ODataHTTP
import ODataModel
import ODataQuery
import ODataSQL
import ODataService

/// A part of an OData service, kept offline.
///
/// The app works on the local store at any time. Reads return the downloaded rows with the local changes on top,
/// and each change is queued in its own transaction. ``upload(options:)`` sends the queue, ``download(_:)``
/// brings the changes of other clients, ``sync(options:)`` does both.
///
/// All other functions belong to a facet: ``queries``, ``changes``, ``streams``, ``drafts``, ``indexes``,
/// ``users``, ``maintenance``, ``observe``, ``changeLog`` and ``logRecords``.
///
/// ```swift
/// let store = try await OfflineStore.create(
///     at: directory, protection: .encrypted(.key(key)), serviceRoot: root,
///     remote: try ODataClient(serviceRoot: root, transport: transport),
///     queries: [try DefiningQuery("orders", "Orders?$filter=ShippedDate eq null")])
/// try await store.download()
/// let service = DataService(store)
///
/// try await store.queries.add(DefiningQuery("stock", "Products?$select=ID,Stock"))
/// for change in try await store.changes.pending() { print(change.kind, change.entityText) }
/// ```
public final class OfflineStore: ODataProvider {
    /// The directory of the store's files.
    public let directory: String
    /// The service's model, as kept with the store, with the engine's own sets (``EngineSet``).
    public let model: EntityDataModel
    /// The service's model alone.
    public let serviceModel: EntityDataModel
    /// The root of the service that the store was cloned from.
    public let serviceRoot: String

    /// The capabilities of the store, whatever its service supports. The query language has functions for the
    /// state of changes, such as `outpost.isLocal()`, and paths through the entities of queued requests, such as
    /// `RequestQueue(3)/AffectedEntity/City`.
    public var traits: ProviderTraits {
        var traits = local.traits
        traits.capabilities?.supersedesModel = true
        traits.queryLanguage = QueryLanguage(functions: functions, urls: urls) { [weak self] in
            try await self?.address(of: $0)
        }
        return traits
    }

    /// Whether the store is read-only because the device was full when it was opened. Each change and each
    /// synchronisation then ends with `StoreError.openedOnFullDevice`, until there is room and the store has been
    /// closed and opened again.
    public var isReadOnly: Bool { database.isQuiet }

    /// Refuses access to tables that have another model by now.
    let database: StoreDatabase
    let mapping: StorageMapping
    let optionState: LockedState<Options>
    let texts: TextComparison
    /// The functions of queries, and their comparison of texts.
    let functions: FunctionRegistry
    /// The URLs that were resolved against ``model``.
    private let urls = ResolvedURLs()
    let local: StoreProvider
    /// The local provider without ``RuntimeOptions/localPageSize``, for consistent snapshots.
    private let unpaged: StoreProvider
    let queue: QueueTable
    let hook: QueueHook
    /// The trees of entities that are parts of each other.
    let graph: CompositeGraph
    let heldData: HeldDataCache
    let streamTable: StreamTable
    /// The names of all stream properties of the model.
    let streamProperties: Set<String>
    let remote: (any ODataProvider)?
    let progressChannel: ProgressChannel
    let changeFeed: StoreChanges
    /// Values that are in memory only.
    let sessionParameters: LockedState<[String: String]>

    /// - Parameters:
    ///   - modelNumber: the number of the model in the store.
    ///   - progress: the channel that exists since before the store was open.
    ///   - former: the same store before its model changed. Its in-memory state is kept.
    init(
        directory: String, serviceRoot: String, database: StoreDatabase, model: EntityDataModel,
        remote: (any ODataProvider)?, options: Options, texts: TextComparison, modelNumber: Int,
        former: OfflineStore? = nil, progress: ProgressChannel? = nil
    ) throws {
        self.directory = directory
        self.serviceRoot = serviceRoot
        // The replacing store has the same connections, and another model.
        let database = database.requiring { try LocalModel.require(modelNumber, in: $0) }
        self.database = database
        serviceModel = model
        let model = try LocalModel.combined(model, options.creation)
        self.model = try EngineSet.adding(to: model)
        self.remote = remote.map(options.assumingOffset)
        optionState = LockedState(options)
        self.texts = texts
        functions = StateFunctions.registry(texts.forms)
        progressChannel = former?.progressChannel ?? progress ?? ProgressChannel(options.runtime)
        sessionParameters = former?.sessionParameters ?? LockedState([:])
        changeFeed = StoreChanges(database: database, environment: options.runtime.environment)
        var mapping = OfflineLayout(model: model).mapping
        mapping.rowConditions = StateFunctions.conditions
        self.mapping = mapping
        graph = CompositeGraph(model: model, mapping: mapping)
        queue = QueueTable(model: model, environment: options.runtime.environment)
        let hook = QueueHook(
            mapping: mapping, environment: options.runtime.environment,
            undoesLocalCreation: options.sync.undoesLocalCreation)
        let checkingHook = ModelCheckingHook(base: hook, modelNumber: modelNumber)
        var storeOptions = StoreProvider.Options()
        storeOptions.maxPageSize = nil
        storeOptions.functions = functions
        storeOptions.now = { [environment = options.runtime.environment] in environment.instant }
        let heldData = HeldDataCache(mapping: mapping)
        storeOptions.loadedData = { try heldData.current(in: $0) }
        self.heldData = heldData
        var rules = WriteRules()
        rules.updatesRelated = true
        // An app may ask for an update without changes (ChangeOptions).
        rules.tellsUnchanged = true
        unpaged = StoreProvider(
            database: database.pool, mapping: mapping, hook: checkingHook, rules: rules, options: storeOptions)
        if let size = options.runtime.localPageSize {
            storeOptions.maxPageSize = size
            local = StoreProvider(
                database: database.pool, mapping: mapping, hook: checkingHook, rules: rules, options: storeOptions)
        } else {
            local = unpaged
        }
        self.hook = hook
        streamTable = StreamTable(database: database)
        streamProperties = Set(
            model.schemas.flatMap(\.structuredTypes).flatMap(\.properties).filter { $0.type.primitive == .stream }
                .map(\.name))
    }

    // MARK: Creating and opening

    /// Creates an empty store for a part of a service; ``download(_:)`` fills it.
    ///
    /// - Parameters:
    ///   - directory: created if missing. It must not contain a store, and no other store may be created there at
    ///     the same time.
    ///   - protection: the encryption of the file.
    ///   - serviceRoot: kept with the store, to connect again later.
    ///   - remote: the service. Its metadata are read now.
    ///   - queries: the defining queries; every entity set if empty.
    ///   - user: the user of a store that several users share (``Users/switch(to:pending:)``); `nil` to leave
    ///     that open.
    /// - Throws: ``OfflineError/storeExists(path:)``; ``OfflineError/busy(processID:)`` if another process is
    ///   creating a store there; other ``OfflineError``; `StoreError`; the errors of reading the metadata.
    ///   Nothing is left behind then.
    public static func create(
        at directory: String, protection: StoreProtection, serviceRoot: String, remote: any ODataProvider,
        queries: [DefiningQuery] = [], user: String? = nil, options: Options = Options()
    ) async throws -> OfflineStore {
        let progress = ProgressChannel(options.runtime)
        progress.tell(.state(.opening))
        progress.begin(.creation)
        progress.step(.loadingMetadata)
        return try await create(
            at: directory, protection: protection, serviceRoot: serviceRoot, model: try await remote.model,
            remote: remote, queries: queries.isEmpty ? nil : queries, user: user, options: options, progress: progress)
    }

    /// Makes an empty store for a service whose model is known, without asking the service.
    ///
    /// ```swift
    /// let store = try await OfflineStore.create(
    ///     at: directory, protection: .encrypted(.key(key)), serviceRoot: "", model: model)
    /// ```
    /// - Parameters:
    ///   - directory: made when missing; must not hold a store, nor may another one be made there at the same time.
    ///   - protection: the encryption of the file.
    ///   - serviceRoot: kept with the store, to connect later; empty if it is not known yet.
    ///   - model: the model of the service, or of the part that the app uses.
    ///   - remote: the service; `nil` for a store that is connected when it is opened.
    ///   - queries: the defining queries; `nil` for every entity set.
    ///   - user: the user of the store, for one that several users share; `nil` to leave that open.
    /// - Throws: as ``create(at:protection:serviceRoot:remote:queries:user:options:)``.
    public static func create(
        at directory: String, protection: StoreProtection, serviceRoot: String, model: EntityDataModel,
        remote: (any ODataProvider)? = nil, queries: [DefiningQuery]? = nil,
        user: String? = nil, options: Options = Options()
    ) async throws -> OfflineStore {
        let progress = ProgressChannel(options.runtime)
        progress.tell(.state(.opening))
        progress.begin(.creation)
        return try await create(
            at: directory, protection: protection, serviceRoot: serviceRoot, model: model, remote: remote,
            queries: queries, user: user, options: options, progress: progress)
    }

    private static func create(
        at directory: String, protection: StoreProtection, serviceRoot: String, model: EntityDataModel,
        remote: (any ODataProvider)?, queries: [DefiningQuery]?, user: String?,
        options: Options, progress: ProgressChannel
    ) async throws -> OfflineStore {
        let model = try EngineSet.removing(from: model)
        let path = StoreFiles.database(in: directory)
        progress.enter(.initializing)
        let wanted =
            try queries.map { try $0.map { try $0.overSet(of: model) } }
            ?? DefiningQuery.all(of: model, options.creation)
        let sets = try wanted.map { try DefiningQueryCheck.entitySet(of: $0, model: model) }
        if options.creation.requiresMaxLengthOfKeys { try DefiningQueryCheck.requireMaxLength(of: wanted, sets, model) }
        for (index, query) in wanted.enumerated() {
            try DefiningQueryCheck.requireKeyOrAlone(query, sets[index], others: sets[..<index], model: model)
        }
        func requireNone() throws(OfflineError) {
            guard !FileManager.default.fileExists(atPath: path) || isUnfinished(at: path, protection, options) else {
                throw .storeExists(path: directory)
            }
        }
        try requireNone()
        let isNew = try StoreFiles.makeDirectory(directory)
        // A second creation at the same time finds the store, finished or not, and removes nothing of it.
        let lock = try SyncLock(path: StoreFiles.lock(in: directory))
        defer { withExtendedLifetime(lock) {} }
        try requireNone()
        do {
            let database = try StoreDatabase.open(
                path: path, protection: protection, options: options.connections(createsFile: true))
            let texts = TextComparison(options.creation)
            let combined = try LocalModel.combined(model, options.creation)
            let layout = OfflineLayout(model: combined)
            // In the service's own version, so that later connections know it.
            let metadata = CSDLWriter.xml(model, version: model.version)
            let modelNumber = try await database.write { database in
                progress.step(.buildingEntityStore)
                try layout.create(in: database)
                progress.step(.creatingRequestQueueDatabase)
                for statement in EngineSchema.statements { try database.execute(sql: statement) }
                try Settings.set("engine.version", String(EngineSchema.version), in: database)
                try Settings.set("service.root", serviceRoot, in: database)
                try Settings.set("service.metadata", metadata, in: database)
                try UntypedSets.keep(of: model, in: database)
                if let user { try Settings.set(userSetting, user, in: database) }
                try LocalModel.keep(combined, in: database)
                try texts.keep(in: database)
                try ServiceKnowledge.state(options.service.capabilities, in: database)
                for (query, set) in zip(wanted, sets) {
                    try QueryTable.add(query, entitySet: set, mapping: layout.mapping, in: database)
                }
                let indexes = PropertyIndexes(mapping: layout.mapping, textForm: texts.forms?.compared)
                let lists = try IndexedTypes(options.creation.indexedTypes, model: combined)
                    .adding(to: options.creation.indexes)
                for (set, lists) in lists.sorted(by: { $0.key < $1.key }) {
                    for paths in lists { _ = try indexes.create(on: set, paths: paths, in: database) }
                }
                try Events.add(
                    "created", "\(wanted.count) defining queries", environment: options.runtime.environment,
                    in: database)
                return try LocalModel.number(in: database)
            }
            let provider = try OfflineStore(
                directory: directory, serviceRoot: serviceRoot, database: database, model: model, remote: remote,
                options: options, texts: texts, modelNumber: modelNumber, progress: progress)
            try await provider.incarnation.settle()
            progress.enter(.open)
            return provider
        } catch {
            StoreFiles.remove(in: directory, withDirectory: isNew)
            throw error
        }
    }

    /// Opens a store.
    ///
    /// - Parameters:
    ///   - directory: the directory of the store.
    ///   - protection: the key of the store.
    ///   - user: the user of a store that several users share. If the user differs, the store is handed over
    ///     first (``Users/switch(to:pending:)``). `nil` leaves it with its user.
    ///   - pending: the treatment of the previous user's changes.
    ///   - connect: creates the connection to the service from its root and its model; without one, the store
    ///     works but does not synchronise.
    /// - Throws: ``OfflineError/noStore(path:)``; ``OfflineError/optionDiffers(name:stored:given:)`` for an
    ///   option that differs from the one at creation; ``OfflineError/modelOutdated`` if another process has just
    ///   migrated the store, which must be opened again; ``UserSwitchError`` if the store stays with its user,
    ///   and nothing is open then; `StoreError` for a wrong key, a newer version, a damaged file.
    public static func open(
        at directory: String, protection: StoreProtection, user: String? = nil, pending: PendingChanges = .refuse,
        options: Options = Options(),
        connect: (_ serviceRoot: String, _ model: EntityDataModel) throws -> (any ODataProvider)? = { _, _ in nil }
    ) async throws -> OfflineStore {
        try await open(
            at: directory, protection: protection, user: user, pending: pending, options: options,
            connecting: { try connect($0.serviceRoot, $0.model) })
    }

    /// Opens a store, and connects it with the texts that the app keeps with it.
    ///
    /// - Parameters:
    ///   - directory: the directory of the store.
    ///   - protection: the key of the store.
    ///   - user: the user of the store; `nil` leaves it with its user.
    ///   - pending: the treatment of the previous user's changes.
    ///   - options: as for ``open(at:protection:user:pending:options:connect:)``.
    ///   - connecting: creates the connection to the service; `nil` for none.
    /// - Throws: as ``open(at:protection:user:pending:options:connect:)``.
    public static func open(
        at directory: String, protection: StoreProtection, user: String? = nil, pending: PendingChanges = .refuse,
        options: Options = Options(), connecting: (ConnectionBasis) throws -> (any ODataProvider)?
    ) async throws -> OfflineStore {
        let path = StoreFiles.database(in: directory)
        guard FileManager.default.fileExists(atPath: path) else { throw OfflineError.noStore(path: directory) }
        let progress = ProgressChannel(options.runtime)
        progress.tell(.state(.opening))
        progress.begin(.opening)
        let database = try StoreDatabase.open(
            path: path, protection: protection, options: options.connections(createsFile: false))
        var options = options
        let (root, metadata, texts, kept, known, ofApp) = try await database.read { [options] database in
            guard case .store = try OfflineLayout.presence(in: database, path: path) else {
                throw OfflineError.noStore(path: directory)
            }
            let version = try EngineSchema.version(in: database)
            guard version <= EngineSchema.version else {
                throw StoreError.newerVersion(path: path, found: version, supported: EngineSchema.version)
            }
            guard let root = try Settings.text("service.root", in: database),
                let metadata = try Settings.bytes("service.metadata", in: database)
            else { throw OfflineError.noStore(path: directory) }
            let texts = try TextComparison(of: database, checking: options.creation)
            return (
                root, metadata, texts, try LocalModel.kept(in: database), try LocalModel.number(in: database),
                try KeptTexts.all(in: database)
            )
        }
        progress.step(.loadingMetadata)
        let model = try CSDLReader.read(metadata)
        try LocalModel.adopt(from: kept, beside: model, into: &options.creation)
        try await EngineSchema.bringUpToDate(database)
        let (combined, purges) = (
            try LocalModel.combined(model, options.creation), options.creation.purgesClientOnlyData
        )
        let stated = options.service.capabilities
        var modelNumber = known
        // Most stores are opened unchanged: then nothing is written, and no writer is waited for.
        if kept != metadata || combined !== model || stated != StatedCapabilities() {
            modelNumber = try await database.write { database in
                try LocalModel.require(known, in: database)
                try LocalModel.migrate(from: model, to: combined, purges: purges, in: database)
                try ServiceKnowledge.state(stated, in: database)
                return try LocalModel.number(in: database)
            }
        }
        let provider = try OfflineStore(
            directory: directory, serviceRoot: root, database: database, model: model,
            remote: try connecting(ConnectionBasis(serviceRoot: root, model: model, texts: ofApp)), options: options,
            texts: texts, modelNumber: modelNumber, progress: progress)
        // Without room for it now, searches work without an index.
        try? await provider.renewSearchIndexes()
        // The next upload also recognises a copy.
        try? await provider.incarnation.settle()
        if let user {
            do {
                try await provider.users.switch(to: user, pending: pending)
            } catch {
                try? provider.close()
                throw error
            }
        }
        progress.enter(.open)
        try await provider.tellInterrupted()
        return provider
    }

    /// Closes the store's files; no call is valid afterwards.
    public func close() throws {
        progressChannel.enter(.closed)
        progressChannel.finish()
        changeFeed.close()
        try database.close()
    }

    // MARK: Reading and editing

    /// Answers a request from the local store alone; changes are queued. A request of a batch is answered as it would
    /// be alone (OData Protocol 4.01, 11.7).
    ///
    /// - Throws: `ODataError`; `StoreError`; ``OfflineError/modelOutdated``, and nothing was changed then.
    public func execute(_ request: ODataRequest) async throws -> ODataResponse {
        try await execute(request, isPaged: true)
    }

    /// - Parameter isPaged: whether ``RuntimeOptions/localPageSize`` limits the response.
    func execute(_ request: ODataRequest, isPaged: Bool) async throws -> ODataResponse {
        if case .batch(let items) = request.body {
            // Each request of the batch checks the model itself, and sees the changes of the requests before it.
            try await checkModel()
            return try await batch(items, of: request)
        }
        guard request.method == .read || !database.isQuiet else {
            throw ODataError(translating: StoreError.openedOnFullDevice)
        }
        return try await checkingModel(isRead: request.method == .read) {
            try await answering(request, isPaged: isPaged)
        }
    }

    private func answering(_ request: ODataRequest, isPaged: Bool) async throws -> ODataResponse {
        if let answer = try await answerEngineSet(request, isPaged: isPaged) { return answer }
        if let answer = try await answerCall(request) { return answer }
        if let answer = try await answerStream(request) { return answer }
        if request.method == .read {
            let answer = try await annotating(try await answer(request, isPaged: isPaged))
            return request.context.readsReplayState ? try await addingReplayStates(to: answer) : answer
        }
        return try await answer(markingDeepChange(request))
    }

    /// Related changes are sent together with their entity.
    private func markingDeepChange(_ request: ODataRequest) -> ODataRequest {
        guard case .entity(let entity) = request.body else { return request }
        let isDeep = entity.related.values.contains { related in
            switch related {
            case .one, .many: true
            case .none, .references: false
            }
        }
        guard isDeep, request.context.changeOptions?.changeSet == nil else { return request }
        var request = request
        ChangeOptions.setChangeSet(environment.newGuid().description, of: &request)
        return request
    }

    private func answer(_ request: ODataRequest, isPaged: Bool = true) async throws -> ODataResponse {
        let local = isPaged ? local : unpaged
        if request.method == .update || request.method == .replace, let redirected = try await followingAlias(request) {
            // Under the former key, such a change would create a new entity.
            return try await local.execute(redirected)
        }
        do {
            return try await local.execute(request)
        } catch let error as ODataError where error.status == 404 {
            guard let redirected = try await followingAlias(request) else {
                try await requireLoaded(request)
                throw error
            }
            return try await local.execute(redirected)
        }
    }

    /// Refuses a change of an entity that may exist in a part of the service outside of the store.
    ///
    /// - Throws: `ODataError` (`ODataError.isNotLoaded`).
    private func requireLoaded(_ request: ODataRequest) async throws {
        guard request.method != .read, request.link == nil else { return }
        var url = request.url
        url.options = QueryOptions()
        if case .navigation(let property, _, _)? = (try? Binder(model: model).bind(url))?.resource.steps.last(where: {
            if case .navigation = $0 { true } else { false }
        }), url.path.segments.last == .reference, !property.constraints.isEmpty {
            // The foreign key names the target of the reference, so only the entity with the key must be in the
            // store.
            url.path.segments.removeLast(2)
        }
        do {
            _ = try await local.execute(ODataRequest(.read, url))
        } catch let error as ODataError where error.isNotLoaded {
            throw error
        } catch {
            // It says less than the refusal of the change.
        }
    }

    /// Returns the request with the current keys of entities that it names by a temporary key, including
    /// containers.
    func followingAlias(_ request: ODataRequest) async throws -> ODataRequest? {
        guard mayHaveAlias(request) else { return nil }
        return try await database.read { [self] in try followingAlias(request, in: $0) }
    }

    private func mayHaveAlias(_ request: ODataRequest) -> Bool {
        guard request.link == nil, case .name(let set, _)? = request.url.path.segments.first,
            mapping.tables[set.text] != nil
        else { return false }
        return request.url.path.segments.contains { segment in
            if case .name(_, let arguments) = segment { arguments != .none } else { false }
        }
    }

    /// Does the same within a transaction.
    func followingAlias(_ request: ODataRequest, in database: Database) throws -> ODataRequest? {
        guard mayHaveAlias(request),
            let path = try Aliases(mapping: mapping).present(request.url.path, in: database)
        else { return nil }
        var redirected = request
        redirected.url.path = path
        return redirected
    }
}

/// The former name of ``OfflineStore``.
@available(*, deprecated, renamed: "OfflineStore")
public typealias OfflineODataProvider = OfflineStore
