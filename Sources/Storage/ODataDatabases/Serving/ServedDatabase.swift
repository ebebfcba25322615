import Foundation
import GRDB
import ODataModel
import ODataQuery
import ODataSQL
import ODataService
import ODataStore
import Synchronization

/// A SQLite database that is not ours, served as it is: the complete query language over its tables and views,
/// changes under its own constraints, ETags, repeatable requests and delta links.
///
/// ```swift
/// let database = try await ServedDatabase.open(path: "northwind.db")
/// for warning in database.warnings { print(warning) }
/// let url = try ODataURL(parsing: "Orders?$filter=Freight gt 50&$expand=Customer")
/// let response = try await database.execute(ODataRequest(.read, url))
/// try await database.close()
/// ```
///
/// Nothing in the database is altered without being asked for: it stays in the journal mode found, row versions
/// and remembered requests live in `NAME.db-outpost` beside it, and other programs may go on
/// working with it. The model is made when the database is opened; when its schema changes, open it again.
public final class ServedDatabase: ODataProvider {
    /// How a database is served; the settings of ``ServingOptions`` included. With `isReadOnly`, the file is opened for
    /// reading only.
    public struct Options: ServingSettings {
        /// Sizes, limits, the clock, and whether changes are refused.
        public var serving = ServingOptions()
        /// Whether triggers that note every change are put into the database, so that a pull never costs a
        /// comparison of all rows; ``ChangeTriggers/remove(fromDatabaseAt:)`` takes them out again.
        public var installsTriggers = false
        /// The key columns of the views that are to be entity sets, by the view's name.
        public var viewKeys: [String: [String]] = [:]
        /// The namespace of the model.
        public var namespace = "Database"
        /// How long the answers to repeatable requests are remembered, in seconds; 50 days by default.
        public var repeatabilityLifetime = TimeInterval(RepeatableRequest.lifetime)
        /// How many connections read at the same time.
        public var readerCount = 2
        /// How long a lock of another program is waited for, in seconds.
        public var busyTimeout: TimeInterval = 5
        /// Called between the steps of a commit, where tests kill the process.
        var atStep: @Sendable (CommitStep) -> Void = { _ in }

        /// Makes options with the defaults.
        public init() {}
    }

    /// The steps between which a process may die.
    enum CommitStep: String, Codable, Sendable {
        /// The rows are changed, nothing is committed.
        case changed
        /// With a write-ahead log: what is about to be committed stands beside it.
        case intended
        /// The database is committed.
        case committed
    }

    /// The model as it was made, with what is not as declared.
    public let foreign: ForeignModel
    /// What is not as declared, not served, or not possible, in sentences.
    public let warnings: [String]
    let options: Options
    let connections: ForeignConnections
    /// Versions and remembered requests; `nil` where the file beside the database cannot be made.
    let tracker: ChangeTracker?
    /// Answers on the connection that writes.
    let writing: StoreProvider
    /// The whole query language; changes and delta links where the file can be written and its versions kept.
    public let traits: ProviderTraits
    /// Answers on the connections that read.
    private let reading: [StoreProvider]
    private let turn = Atomic<Int>(0)

    /// Opens a database and makes its model, which reads every value once.
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
            // Reading is possible without it; writing could not keep its promises.
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
        self.tracker = tracker
        var providerOptions = StoreProvider.Options()
        providerOptions.serving = options.serving
        for function in foreign.functions.values {
            providerOptions.operations[function.operation] = function.handler(in: foreign.model, now: options.now)
        }
        let writing = StoreProvider(
            database: connections.writer, mapping: foreign.mapping, options: providerOptions)
        self.writing = writing
        reading = connections.readers.map { StoreProvider(writing, database: $0) }
        var traits = writing.traits
        traits.capabilities?.trackedSets = Set(tracker?.tables.keys.map(\.self) ?? [])
        traits.capabilities?.supportsRepeatableRequests = tracker != nil && !options.isReadOnly
        self.traits = traits
        try await settleIntents()
    }

    /// The model; reading it never fails.
    public var model: EntityDataModel { foreign.model }

    /// Answers a request.
    ///
    /// - Throws: ``ODataError`` alone: what the database refuses is translated.
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
            // What is found out about the rows is for all readers, and is not interrupted on the connection that writes.
            let tracked = try await request.context.budget.shielding { try await self.trackedRead(request) }
            if let tracked { return tracked }
        }
        return try await reader.execute(request)
    }

    /// One of the reading connections, in turn.
    var reader: StoreProvider {
        let index = turn.wrappingAdd(1, ordering: .relaxed).newValue
        return reading[Int(UInt(bitPattern: index) % UInt(reading.count))]
    }

    /// The present time in seconds since 1970.
    var now: Int64 { options.now().seconds }

    /// Closes all connections; what was seen of the file is kept, so that the next start needs no scan.
    ///
    /// - Throws: ``ForeignDatabaseError/locked(path:)`` while a response is still being read.
    public func close() async throws {
        // Another program may have turned to a log meanwhile.
        let (tracker, isWAL) = (tracker, connections.isWAL || tracker?.side.queue != nil)
        do {
            try await connections.writer.writeWithoutTransaction { [connections] database in
                if isWAL, !connections.isReadOnly {
                    // What stands in the log is moved now; closing would do it after the file was looked at.
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
