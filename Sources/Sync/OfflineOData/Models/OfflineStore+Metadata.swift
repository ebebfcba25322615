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
    /// The differences between the service's model and the model of the store.
    public var differences: [ModelDifference]
    /// Whether downloaded rows were deleted because of an incompatible difference. The next download brings them
    /// again.
    public var isRebuilt: Bool
    /// Descriptions of the requests without a place in the new model. They are in the error archive, each with
    /// all its values (``QueuedRequest/isWithoutPlace`` if their entity set is gone).
    public var refused: [String]
    /// The store with the new model, which replaces the former one. Every call of the former store throws
    /// ``OfflineError/modelOutdated``.
    public var store: OfflineStore
}

extension OfflineStore.Maintenance {
    /// Reads the service's metadata again, and migrates the store to a changed model.
    ///
    /// If every difference is compatible (OData Protocol 4.01, 5.2), rows stay and new properties are not loaded
    /// until the next download. Otherwise, downloaded rows without local changes are deleted. The queue stays in
    /// either case. A request without a place in the new model goes to the error archive.
    ///
    /// The in-memory state moves to the new store: parameter values of the session
    /// (``ParameterLifetime/session``), the delegate, and followers of ``OfflineStore/Observation/progress()``.
    /// Observations end, and must be started again on the new store.
    ///
    /// ```swift
    /// let refresh = try await store.maintenance.refreshMetadata { root, model in
    ///     try ODataClient(serviceRoot: root, transport: transport, model: model)
    /// }
    /// try await refresh.store.download()  // it takes the place of the former store
    /// ```
    /// - Parameter connect: creates a connection with the new model. By default, the present connection is used,
    ///   which must have noticed the new model by itself.
    /// - Throws: ``OfflineError/busy(processID:)``; ``OfflineError/notConnected``;
    ///   ``OfflineError/connectionOutdated`` if the present connection still uses the former model;
    ///   ``OfflineError/modelOutdated`` if another process has migrated the store since it was opened; the errors
    ///   of reading the metadata and of `connect`. The store is unchanged then.
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
        // Observers of this store continue until the new store exists, and end then instead of failing. No change
        // is made by the former model.
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
                    // A delta would bring new properties of changed rows only.
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
        // Observers would continue to ask for the former tables.
        store.changeFeed.close()
        return MetadataRefresh(differences: differences, isRebuilt: rebuilds, refused: refused, store: successor)
    }

    /// Compares the service's metadata with the model of the store. Nothing is changed: see
    /// ``refreshMetadata(connect:)``.
    ///
    /// If the service gives its metadata an ETag, metadata that were found equal before are not transferred
    /// again.
    ///
    /// - Returns: the differences; none if the service has not changed.
    /// - Throws: ``OfflineError/notConnected``; the errors of reading the metadata.
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

    /// Makes sure that the store still has the model with which it was opened. Calls of the store check this
    /// themselves; call this method before using values that depend on the model.
    ///
    /// - Throws: ``OfflineError/modelOutdated`` if ``refreshMetadata(connect:)`` has migrated the store since, in
    ///   this or another process, or another process opened it with other client-only sets: open the store again.
    ///   `StoreError`.
    public func checkModel() async throws { try await store.checkModel() }

    /// The connection of the new store: one that was created for the new model, else the present one.
    ///
    /// - Throws: ``OfflineError/connectionOutdated``, since a client with the former model would silently leave
    ///   out new properties.
    private func connection(
        _ given: (any ODataProvider)?, speaking model: EntityDataModel
    ) async throws -> (any ODataProvider)? {
        if let given { return given }
        guard let remote = store.remote else { return nil }
        let spoken = try EngineSet.removing(from: try await remote.model)
        guard model.differences(from: spoken).isEmpty else { throw OfflineError.connectionOutdated }
        return remote
    }

    /// The current model of the service, without the cache of its client.
    private static func metadata(of remote: any ODataProvider) async throws -> EntityDataModel {
        let request = ODataRequest(.read, ODataURL(path: ResourcePath([.metadata])))
        if case .metadata(let model) = try await remote.execute(request).body { return model }
        return try await remote.model
    }
}

extension OfflineStore {
    /// Makes sure that the store still has the model with which it was opened.
    ///
    /// - Throws: ``OfflineError/modelOutdated``; `StoreError`.
    func checkModel() async throws {
        // Each transaction begins with this condition.
        try await database.read { _ in }
    }

    /// Runs an operation that accesses the tables of entity sets directly, and throws if they do not match the
    /// model any more: the result or error means nothing then.
    ///
    /// - Parameter isRead: whether nothing is changed. A change checks the model within its transaction, since a
    ///   commit stands even if the model changes later.
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
                // The original error says more.
            }
            throw error
        }
        if isRead { try await checkModel() }
        return value
    }
}

extension OfflineStore {
    /// The table in which the rows of an entity set are kept; `nil` for an unknown set.
    package func table(ofSet set: String) -> String? { mapping.tables[set]?.table }

    /// The column in which a property is kept; `nil` for a property without a column of its own, such as a stream.
    package func column(of property: String, inSet set: String) -> String? {
        mapping.tables[set]?.column(at: property)?.name
    }
}
