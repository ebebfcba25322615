import GRDB
import ODataHTTP
import ODataModel
import ODataQuery
import ODataSQL
import ODataService

/// The differences that ``OfflineStore/Maintenance/refreshMetadata(connect:)`` found, and its effect.
///
/// ```swift
/// let refresh = try await store.maintenance.refreshMetadata { root, model in
///     try ODataClient(serviceRoot: root, transport: transport, model: model)
/// }
/// if refresh.isRebuilt { try await refresh.store.download() }
/// ```
public struct MetadataRefresh: Sendable {
    /// In what the service's model differs from the one that the store was made for.
    public var differences: [ModelDifference]
    /// Whether what was downloaded had to go, since a difference is not compatible: the next download brings it again.
    public var isRebuilt: Bool
    /// Requests that the new model has no place for, as text: they are in the error archive, each with all that was to be
    /// sent (``QueuedRequest/isWithoutPlace`` where their entity set is gone).
    public var refused: [String]
    /// The store with the new model, which has taken the place of the one that was asked: whatever that is asked throws
    /// ``OfflineError/modelOutdated``.
    public var store: OfflineStore
}

extension OfflineStore.Maintenance {
    /// Reads the service's metadata again, and brings the store to a model that has changed.
    ///
    /// Where every difference is compatible (OData Protocol 4.01, 5.2), rows stay and new properties are not loaded
    /// until the next download. Else what was downloaded goes, but for rows with changes of ours. The queue stays in
    /// either case; a request that the new model has no place for goes to the error archive.
    ///
    /// What the store has in memory alone goes over to the new one: values of parameters that are a session's
    /// (``ParameterLifetime/session``), the delegate, and followers of ``OfflineStore/Observation/progress()``. Observations
    /// end, and are begun again on the new store.
    ///
    /// ```swift
    /// let refresh = try await store.maintenance.refreshMetadata { root, model in
    ///     try ODataClient(serviceRoot: root, transport: transport, model: model)
    /// }
    /// try await refresh.store.download()  // it takes the place of the former store
    /// ```
    /// - Parameter connect: makes a connection that speaks the new model; the present one is used where it is left out,
    ///   which must have heard of the new model by itself.
    /// - Throws: ``OfflineError/busy(processID:)``; ``OfflineError/notConnected``; ``OfflineError/connectionOutdated``
    ///   where the present connection still speaks the model of before; ``OfflineError/modelOutdated`` where another
    ///   process has done this since the store was opened; what reading the metadata and `connect` throw.
    ///   The store is as it was then.
    public func refreshMetadata(
        connect: (_ serviceRoot: String, _ model: EntityDataModel) throws -> (any ODataProvider)? = { _, _ in nil }
    ) async throws -> MetadataRefresh {
        let (database, options, progressChannel) = (store.database, store.options, store.progressChannel)
        let remote = try store.connection()
        let lock = try SyncLock(path: StoreFiles.lock(in: store.directory))
        defer { withExtendedLifetime(lock) {} }
        try await store.checkModel()
        progressChannel.begin(.metadata)
        progressChannel.enter(.initializing)
        defer { progressChannel.enter(.open) }
        progressChannel.step(.loadingMetadata)
        progressChannel.report(SyncProgress(phase: .loadingMetadata))
        let model = try EngineSet.removing(from: try await Self.metadata(of: remote))
        let differences = model.differences(from: store.serviceModel)
        guard !differences.isEmpty else {
            return MetadataRefresh(differences: [], isRebuilt: false, refused: [], store: store)
        }
        let next = try await connection(connect(store.serviceRoot, model), speaking: model)
        let rebuilds = differences.contains { !$0.isCompatible }
        let metadata = CSDLWriter.xml(model, version: model.version)
        let (old, combined) = (
            try LocalModel.combined(store.serviceModel, options.creation),
            try LocalModel.combined(model, options.creation)
        )
        let environment = store.environment
        let number = try await database.read { try LocalModel.number(in: $0) }
        // Who observes this store reads on until the new one is there, and ends then instead of failing; nobody changes
        // anything by the former model.
        database.require { try LocalModel.require(number, orNext: $0.configuration.readonly, in: $0) }
        defer { database.require { try LocalModel.require(number, in: $0) } }
        let refused = try await database.write { database in
            try LocalModel.require(number, in: database)
            let refused = try DeletionShelf.including(in: database) {
                try QueueMigration(from: old, to: combined, environment: environment).run(in: database)
            }
            let migration = ModelMigration(from: old, to: combined, rebuilds: rebuilds)
            let stale = try migration.run(in: database)
            if rebuilds { try migration.removeUnchanged(in: database) }
            for query in try QueryTable.all(in: database) {
                guard let shape = combined.shape(ofStored: query.entitySet) else {
                    try QueryTable.removePart(query, in: database)
                    continue
                }
                if rebuilds {
                    try database.execute(sql: "DELETE FROM outpost_member WHERE query_id = ?", arguments: [query.id])
                    try QueryTable.markNotLoaded(query.id, in: database)
                } else if stale.contains(query.entitySet)
                    || !StoredContent(of: shape.name, in: combined).isContained(in: .init(of: shape.name, in: old))
                {
                    // A delta would bring what is new of changed rows alone.
                    try QueryTable.forgetLinks(of: query.id, in: database)
                }
            }
            if rebuilds { try QueryTable.remakeParts(migration.new.mapping, in: database) }
            try database.execute(sql: "DELETE FROM outpost_staged")
            try Settings.set("service.metadata", metadata, in: database)
            try UntypedSets.keep(of: model, in: database)
            try Settings.set(Self.equalMetadata, "", in: database)
            try LocalModel.keep(combined, in: database)
            try Events.add(
                "metadata", "\(differences.count) differences, \(rebuilds ? "rebuilt" : "migrated")",
                environment: environment,
                in: database)
            return refused
        }
        let successor = try OfflineStore(
            directory: store.directory, serviceRoot: store.serviceRoot, database: database, model: model, remote: next,
            options: options, texts: store.texts, modelNumber: number + 1, former: store)
        progressChannel.handOver(to: successor)
        // Whoever observes would go on asking for what the tables had before.
        store.changeFeed.close()
        return MetadataRefresh(differences: differences, isRebuilt: rebuilds, refused: refused, store: successor)
    }

    /// Compares the service's metadata with those that the store was made for. Nothing is changed: see
    /// ``refreshMetadata(connect:)``.
    ///
    /// Metadata that were found equal before are not sent again by a service that gives them an ETag.
    ///
    /// - Returns: the differences; none if the service has not changed.
    /// - Throws: ``OfflineError/notConnected``; what reading the metadata throws.
    public func metadataDifferences() async throws -> [ModelDifference] {
        let remote = try store.connection()
        var request = ODataRequest(.read, ODataURL(path: ResourcePath([.metadata])))
        request.ifNoneMatch = try await store.database.read { try Settings.text(Self.equalMetadata, in: $0) }
            .flatMap { $0.isEmpty ? nil : $0 }
        let response = try await remote.execute(request)
        guard case .metadata(let model) = response.body else { return [] }
        let differences = try EngineSet.removing(from: model).differences(from: store.serviceModel)
        let etag = differences.isEmpty ? response.etag ?? "" : ""
        if etag != request.ifNoneMatch ?? "" {
            try await store.database.write { try Settings.set(Self.equalMetadata, etag, in: $0) }
        }
        return differences
    }

    /// The setting with the ETag of the metadata that were found equal to those of the store.
    private static let equalMetadata = "service.metadata.equal"

    /// Makes sure that the store still has the model that it was opened with. Calls of the store check that themselves; call this
    /// before using something that was made by the model.
    ///
    /// - Throws: ``OfflineError/modelOutdated`` if ``refreshMetadata(connect:)`` brought the store to another model since,
    ///   here or in another process, or another process opened it with other client-only sets: open the store again.
    ///   `StoreError`.
    public func checkModel() async throws { try await store.checkModel() }

    /// The connection that goes on: one that was made for the new model, else the present one.
    ///
    /// - Throws: ``OfflineError/connectionOutdated``: what a client that remembers the former model reads and sends would
    ///   lack what is new, and nobody would be told.
    private func connection(
        _ given: (any ODataProvider)?, speaking model: EntityDataModel
    ) async throws -> (any ODataProvider)? {
        if let given { return given }
        guard let remote = store.remote else { return nil }
        let spoken = try EngineSet.removing(from: try await remote.model)
        guard model.differences(from: spoken).isEmpty else { throw OfflineError.connectionOutdated }
        return remote
    }

    /// The model as the service has it now, whatever its client remembers.
    private static func metadata(of remote: any ODataProvider) async throws -> EntityDataModel {
        let request = ODataRequest(.read, ODataURL(path: ResourcePath([.metadata])))
        if case .metadata(let model) = try await remote.execute(request).body { return model }
        return try await remote.model
    }
}

extension OfflineStore {
    /// Makes sure that the store still has the model that it was opened with.
    ///
    /// - Throws: ``OfflineError/modelOutdated``; `StoreError`.
    func checkModel() async throws {
        // Each transaction begins with this condition.
        try await database.read { _ in }
    }

    /// Does what reads or changes the tables of entity sets in a way of its own, and tells where they are not those of the
    /// model any more: what was read or refused means nothing then.
    ///
    /// - Parameter isRead: whether nothing is changed. A change makes sure within its transaction: what was committed stands,
    ///   whatever became of the model since.
    func checkingModel<Value: Sendable>(
        isRead: Bool = true, _ body: () async throws -> Value
    ) async throws -> Value {
        let value: Value
        do {
            value = try await body()
        } catch let error where !isRead && (error is TransportError || error is InvalidResponseError) {
            // The service was asked at once, and may have acted.
            throw error
        } catch {
            do {
                try await checkModel()
            } catch let outdated as OfflineError {
                throw outdated
            } catch {
                // What it was that failed says more.
            }
            throw error
        }
        if isRead { try await checkModel() }
        return value
    }
}
