import Foundation
import GRDB
import ODataModel
import ODataQuery
import ODataSQL
import ODataService
import Synchronization

/// A complete OData service on a model of its own, in a file or in memory.
///
/// ```swift
/// let service = try await StoreService.open(ServiceDefinition(model: model), at: .memory)
/// try await service.seed(json: rows)
/// let url = try ODataURL(parsing: "Products?$filter=Price gt 50&$expand=Category")
/// let response = try await service.execute(ODataRequest(.read, url))
/// ```
///
/// Beside the query language it has what a service has to have: ETags, server-given keys and values, deep inserts
/// and updates, referential actions, media, delta links, snapshot isolation, repeatable requests, operations and
/// authorisation, as its ``ServiceDefinition`` says.
public final class StoreService: ODataProvider {
    /// Where the data lie.
    public enum Place: Sendable {
        /// In memory, gone when the service is.
        case memory
        /// In a file, which is made when it is missing.
        case file(String, StoreProtection)
    }

    /// Sizes, times and how strict the service is; the settings of ``ServingOptions`` included.
    public struct Options: ServingSettings {
        /// Sizes, limits, the clock, and whether changes are refused.
        public var serving = ServingOptions()
        /// Whether changes of all entities that have an ETag must state it (428). Those of sets with the term
        /// `Core.OptimisticConcurrency` must in any case (OData Protocol 4.01, 11.4.1.1).
        public var requiresETags = false
        /// Whether a foreign key must lead to an entity (400; OData Protocol 4.01, 11.4.3). Rows that seed a service are not
        /// checked.
        public var requiresPrincipals = true
        /// How long the answers to repeatable requests are remembered, in seconds; 50 days by default.
        public var repeatabilityLifetime = RepeatableRequest.lifetime
        /// How long deletions are remembered for delta links, in seconds; 30 days by default.
        public var deletionLifetime: Int64 = 30 * 86_400
        /// How long a snapshot that nobody reads any more is kept, in seconds.
        public var snapshotLifetime: Int64 = 600
        /// The snapshots that are kept for each caller and for all of them.
        public var snapshotLimits = SnapshotLimits()
        /// The most bytes of a stream; `nil` for no limit.
        public var streamSizeLimit: Int64?
        /// Sizes of the connections to a file.
        public var database = StoreDatabase.Options()

        /// Makes options with the defaults.
        public init() {}
    }

    /// The connections.
    let database: any DatabaseWriter
    let core: ServiceCore
    let schema: ServiceSchema
    let streams: StreamStore
    let snapshots: SnapshotSpool
    /// Keeps changes and batches under snapshot isolation apart.
    let gate = ChangeGate()
    /// Answers requests in the name of a caller who may see everything, without the features of the service as a whole.
    private let provider: StoreProvider
    /// Whether the tables were made when the service was opened: then it has no rows yet.
    public let isNew: Bool
    private let store: StoreDatabase?
    /// The number of transactions that changed something since the service was opened.
    let changeCount = Atomic<Int>(0)

    /// The whole query language, deep changes, delta links, snapshots and repeatable requests.
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

    /// Opens a service, or makes its empty store.
    ///
    /// - Throws: ``StoreError``; ``StoreError/notAStore(path:)`` also for a store of another model.
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

    /// The model; reading it never fails.
    public var model: EntityDataModel { schema.mapping.model }

    /// The present options.
    var options: Options { core.options }

    /// Answers a request.
    ///
    /// - Throws: ``ODataError`` alone: what the database refuses is translated.
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

    /// Answers requests in the name of one caller, without the features of the service as a whole.
    func provider(for principal: Principal?) -> StoreProvider {
        guard core.definition.authorization != nil else { return provider }
        return StoreProvider(provider, reader: core.reader(for: principal))
    }

    /// Deletes all rows, links and streams; delta links tell of it, snapshots that are out are refused afterwards.
    ///
    /// - Throws: ``StoreError``.
    public func removeAll() async throws {
        try await gate.change { [database, core] in
            try await database.write { try ServiceSchema.removeAllRows(core.mapping, in: $0) }
        }
        snapshots.removeAll()
    }

    /// Closes all connections.
    ///
    /// - Throws: ``StoreError/locked`` while a statement is still running.
    public func close() async throws {
        snapshots.removeAll()
        if let store { try store.close() } else { try database.close() }
    }
}

extension ServiceSchema {
    /// Deletes all rows, links and streams.
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
