import Foundation
import GRDB
import ODataModel
import ODataQuery
import ODataService

/// A service on a SQLite database, either the offline store or an existing database.
///
/// ```swift
/// let provider = StoreProvider(database: store.pool, mapping: layout.mapping)
/// let url = try ODataURL(parsing: "Orders?$filter=Freight gt 50&$expand=Customer")
/// let response = try await provider.execute(ODataRequest(.read, url))
/// ```
///
/// Each request is one transaction, and so is each change set of a batch. A read returns at most one page, and
/// leaves no open transaction.
public final class StoreProvider: ODataProvider {
    /// The settings of a provider, including ``ServingOptions``.
    public struct Options: ServingSettings {
        /// Sizes, limits, the clock, and whether changes are refused.
        public var serving = ServingOptions()
        /// The functions that queries can call in addition to the canonical ones. All connections must have them
        /// registered (``StoreFunctions/register(_:in:)``).
        public var functions = FunctionRegistry()
        /// Returns the data that the store contains, so that reads of other data are refused; `nil` if the store
        /// contains everything.
        public var loadedData: @Sendable (Database) throws -> (any LoadedData)? = { _ in nil }
        /// The handlers of actions and functions by qualified name.
        public var operations: [QualifiedName: OperationHandler] = [:]

        /// Creates options with the default values.
        public init() {}
    }

    /// A handler of an action or function, which runs inside a transaction. Only handlers of actions may write.
    public typealias OperationHandler = @Sendable (OperationCall, Database) throws -> ResponseBody

    /// A call of an action or function.
    public struct OperationCall: Sendable {
        /// The called overload.
        public var operation: ODataOperation
        /// The parameters by name, without the binding parameter.
        public var parameters: [String: ODataValue]
        /// The resource of the call, with the binding parameter and the operation.
        public var resource: BoundResource
        /// The request.
        public var request: ODataRequest
    }

    package let database: any DatabaseWriter
    /// The tables and columns of the data.
    public let mapping: StorageMapping
    /// The writer of rows, for components that share a transaction with this provider.
    public let writer: RowWriter
    package let options: Options
    let binder: Binder
    package let reader: StoreReader
    /// The traits: the registered functions, the whole query language, and the capabilities of the tables,
    /// independent of the back end.
    public let traits: ProviderTraits
    private let cache: QueryCache

    /// Creates a provider.
    ///
    /// - Parameters:
    ///   - database: the connections, for an offline store those of ``StoreDatabase``; all of them must have
    ///     ``StoreFunctions`` registered.
    ///   - mapping: the tables and columns of the data.
    ///   - hook: a hook that takes part in each change.
    ///   - rules: additional effects of changes.
    ///   - options: the settings.
    public init(
        database: any DatabaseWriter, mapping: StorageMapping, hook: (any WriteHook)? = nil,
        rules: WriteRules = WriteRules(), options: Options = Options()
    ) {
        self.database = database
        self.mapping = mapping
        self.options = options
        let writer = RowWriter(mapping: mapping, hook: hook, rules: rules)
        self.writer = writer
        binder = Binder(model: mapping.model, functions: options.functions)
        cache = QueryCache()
        traits = ProviderTraits(
            supportsIsolation: false,
            capabilities: Self.capabilities(mapping, isReadOnly: options.isReadOnly, rules),
            queryLanguage: QueryLanguage(functions: options.functions))
        let hiddenTables = Set(mapping.tables.values.compactMap { $0.visibility?.hiddenTable }).sorted()
        var configuration = StoreReader.Configuration(options.serving)
        configuration.hasHiddenOwners = { database in
            // The table is nearly always empty, so that queries need no condition on it.
            try hiddenTables.contains { table in
                try Bool.fetchOne(
                    database.cachedStatement(sql: "SELECT EXISTS (SELECT 1 FROM \(table.sqlIdentifier))")) ?? false
            }
        }
        configuration.loadedData = options.loadedData
        reader = StoreReader(mapping: mapping, configuration: configuration)
    }

    /// Creates a copy of a provider with some parts replaced. Both share resolved URLs and compiled statements.
    ///
    /// - Parameters:
    ///   - other: the original provider.
    ///   - database: other connections to the same tables.
    ///   - writer: another writer.
    ///   - reader: another reader, such as one that returns only the rows that a caller may read.
    package init(
        _ other: StoreProvider, database: (any DatabaseWriter)? = nil, writer: RowWriter? = nil,
        reader: StoreReader? = nil
    ) {
        self.database = database ?? other.database
        mapping = other.mapping
        self.writer = writer ?? other.writer
        binder = other.binder
        self.reader = reader ?? other.reader
        traits = other.traits
        cache = other.cache
        options = other.options
    }

    /// The model; access to it never fails.
    public var model: EntityDataModel { mapping.model }

    private static func capabilities(
        _ mapping: StorageMapping, isReadOnly: Bool, _ rules: WriteRules
    ) -> PublishedCapabilities {
        var capabilities = PublishedCapabilities()
        capabilities.isReadOnly = isReadOnly
        capabilities.readOnlySets = Set(mapping.tables.values.filter(\.isReadOnly).map(\.set))
        capabilities.supportsDeepChanges = rules.updatesRelated
        return capabilities
    }

    /// Processes a request.
    ///
    /// - Throws: Only ``ODataError``; errors of the database are translated.
    public func execute(_ request: ODataRequest) async throws -> ODataResponse {
        do {
            let request = try request.parsingLink()
            if case .batch(let items) = request.body {
                return try await batch(items, of: request)
            }
            if request.method == .read { return try await read(request) }
            let bound = try bind(request)
            let prepared = try await prepared(request, bound)
            let budget = budget(of: request)
            let response = try await budget.shielding { [self] in
                try await database.write { database in
                    try budget.running(on: database) { try perform(prepared, bound, in: database) }
                }
            }
            // The change is complete, and a failure to read the entity again does not turn it into an error.
            return (try? await completed(response, request)) ?? response
        } catch {
            throw ODataError(translating: error)
        }
    }

    /// Returns the resolution of a request if it refers to this provider's model. A resolution of an entity id must
    /// still be followed.
    private func resolution(of request: ODataRequest) -> ResolvedURL? {
        guard let resolution = request.resolution, resolution.model === model else { return nil }
        if case .entityByID = resolution.bound.resource.target { return nil }
        return resolution
    }

    /// Returns the resolved URL of a request, in which `$entity?$id=…` is replaced with the entity.
    package func bind(_ request: ODataRequest) throws -> BoundURL {
        if let resolution = resolution(of: request) { return resolution.bound }
        return try bind(request.url)
    }

    private func bind(_ asked: ODataURL) throws -> BoundURL {
        let bound = try binder.bind(asked)
        guard case .entityByID = bound.resource.target else { return bound }
        guard let id = asked.options.id else {
            throw ODataError(
                status: 400, code: "InvalidQuery", message: "$entity needs the option $id.", target: "$id")
        }
        var url: ODataURL
        if let path = contained(id) {
            url = path
        } else {
            let (set, key) = try EntityID.parse(id, model: model)
            guard let shape = mapping.tables[set]?.shape else { throw ODataError.notFound(id) }
            url = try ODataURL(parsing: EntityID.canonical(set: set, key: key, shape: shape, model: model))
        }
        url.options = asked.options
        url.options.id = nil
        return try binder.bind(url)
    }

    /// Returns the path of a contained entity from its id, which may start with the service root.
    private func contained(_ id: String) -> ODataURL? {
        let segments = id.split(separator: "/", omittingEmptySubsequences: false)
        for start in segments.indices.dropLast() {
            guard let url = try? ODataURL(parsing: segments[start...].joined(separator: "/")),
                let resource = try? binder.bind(url).resource, case .entity = resource.target,
                resource.steps.contains(where: {
                    if case .navigation(let navigation, _, _) = $0 { navigation.isContainment } else { false }
                })
            else { continue }
            return url
        }
        return nil
    }

    // MARK: Reading

    /// Returns the SQL statement for a request for a collection or an entity.
    ///
    /// The statement may be compiled earlier for the same URL, or for a URL that differs only in its literals
    /// (``QueryShape``). Executing a request uses the same statement.
    ///
    /// ```swift
    /// let statement = try provider.statement(for: ODataURL(parsing: "Orders?$filter=Freight gt 50"))
    /// print(statement.sql, statement.arguments)
    /// ```
    ///
    /// - Parameters:
    ///   - url: the URL of the request.
    ///   - hidesRows: whether rows of unfinished downloads are excluded.
    /// - Throws: ``QueryError`` if the URL does not match the model; ``ODataError`` 501 with the name of a
    ///   construct that has no SQL.
    public func statement(for url: ODataURL, hidesRows: Bool = false) throws -> CompiledQuery {
        var plain = url
        if plain.options.skipToken != nil { plain.options.skipToken = nil }
        let entry = cache.entry(of: try traits.queryLanguage.urls.find(plain, model) { try binder.bind(plain) })
        guard let query = entry.url.query else { throw ODataError.notImplemented("a statement for this resource") }
        let options = reader.restricting(
            SQLCompiler.Options(now: reader.configuration.now(), hasHiddenOwners: hidesRows))
        return try reader.compile(query, entry.url.resource.steps, options: options, cache: entry)
    }

    private func read(_ request: ODataRequest) async throws -> ODataResponse {
        try await read(request) { bound, entry in try await rows(bound, request, entry) }
    }

    /// Processes a read. The service document and the metadata come from the model, and other responses from
    /// `rows`.
    ///
    /// - Parameter rows: reads from the database; its arguments are the resolved URL and its cached statements.
    package func read(
        _ request: ODataRequest, _ rows: (BoundURL, QueryCache.Entry) async throws -> ODataResponse
    ) async throws -> ODataResponse {
        let (bound, entry) = try resolved(request)
        switch bound.resource.target {
        case .service: return ODataResponse(body: .serviceDocument)
        case .metadata: return ODataResponse(body: .metadata(model))
        case .batch: throw ODataError.methodNotAllowed(.read, allowed: ["POST"])
        default: return try await rows(bound, entry)
        }
    }

    /// Returns the resolved URL of a read and its cached statements, which are the same for all pages of a request.
    private func resolved(_ request: ODataRequest) throws -> (BoundURL, QueryCache.Entry) {
        let resolution = resolution(of: request)
        let token = request.url.options.skipToken
        if token == nil, let resolution, let entry = cache.known(of: resolution) { return (resolution.bound, entry) }
        var plain = request.url
        if token != nil { plain.options.skipToken = nil }
        let shared = try traits.queryLanguage.urls.find(plain, model) {
            guard var bound = resolution?.bound else { return try bind(plain) }
            bound.query?.skipToken = nil
            return bound
        }
        let entry = cache.entry(of: shared)
        guard token != nil else {
            resolution?.made = entry
            return (shared.bound, entry)
        }
        var bound = shared.bound
        bound.query?.skipToken = token
        return (bound, entry)
    }

    /// Processes a read that requires the database.
    ///
    /// - Parameter entry: the cached statements of the URL; `nil` if the caller sees only some rows or properties.
    package func rows(
        _ bound: BoundURL, _ request: ODataRequest, _ entry: QueryCache.Entry?
    ) async throws -> ODataResponse {
        switch bound.resource.target {
        case .operation(let operation):
            guard operation.kind == .function else {
                throw ODataError.methodNotAllowed(.read, allowed: ["POST"])
            }
            return try await answer(operation, bound.resource, request: request)
        case .count:
            guard case .operation(let operation, _)? = bound.resource.steps.last,
                options.operations[operation.name] != nil
            else { fallthrough }
            let response = try await answer(operation, bound.resource, request: request)
            guard case .count = response.body else {
                throw ODataError.notImplemented("$count of the result of \(operation.name.name)")
            }
            return response
        default: return try await reader.read(bound, request: request, in: database, cache: entry)
        }
    }

    /// Returns the result of a function, or the number of its members, according to the resource.
    private func answer(
        _ function: ODataOperation, _ resource: BoundResource, request: ODataRequest
    ) async throws -> ODataResponse {
        let budget = budget(of: request)
        return try await budget.reading(from: database) { [self] database in
            try call(function, resource, request: request, in: database)
        }
    }

    /// Returns the budget of a request, or a new one with the limits of this provider.
    func budget(of request: ODataRequest) -> RequestBudget? { RequestBudget?(of: request, orElse: options.limits) }

    /// Calls the handler of an operation.
    func call(
        _ operation: ODataOperation, _ resource: BoundResource, request: ODataRequest, in database: Database
    ) throws -> ODataResponse {
        guard let handler = options.operations[operation.name] else {
            throw ODataError.notImplemented(operation.name.description)
        }
        var parameters: [String: ODataValue] = [:]
        if case .parameters(let given) = request.body { parameters = given }
        if case .operation(_, let given)? = resource.steps.last {
            for (name, expression) in given {
                guard case .constant(let value, _) = expression else {
                    throw ODataError.notImplemented("An expression as the parameter \(name)")
                }
                parameters[name] = value
            }
        }
        let call = OperationCall(operation: operation, parameters: parameters, resource: resource, request: request)
        let body = try handler(call, database)
        if case .none = body { return ODataResponse(status: 204) }
        return ODataResponse(body: body)
    }
}

extension ODataError {
    /// Translates an error of the store for clients. An `ODataError` is not changed.
    package init(translating error: any Error) {
        switch error {
        case let error as ODataError: self = error
        case let error as QueryError: self.init(error)
        case let error as StoredValueError:
            self.init(
                status: 500, code: "BadStoredValue", message: error.description,
                target: error.column.isEmpty ? nil : error.column)
        case let error as DatabaseError: self.init(StoreError(error, path: "the database"))
        case let error as StoreError: self.init(error)
        case is CancellationError:
            self.init(status: 499, code: "Cancelled", message: "The request was cancelled.")
        default: self.init(status: 500, code: "InternalError", message: "\(error)")
        }
    }

    private init(_ error: StoreError) {
        switch error {
        case .locked: self.init(status: 503, code: "Busy", message: error.description, retryAfter: 1)
        case .diskFull, .openedOnFullDevice:
            self.init(status: 507, code: "InsufficientStorage", message: error.description)
        case .readOnly: self.init(status: 403, code: "ReadOnly", message: error.description)
        case .constraint: self.init(status: 409, code: "ConstraintFailed", message: error.description)
        default: self.init(status: 500, code: "DatabaseError", message: error.description)
        }
    }
}
