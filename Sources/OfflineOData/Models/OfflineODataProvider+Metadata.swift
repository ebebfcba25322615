import GRDB
import ODataModel
import ODataQuery
import ODataService
import ODataStore

/// What ``OfflineODataProvider/refreshMetadata()`` found and did.
public struct MetadataRefresh: Sendable {
    /// In what the service's model differs from the one that the store was made for.
    public var differences: [ModelDifference]
    /// Whether what was downloaded had to go, since a difference is not compatible: the next download brings it again.
    public var isRebuilt: Bool
    /// Requests that the new model has no place for, as text: they are in the error archive, or, where their entity set
    /// is gone, nowhere else any more.
    public var refused: [String]
    /// The store with the new model. The one that was asked must not be used any more.
    public var store: OfflineODataProvider
}

extension OfflineODataProvider {
    /// Reads the service's metadata again, and brings the store to a model that has changed.
    ///
    /// Where every difference is compatible (OData Protocol 4.01, 5.2), rows stay and new properties are not loaded
    /// until the next download. Else what was downloaded goes, but for rows with changes of ours. The queue stays in
    /// either case; a request that the new model has no place for goes to the error archive (rule 6).
    ///
    /// ```swift
    /// let refresh = try await store.refreshMetadata()
    /// store = refresh.store
    /// try await store.download()
    /// ```
    /// - Throws: ``OfflineError/busy(processID:)``; ``OfflineError/notConnected``; what reading the metadata throws.
    ///   The store is as it was then.
    ///
    /// - Parameter connect: makes a connection that speaks the new model; the present one is used where it is left out.
    public func refreshMetadata(
        connect: (_ serviceRoot: String, _ model: EntityDataModel) throws -> (any ODataProvider)? = { _, _ in nil }
    ) async throws -> MetadataRefresh {
        let remote = try connection()
        let lock = try SyncLock(path: StoreFiles.lock(in: directory))
        defer { withExtendedLifetime(lock) {} }
        progressChannel.report(SyncProgress(phase: .loadingMetadata))
        let model = try EngineSet.removing(from: try await Self.metadata(of: remote))
        let differences = model.differences(from: serviceModel)
        guard !differences.isEmpty else {
            return MetadataRefresh(differences: [], isRebuilt: false, refused: [], store: self)
        }
        let rebuilds = differences.contains { !$0.isCompatible }
        let metadata = CSDLWriter.xml(model, version: model.version)
        let (old, combined) = (
            try LocalModel.combined(serviceModel, options), try LocalModel.combined(model, options)
        )
        let environment = options.environment
        let refused = try await database.write { database in
            let refused = try QueueMigration(from: old, to: combined, environment: environment).run(in: database)
            let migration = ModelMigration(from: old, to: combined, rebuilds: rebuilds)
            let stale = try migration.run(in: database)
            if rebuilds { try migration.removeUnchanged(in: database) }
            for query in try QueryTable.all(in: database) {
                guard model.entitySet(query.entitySet) != nil else {
                    try database.execute(sql: "DELETE FROM outpost_query WHERE id = ?", arguments: [query.id])
                    continue
                }
                if rebuilds {
                    try database.execute(sql: "DELETE FROM outpost_member WHERE query_id = ?", arguments: [query.id])
                    try QueryTable.markNotLoaded(query.id, in: database)
                } else if stale.contains(query.entitySet) {
                    // A delta would bring the new properties of changed rows alone.
                    try database.execute(
                        sql: "UPDATE outpost_query SET delta_link = NULL, next_link = NULL WHERE id = ?",
                        arguments: [query.id])
                }
            }
            try database.execute(sql: "DELETE FROM outpost_staged; DELETE FROM outpost_seen")
            try Settings.set("service.metadata", metadata, in: database)
            try LocalModel.keep(combined, in: database)
            try Events.add(
                "metadata", "\(differences.count) differences, \(rebuilds ? "rebuilt" : "migrated")", environment,
                in: database)
            return refused
        }
        let store = try OfflineODataProvider(
            directory: directory, serviceRoot: serviceRoot, database: self.database, model: model,
            remote: try connect(serviceRoot, model) ?? remote,
            options: options)
        return MetadataRefresh(differences: differences, isRebuilt: rebuilds, refused: refused, store: store)
    }

    /// The model as the service has it now, whatever its client remembers.
    private static func metadata(of remote: any ODataProvider) async throws -> EntityDataModel {
        let request = ODataRequest(.read, ODataURL(path: ResourcePath([.metadata])))
        if case .metadata(let model) = try await remote.execute(request).body { return model }
        return try await remote.model
    }
}

/// Brings the queue and the before images from one version of a model to another.
struct QueueMigration {
    let old: EntityDataModel
    let new: EntityDataModel
    let environment: Environment

    init(from old: EntityDataModel, to new: EntityDataModel, environment: Environment) {
        self.old = old
        self.new = new
        self.environment = environment
    }

    /// - Returns: the requests that the new model has no place for.
    func run(in database: Database) throws -> [String] {
        let (before, after) = (QueueTable(model: old), QueueTable(model: new))
        var refused: [String] = []
        for request in try before.requests(in: database) where request.kind != .call {
            guard let shape = new.shape(ofSet: request.entitySet) else {
                refused.append(request.description)
                try database.execute(sql: "DELETE FROM outpost_queue WHERE id = ?", arguments: [request.id])
                try after.replaceDependency(on: request.id, by: nil, in: database)
                continue
            }
            let target = new.shape(request.changes.shape.name) ?? shape
            let (changes, lost) = request.changes.converted(to: target)
            let base = request.base?.converted(to: target).0
            let key = Entity(shape: request.changes.shape, key: request.key).converted(to: shape).0
            guard key.key != nil else {
                refused.append(request.description)
                try database.execute(sql: "DELETE FROM outpost_queue WHERE id = ?", arguments: [request.id])
                try after.replaceDependency(on: request.id, by: nil, in: database)
                continue
            }
            try after.rewrite(request.id, key: key, changes: changes, base: base, in: database)
            try database.execute(sql: "UPDATE outpost_queue SET theirs = NULL WHERE id = ?", arguments: [request.id])
            guard !lost.isEmpty, request.state == .pending else { continue }
            refused.append(request.description)
            let failure = QueuedRequest.Failure(
                status: nil, code: "ModelChanged",
                message: "The service has no \(lost.sorted().joined(separator: ", ")) any more.",
                at: environment.instant.description)
            try after.markFailed(request.id, .refused, failure, in: database)
        }
        try convertImages(in: database)
        return refused
    }

    private func convertImages(in database: Database) throws {
        let (before, after) = (
            BeforeImages(snapshots: SnapshotCoder(model: old)), BeforeImages(snapshots: SnapshotCoder(model: new))
        )
        let rows = try Row.fetchAll(database, sql: "SELECT entity_set, row_id FROM outpost_before")
        for row in rows {
            let (set, rowID): (String, Int64) = (row[0], row[1])
            guard let oldShape = old.shape(ofSet: set), let shape = new.shape(ofSet: set),
                var image = try before.image(set: set, rowID: rowID, shape: oldShape, in: database)
            else {
                try after.remove(set: set, rowID: rowID, in: database)
                continue
            }
            image.entity = image.entity.map { $0.converted(to: new.shape($0.shape.name) ?? shape).0 }
            try after.save(image, set: set, rowID: rowID, in: database)
        }
    }
}

extension Entity {
    /// The same values in another version of the type.
    ///
    /// - Returns: the entity, and the names of the loaded properties that the other version does not have.
    fileprivate func converted(to shape: Shape) -> (Entity, lost: Set<String>) {
        var result = Entity(shape: shape)
        var lost: Set<String> = []
        for (ordinal, property) in self.shape.properties.enumerated() {
            guard let value = values[ordinal] else { continue }
            guard let target = shape.ordinal(of: property.name), shape.properties[target].type == property.type else {
                lost.insert(property.name)
                continue
            }
            result.values[target] = value
        }
        result.dynamicProperties = shape.isOpen ? dynamicProperties : [:]
        result.control = control
        return (result, lost)
    }
}
