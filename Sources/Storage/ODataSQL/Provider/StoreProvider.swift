import Foundation
import GRDB
import ODataModel
import ODataQuery
import ODataService

/// A service on a SQLite database: the offline store, or somebody else's database that is served.
///
/// ```swift
/// let provider = StoreProvider(database: store.pool, mapping: layout.mapping)
/// let url = try ODataURL(parsing: "Orders?$filter=Freight gt 50&$expand=Customer")
/// let response = try await provider.execute(ODataRequest(.read, url))
/// ```
///
/// Each request is one transaction; so is each change set of a batch. Reads fill at most a page and hold no
/// transaction when they return.
public final class StoreProvider: ODataProvider {
    /// The settings of a provider, those of ``ServingOptions`` included.
    public struct Options: ServingSettings {
        /// Sizes, limits, the clock, and whether changes are refused.
        public var serving = ServingOptions()
        /// The functions that queries may call besides the canonical ones; connections must have them registered
        /// by ``StoreFunctions/register(_:in:)``.
        public var functions = FunctionRegistry()
        /// What the store holds, so that reads of other parts are refused; everything where it gives `nil`.
        public var loadedData: @Sendable (Database) throws -> (any LoadedData)? = { _ in nil }
        /// What answers actions and functions, by their qualified names.
        public var operations: [QualifiedName: OperationHandler] = [:]

        /// Makes options with the defaults.
        public init() {}
    }

    /// Answers a call of an action or function, inside a transaction; only an action's may write.
    public typealias OperationHandler = @Sendable (OperationCall, Database) throws -> ResponseBody

    /// A call of an action or function.
    public struct OperationCall: Sendable {
        /// The overload that is called.
        public var operation: ODataOperation
        /// The parameters by name, without the binding parameter.
        public var parameters: [String: ODataValue]
        /// What it is bound to, and how it was called.
        public var resource: BoundResource
        /// The request.
        public var request: ODataRequest
    }

    package let database: any DatabaseWriter
    /// Where the data lies.
    public let mapping: StorageMapping
    /// What changes rows, for what stands above and shares a transaction with it.
    public let writer: RowWriter
    package let options: Options
    let binder: Binder
    package let reader: StoreReader
    /// The app's own functions, the whole query language, and what the tables allow, whatever the service can do that the data
    /// come from.
    public let traits: ProviderTraits
    private let cache: QueryCache

    /// Makes a provider.
    ///
    /// - Parameters:
    ///   - database: the connections; those of an offline store come from ``StoreDatabase``, and all must have
    ///     ``StoreFunctions`` registered.
    ///   - mapping: where the data lies.
    ///   - hook: what takes part in each change.
    ///   - rules: what a change does beyond its row.
    ///   - options: what is allowed.
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
            // Nearly always empty: then no query needs to look at it.
            try hiddenTables.contains { table in
                try Bool.fetchOne(
                    database.cachedStatement(sql: "SELECT EXISTS (SELECT 1 FROM \(table.sqlIdentifier))")) ?? false
            }
        }
        configuration.loadedData = options.loadedData
        reader = StoreReader(mapping: mapping, configuration: configuration)
    }

    /// Makes a provider like another one, with the parts that are given. Resolved URLs and compiled statements are shared.
    ///
    /// - Parameters:
    ///   - other: the other provider.
    ///   - database: other connections to the same tables.
    ///   - writer: another writer.
    ///   - reader: another reader, such as one that shows a caller what it may see.
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

    /// The model; reading it never fails.
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
            let bound = try bind(request)
            let prepared = try await prepared(request, bound)
            let budget = budget(of: request)
            let response = try await budget.shielding { [self] in
                try await database.write { database in
                    try budget.running(on: database) { try perform(prepared, bound, in: database) }
                }
            }
            // It is made: what cannot be read of it afterwards does not make it a failure.
            return (try? await completed(response, request)) ?? response
        } catch {
            throw ODataError(translating: error)
        }
    }

    /// The resolution that a request brings, if it is one against this provider's model. That of an id still has to be followed.
    private func resolution(of request: ODataRequest) -> ResolvedURL? {
        guard let resolution = request.resolution, resolution.model === model else { return nil }
        if case .entityByID = resolution.bound.resource.target { return nil }
        return resolution
    }

    /// A request's URL as it was resolved, or is resolved now; `$entity?$id=…` is followed to the entity.
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

    /// The path to an entity that another one contains, out of its id, which may begin with the root of the service.
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

    /// The statement that answers a request for a collection or an entity, for those who look at it or run it
    /// themselves: compiled, or what was compiled before for this URL or, with other literals, for one of its shape
    /// (``QueryShape``). Executing a request takes the same way.
    ///
    /// ```swift
    /// let statement = try provider.statement(for: ODataURL(parsing: "Orders?$filter=Freight gt 50"))
    /// print(statement.sql, statement.arguments)
    /// ```
    ///
    /// - Parameters:
    ///   - url: the request's URL.
    ///   - hidesRows: whether rows of unfinished downloads are left out.
    /// - Throws: ``QueryError`` for a URL that the model does not fit; ``ODataError`` 501 with the name of what has no
    ///   SQL.
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

    /// Answers a read: the service document and the metadata are told by the model, the rest by `rows`.
    ///
    /// - Parameter rows: answers what the database has to be asked for; gets the URL resolved, and what was compiled for it.
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

    /// A read's URL resolved, and what was compiled for it: all pages of a request are one query.
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

    /// Answers a read that the database has to be asked for.
    private func rows(
        _ bound: BoundURL, _ request: ODataRequest, _ entry: QueryCache.Entry
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

    /// Answers a call of a function, or how many members its result has, as the resource says.
    private func answer(
        _ function: ODataOperation, _ resource: BoundResource, request: ODataRequest
    ) async throws -> ODataResponse {
        let budget = budget(of: request)
        return try await database.read { [self] database in
            try budget.running(on: database) { try call(function, resource, request: request, in: database) }
        }
    }

    /// The budget of a request: its own, or a new one with the limits of this provider.
    func budget(of request: ODataRequest) -> RequestBudget? { RequestBudget?(of: request, orElse: options.limits) }

    /// Runs the handler of an operation.
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
    /// What an error of the store means to a client. Errors that are OData errors already stay what they are.
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
