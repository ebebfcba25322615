import Foundation
import GRDB
import ODataModel
import ODataQuery
import ODataSQL
import ODataService
import Synchronization

/// A complete OData service with its own model, stored in a file or in memory.
///
/// ```swift
/// let service = try await StoreService.open(ServiceDefinition(model: model), at: .memory)
/// try await service.seed(json: rows)
/// let url = try ODataURL(parsing: "Products?$filter=Price gt 50&$expand=Category")
/// let response = try await service.execute(ODataRequest(.read, url))
/// ```
///
/// The service supports the query language, ETags, generated keys and values, deep inserts and updates, and
/// referential actions. It also supports media, delta links, snapshot isolation, repeatable requests,
/// operations and authorization. The ``ServiceDefinition`` configures these features.
public final class StoreService: ODataProvider {
    /// The storage of a service.
    public enum Place: Sendable {
        /// Memory. The rows are lost when the service is released.
        case memory
        /// A file, which is created if it does not exist.
        case file(String, StoreProtection)
    }

    /// The limits, lifetimes and checks of a service, including the settings of ``ServingOptions``.
    public struct Options: ServingSettings {
        /// The limits, the clock, and whether the service is read-only.
        public var serving = ServingOptions()
        /// Whether changes of all entities with an ETag must state it; otherwise they are refused with 428.
        /// Sets with the term `Core.OptimisticConcurrency` always require the ETag (OData Protocol 4.01,
        /// 11.4.1.1).
        public var requiresETags = false
        /// Whether foreign keys must refer to existing entities; otherwise changes are refused with 400 (OData
        /// Protocol 4.01, 11.4.3). Seed rows are not checked.
        public var requiresPrincipals = true
        /// The time for which the responses to repeatable requests are kept, in seconds; 50 days by default.
        public var repeatabilityLifetime = RepeatableRequest.lifetime
        /// The time for which deletions are kept for delta links, in seconds; 30 days by default.
        public var deletionLifetime: Int64 = 30 * 86_400
        /// The time after which an unused snapshot is removed, in seconds.
        public var snapshotLifetime: Int64 = 600
        /// The limits of the snapshots of each caller and of all callers.
        public var snapshotLimits = SnapshotLimits()
        /// The maximum size of a stream in bytes; `nil` for no limit.
        public var streamSizeLimit: Int64?
        /// The options of the database file.
        public var database = StoreDatabase.Options()

        /// Creates options with the default values.
        public init() {}
    }

    let database: any DatabaseWriter
    let core: ServiceCore
    let schema: ServiceSchema
    let streams: StreamStore
    let snapshots: SnapshotSpool
    /// The lock between changes and batches under snapshot isolation.
    let gate = ChangeGate()
    /// The provider of requests with full access, without the additional features of the service.
    private let provider: StoreProvider
    /// Whether opening the service created the tables, so that it has no rows yet.
    public let isNew: Bool
    private let store: StoreDatabase?
    /// The number of transactions with changes since the service was opened.
    let changeCount = Atomic<Int>(0)

    /// The full query language, deep changes, delta links, snapshots and repeatable requests.
    public let traits: ProviderTraits

    private static func capabilities(_ core: ServiceCore) -> PublishedCapabilities {
        let model = core.mapping.model
        var capabilities = PublishedCapabilities()
        capabilities.isReadOnly = core.options.isReadOnly
        capabilities.readOnlySets = Set(core.definition.virtualSets.keys)
        capabilities.trackedSets = Set(
            model.container.entitySets.map(\.name).filter {
                model.tracksChanges(of: $0) && core.definition.virtualSets[$0] == nil
            })
        capabilities.supportsSnapshots = true
        capabilities.supportsRepeatableRequests = true
        return capabilities
    }

    /// Opens a service, or creates its store.
    ///
    /// - Throws: ``StoreError``; ``StoreError/notAStore(path:)`` also if the store has another model.
    public static func open(
        _ definition: ServiceDefinition, at place: Place, options: Options = Options()
    ) async throws(StoreError) -> StoreService {
        do {
            return try await StoreService(definition, place, options: options)
        } catch let error as StoreError {
            throw error
        } catch let error as DatabaseError {
            throw StoreError(error, path: "the store")
        } catch {
            throw .database(code: 1, message: "\(error)")
        }
    }

    private init(_ definition: ServiceDefinition, _ place: Place, options: Options) async throws {
        schema = ServiceSchema(definition)
        let functions = ExpressionFunctions(definition)
        let path: String
        switch place {
        case .memory:
            path = ":memory:"
            store = nil
            var configuration = Configuration()
            configuration.foreignKeysEnabled = false
            configuration.prepareDatabase { database in
                StoreFunctions.register(in: database)
                ServiceSchema.register(in: database, now: options.now)
                functions.register(in: database)
            }
            database = try DatabaseQueue(configuration: configuration)
        case .file(let file, let protection):
            path = file
            var settings = options.database
            let prepare = settings.prepare
            settings.prepare = { database in
                ServiceSchema.register(in: database, now: options.now)
                functions.register(in: database)
                try prepare?(database)
            }
            let opened = try StoreDatabase.open(path: file, protection: protection, options: settings)
            store = opened
            database = opened.pool
        }
        isNew = try await database.write { [schema] in try schema.prepare(in: $0, path: path) }
        core = ServiceCore(definition, options, mapping: schema.mapping)
        functions.begin(with: core)
        var settings = StoreProvider.Options()
        settings.serving = options.serving
        provider = StoreProvider(
            StoreProvider(database: database, mapping: schema.mapping, options: settings), writer: core.writer,
            reader: core.reader)
        var traits = provider.traits
        traits.supportsIsolation = true
        traits.capabilities = Self.capabilities(core)
        self.traits = traits
        streams = StreamStore(database: database, options: options)
        snapshots = SnapshotSpool(options: options)
        try await streams.removeLeftovers()
        try await forgetOldChanges()
    }

    /// The model of the service; access never throws.
    public var model: EntityDataModel { schema.mapping.model }

    /// The options of the service.
    var options: Options { core.options }

    /// Executes a request.
    ///
    /// - Throws: ``ODataError``; errors of the database are translated.
    public func execute(_ request: ODataRequest) async throws -> ODataResponse {
        do {
            var request = try request.parsingLink()
            if case .batch(let items) = request.body {
                return try await batch(items, of: request)
            }
            request = request.digested(model)
            for case .before(let body) in core.definition.requestInterceptors { try await body(&request) }
            var response = request.method == .read ? try await read(request) : try await change(request)
            for case .after(let body) in core.definition.requestInterceptors { try await body(request, &response) }
            return response
        } catch {
            throw ODataError(translating: error)
        }
    }

    /// Returns the provider for a caller, without the additional features of the service.
    func provider(for principal: Principal?) -> StoreProvider {
        guard core.access != nil else { return provider }
        return StoreProvider(provider, reader: core.reader(for: principal))
    }

    /// Deletes all rows, links and streams. Delta links report the deletions; links of existing snapshots are
    /// refused.
    ///
    /// - Throws: an error of the database.
    public func removeAll() async throws {
        try await gate.change { [database, core] in
            try await database.write { try ServiceSchema.removeAllRows(core.mapping, in: $0) }
        }
        snapshots.removeAll()
    }

    /// Closes all connections.
    ///
    /// - Throws: ``StoreError/locked`` if a statement of a file is still running.
    public func close() async throws {
        snapshots.removeAll()
        if let store { try store.close() } else { try database.close() }
    }
}

extension ServiceSchema {
    static func removeAllRows(_ mapping: StorageMapping, in database: Database) throws {
        let links = Set(
            mapping.tables.values.flatMap { table in
                table.navigation.values.compactMap { navigation -> String? in
                    if case .link(_, let link, _, _) = navigation { link } else { nil }
                }
            })
        for table in links.sorted() + mapping.tables.values.map(\.table).sorted() {
            try database.execute(sql: "DELETE FROM \(table.sqlIdentifier)")
        }
        try StreamStore.supersedeAll(in: database)
    }
}
