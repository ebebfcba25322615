import Foundation
import GRDB
import ODataModel
import ODataQuery
import ODataSQL
import ODataService
import ODataStore

/// An existing SQLite database, served as an OData service. It supports the full query language over tables and
/// views, changes under the constraints of the database, ETags, repeatable requests and delta links.
///
/// ```swift
/// let database = try await ServedDatabase.open(path: "northwind.db")
/// for warning in database.warnings { print(warning) }
/// let url = try ODataURL(parsing: "Orders?$filter=Freight gt 50&$expand=Customer")
/// let response = try await database.execute(ODataRequest(.read, url))
/// try await database.close()
/// ```
///
/// By default, only requests change the database: the journal mode stays the same, and row versions and stored
/// responses are in the side file `NAME.db-outpost`. Other programs may use the database at the same time. The
/// model is created when the database is opened; after a change of the schema, open the database again.
public final class ServedDatabase: ODataProvider {
    /// The options of a served database, including the settings of ``ServingOptions``. With `isReadOnly`, the
    /// file is opened read-only.
    public struct Options: ServingSettings {
        /// The limits, the clock, and whether the service is read-only.
        public var serving = ServingOptions()
        /// Whether triggers in the database record every change, so that requests for changes do not compare
        /// all rows. ``ChangeTriggers/remove(fromDatabaseAt:)`` removes the triggers.
        public var installsTriggers = false
        /// The key columns of views that become entity sets, by the name of the view.
        public var viewKeys: [String: [String]] = [:]
        /// The access of callers to the entity sets and to the functions of views, which are asked for under their
        /// names; if `nil`, all callers have full access. A row filter hides rows in SQL, whichever way a request
        /// reaches them. A foreign key can still name a hidden row, and `ON DELETE CASCADE` can still delete one.
        public var authorization: Access.Rule?
        /// The namespace of the model.
        public var namespace = "Database"
        /// The time for which the responses to repeatable requests are kept, in seconds; 50 days by default.
        public var repeatabilityLifetime = TimeInterval(RepeatableRequest.lifetime)
        /// The number of reading connections.
        public var readerCount = 2
        /// The time to wait for a lock of another program, in seconds.
        public var busyTimeout: TimeInterval = 5
        /// A closure that is called between the steps of a commit. Tests terminate the process in it.
        var atStep: @Sendable (CommitStep) -> Void = { _ in }

        /// Creates options with the default values.
        public init() {}
    }

    /// The steps of a commit, between which a process may terminate.
    enum CommitStep: String, Codable, Sendable {
        /// The rows have changed; nothing is committed.
        case changed
        /// The intent has been written to the side file (write-ahead log only).
        case intended
        /// The database is committed.
        case committed
    }

    /// The model and mapping of the database.
    public let foreign: ForeignModel
    /// Sentences about omitted elements, differences from declarations and missing features.
    public let warnings: [String]
    let options: Options
    let connections: ForeignConnections
    /// The file that was opened.
    let identity: FileIdentity?
    /// The tracker of row versions and stored responses; `nil` if the side file cannot be created.
    let tracker: ChangeTracker?
    /// The provider on the writing connection.
    let writing: StoreProvider
    /// The full query language. Changes require a writable file; delta links require the side file.
    public let traits: ProviderTraits
    /// The providers on the reading connections.
    private let reading: [StoreProvider]
    /// The access of callers; `nil` if all callers have full access.
    let access: AccessControl?
    private let choice: ReaderChoice

    /// Opens a database and creates its model, which reads every value once.
    ///
    /// - Throws: ``ForeignDatabaseError``.
    public static func open(path: String, options: Options = Options()) async throws -> ServedDatabase {
        let connections = try ForeignConnections(
            path: path, isReadOnly: options.isReadOnly, readerCount: options.readerCount,
            busyTimeout: options.busyTimeout
        ) { database in
            StoreFunctions.register(in: database)
            TrackedTable.register(in: database)
        }
        do {
            return try await ServedDatabase(connections, options)
        } catch {
            try? connections.close()
            if let error = error as? DatabaseError { throw ForeignDatabaseError(error, path: path) }
            throw error
        }
    }

    private init(_ connections: ForeignConnections, _ options: Options) async throws {
        var options = options
        var warnings: [String] = []
        if connections.isReadOnly, !options.isReadOnly {
            warnings.append("\(connections.path) cannot be written; it is served for reading only.")
            options.isReadOnly = true
        }
        var modelOptions = ForeignModel.Options()
        modelOptions.namespace = options.namespace
        modelOptions.viewKeys = options.viewKeys
        modelOptions.isReadOnly = options.isReadOnly
        let (foreign, tables) = try await connections.readers[0].read { [modelOptions] database in
            let foreign = try ForeignModel(reading: database, options: modelOptions)
            let views = Set(foreign.schema.tables.filter(\.isView).map(\.name))
            let tables = try foreign.mapping.tables.values.filter { !views.contains($0.table) }
                .sorted { $0.set < $1.set }.map { try TrackedTable($0, of: foreign.mapping, in: database) }
            return (foreign, tables)
        }
        warnings += foreign.warnings
        var tracker: ChangeTracker?
        do {
            let side = try SideFile(
                path: connections.path + "-outpost", main: connections, busyTimeout: options.busyTimeout)
            tracker = ChangeTracker(
                side: side, path: connections.path, tables: tables,
                readsTriggers: options.installsTriggers && !options.isReadOnly)
        } catch let error as ForeignDatabaseError where options.isReadOnly {
            // Reads do not need the side file; changes do.
            warnings.append("Changes are not tracked: \(error)")
        }
        if !options.isReadOnly {
            try await connections.writer.write { [options] database in
                try TouchedRows.install(tables, in: database)
                if options.installsTriggers { try ChangeTriggers.install(tables, in: database) }
            }
        }
        self.foreign = foreign
        self.warnings = warnings
        self.options = options
        self.connections = connections
        identity = FileIdentity(path: connections.path)
        self.tracker = tracker
        var providerOptions = StoreProvider.Options()
        providerOptions.serving = options.serving
        for function in foreign.functions.values {
            providerOptions.operations[function.operation] = function.handler(in: foreign.model, now: options.now)
        }
        let access = options.authorization.map {
            AccessControl($0, mapping: foreign.mapping, binder: Binder(model: foreign.model))
        }
        self.access = access
        let writing = StoreProvider(
            database: connections.writer, mapping: foreign.mapping,
            hook: access.map { AccessHook($0, now: options.now) }, options: providerOptions)
        self.writing = writing
        reading = connections.readers.map { StoreProvider(writing, database: $0) }
        choice = ReaderChoice(count: reading.count)
        var traits = writing.traits
        traits.capabilities?.trackedSets = Set(tracker?.tables.keys.map(\.self) ?? [])
        traits.capabilities?.supportsRepeatableRequests = tracker != nil && !options.isReadOnly
        self.traits = traits
        try await settleIntents()
    }

    /// The model of the service; access never throws.
    public var model: EntityDataModel { foreign.model }

    /// Executes a request.
    ///
    /// - Throws: ``ODataError``; errors of the database are translated.
    public func execute(_ request: ODataRequest) async throws -> ODataResponse {
        do {
            let request = try request.parsingLink()
            if case .batch(let items) = request.body {
                return try await batch(items, of: request)
            }
            if request.method == .read { return try await read(request) }
            return try await change(request)
        } catch {
            throw ODataError(translating: error)
        }
    }

    private func read(_ request: ODataRequest) async throws -> ODataResponse {
        let options = request.url.options
        if request.preferences.trackChanges || options.deltaToken != nil || options.skipToken != nil {
            // All readers use the resulting versions, so the work on the writing connection is not interrupted.
            let tracked = try await request.context.budget.shielding { try await self.trackedRead(request) }
            if let tracked { return tracked }
        }
        return try await plainRead(request)
    }

    /// Returns the response to a read without change tracking, with the access of its caller.
    func plainRead(_ request: ODataRequest) async throws -> ODataResponse {
        try await withReader(for: request) { provider in
            guard access != nil else { return try await provider.execute(request) }
            return try await provider.read(request) { bound, _ in
                let allowed = try restricted(bound, request)
                // Compiled statements depend on the access of the caller.
                return try await provider.rows(allowed, request, nil)
            }
        }
    }

    /// Runs a read on the quietest reading connection, with the access of the caller of a request.
    func withReader<Result>(
        for request: ODataRequest, _ body: (StoreProvider) async throws -> Result
    ) async rethrows -> Result {
        try await choice.reading { index in try await body(restricted(reading[index], to: request)) }
    }

    /// The current time in seconds since 1970.
    var now: Int64 { options.now().seconds }

    /// Closes all connections. The fingerprint of the file is kept, so that the next start needs no comparison
    /// of rows.
    ///
    /// - Throws: ``ForeignDatabaseError/locked(path:)`` while a response is still being read.
    public func close() async throws {
        // Another program may have switched to a write-ahead log.
        let (tracker, isWAL) = (tracker, connections.isWAL || tracker?.side.queue != nil)
        do {
            try await connections.writer.writeWithoutTransaction { [connections] database in
                if isWAL, !connections.isReadOnly {
                    // The log is moved before the fingerprint is read; closing the connection would move it
                    // afterwards.
                    try? database.truncateLog()
                }
                try tracker?.settle(in: database)
            }
            try tracker?.side.close()
            try connections.close()
        } catch let error as DatabaseError {
            throw ForeignDatabaseError(error, path: connections.path)
        }
    }
}
