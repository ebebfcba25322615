import GRDB
import ODataModel
import ODataQuery
import ODataService

/// Processes read requests for collections, entities, properties, counts and references.
///
/// ```swift
/// let reader = StoreReader(mapping: mapping)
/// let response = try await reader.read(url, request: request, in: pool)
/// ```
///
/// Connections must have the functions of ``StoreFunctions``.
public struct StoreReader: Sendable {
    /// The settings of a reader.
    public struct Configuration: Sendable {
        /// The maximum number of rows on a page; `nil` for the limit of the request.
        public var maxPageSize: Int?
        /// The maximum number of rows of each expanded collection; `nil` for no limit.
        public var maxExpandedRows: Int?
        /// Returns the value of `now()`.
        public var now: @Sendable () -> ODataDateTimeOffset
        /// The budget of a request without its own budget; unlimited by default.
        public var limits: RequestBudget.Limits
        /// Returns whether rows of unfinished downloads must be hidden, in the transaction of a read.
        public var hasHiddenOwners: @Sendable (Database) throws -> Bool
        /// Returns the data that the store contains, so that reads of other data are refused; `nil` if the store
        /// contains everything.
        public var loadedData: @Sendable (Database) throws -> (any LoadedData)? = { _ in nil }
        /// Returns the filter for the visible rows of a set; `nil` if all rows are visible.
        package var rowFilter: (@Sendable (String) throws -> RowFilter?)?

        /// Creates a configuration.
        ///
        /// - Parameters:
        ///   - maxPageSize: the maximum number of rows on a page; `nil` for the limit of the request.
        ///   - maxExpandedRows: the maximum number of rows of each expanded collection; `nil` for no limit.
        ///   - limits: the budget of a request without its own budget.
        ///   - now: returns the value of `now()`.
        ///   - hasHiddenOwners: returns whether rows of unfinished downloads must be hidden.
        public init(
            maxPageSize: Int? = nil, maxExpandedRows: Int? = nil, limits: RequestBudget.Limits = .unlimited,
            now: @escaping @Sendable () -> ODataDateTimeOffset,
            hasHiddenOwners: @escaping @Sendable (Database) throws -> Bool = { _ in false }
        ) {
            self.maxPageSize = maxPageSize
            self.maxExpandedRows = maxExpandedRows
            self.limits = limits
            self.now = now
            self.hasHiddenOwners = hasHiddenOwners
        }

        /// Creates the configuration of a provider's reader. Its pages always have a limit, so that no result is
        /// read as a whole.
        package init(_ options: ServingOptions) {
            self.init(
                maxPageSize: options.pageBound, maxExpandedRows: options.maxExpandedRows, limits: options.limits,
                now: options.now)
        }
    }

    /// The tables and columns of the data.
    public let mapping: StorageMapping
    /// The settings.
    public let configuration: Configuration
    /// The snapshots of results for their next pages.
    package let snapshots: ResultSnapshots
    /// The caller, to whom the snapshots belong.
    let principal: Principal?

    /// Creates a reader.
    public init(mapping: StorageMapping, configuration: Configuration) {
        self.init(mapping: mapping, configuration: configuration, snapshots: ResultSnapshots(), for: nil)
    }

    /// Creates a reader for a caller. All readers share the snapshots, because the next page may be a request to
    /// another reader.
    package init(
        mapping: StorageMapping, configuration: Configuration, snapshots: ResultSnapshots, for principal: Principal?
    ) {
        self.mapping = mapping
        self.configuration = configuration
        self.snapshots = snapshots
        self.principal = principal
    }

    /// Processes a read request.
    ///
    /// - Parameters:
    ///   - url: the resolved URL of the request.
    ///   - request: the request with its preferences, format and conditions.
    ///   - reader: the database; each access is one short transaction.
    /// - Returns: A page, which is encoded if the request specifies a format; an entity; a value; or a count.
    /// - Throws: ``ODataError``, and ``StoredValueError`` for values of an existing database that do not match
    ///   their declaration.
    public func read(
        _ url: BoundURL, request: ODataRequest, in reader: any DatabaseReader
    ) async throws -> ODataResponse {
        try await read(url, request: request, in: reader, cache: nil)
    }

    package func read(
        _ url: BoundURL, request: ODataRequest, in reader: any DatabaseReader, cache: QueryCache.Entry?
    ) async throws -> ODataResponse {
        let segments = url.resource.steps
        var request = request
        request.context.budget = RequestBudget?(of: request, orElse: configuration.limits)
        switch url.resource.target {
        case .entities:
            guard let query = url.query else { throw ODataError.notImplemented("this collection") }
            return try await collection(
                query, segments, target: url.resource.target, request: request, reader: reader, cache: cache)
        case .entity(let shape, let set):
            let query = url.query ?? Self.query(shape, set)
            return try await entity(query, segments, request: request, reader: reader, cache: cache)
        case .count(let shape, let set):
            if case .property(let property, _, let owner)? = segments.last {
                return try await memberCount(url, property, of: owner, request: request, reader: reader)
            }
            let query = url.query ?? Self.query(shape, set)
            return try await count(query, segments, budget: request.context.budget, reader: reader)
        case .references(_, let shape, let set, isCollection: true):
            return try await references(url.query ?? Self.query(shape, set), segments, request: request, reader: reader)
        case .references(_, let shape, let set, isCollection: false):
            return try await reference(url.query ?? Self.query(shape, set), segments, request: request, reader: reader)
        case .property where url.query.map { $0.variable.shape == nil } == true:
            throw ODataError.notImplemented("Query options on a collection of primitive values")
        case .property, .rawValue: return try await property(url.resource, url.query, request: request, reader: reader)
        case .crossJoin(let sets, _):
            guard let query = url.query else { throw ODataError.notImplemented("$crossjoin here") }
            // A path has one set; several sets are a cross join.
            let segments = sets.compactMap { set in
                mapping.model.shape(set.type).map { BoundSegment.entitySet(set, $0) }
            }
            return try await collection(
                query, segments, target: url.resource.target, request: request, reader: reader, cache: cache)
        case .all: return try await allEntities(url, request, reader: reader)
        case .service, .metadata, .batch, .entityByID, .operation:
            throw ODataError.notImplemented("this resource in a store's reader")
        }
    }

    /// Returns a query without options.
    package static func query(_ shape: TypeShape, _ set: EntitySet?) -> BoundQuery {
        BoundQuery(
            shape: shape, set: set,
            variable: RangeVariable(name: "$it", identifier: 0, shape: shape, type: .entity(shape.name)))
    }

    /// Compiles a query in a transaction, which determines the hidden rows, or returns a cached statement.
    package func prepare(
        _ query: BoundQuery, _ segments: [BoundSegment], now: ODataDateTimeOffset, in database: Database,
        cache: QueryCache.Entry? = nil
    ) throws -> (CompiledQuery, SQLCompiler.Options) {
        var options = restricting(
            SQLCompiler.Options(now: now, hasHiddenOwners: try configuration.hasHiddenOwners(database)))
        options.loadedData = try configuration.loadedData(database)
        if query.expand.contains(where: \.query.hasSearch) { options.searchIndexes = try searchIndexes(in: database) }
        try checkParents(segments, options, in: database)
        var compiled = try compile(query, segments, options: options, cache: cache)
        if compiled.usesSearch {
            options.searchIndexes = try searchIndexes(in: database)
            if !options.searchIndexes.isEmpty {
                compiled = try SQLCompiler(mapping: mapping, options: options).compile(query, at: segments)
            }
        }
        try compiled.requirements.check(in: database)
        return (compiled, options)
    }

    /// Compiles a query, or returns a cached statement.
    func compile(
        _ query: BoundQuery, _ segments: [BoundSegment], options: SQLCompiler.Options, cache: QueryCache.Entry?
    ) throws -> CompiledQuery {
        if let compiled = cache?.find(options, mapping.model) { return compiled }
        let compiled = try SQLCompiler(mapping: mapping, options: options).compile(
            query, at: segments, literals: cache?.shape?.parameters ?? [])
        if !compiled.usesNow, !compiled.usesSearch, compiled.requirements.isEmpty { cache?.keep(compiled, options) }
        return compiled
    }

    /// Returns the tables with a full-text index.
    private func searchIndexes(in database: Database) throws -> Set<String> {
        let names = try SearchIndex.names(in: database)
        return Set(mapping.tables.values.filter { names.contains(SearchIndex.name(of: $0)) }.map(\.table))
    }

    /// Reads in one transaction, within the budget of the request.
    package func reading<Value: Sendable>(
        _ reader: any DatabaseReader, _ budget: RequestBudget?, body: @escaping @Sendable (Database) throws -> Value
    ) async throws -> Value {
        try await Self.translating {
            try await budget.reading(from: reader, body)
        }
    }

    /// Adds the caller's row filter to the options.
    package func restricting(_ options: SQLCompiler.Options) -> SQLCompiler.Options {
        var options = options
        options.rowFilter = configuration.rowFilter
        return options
    }

    /// Throws 404 if an entity on the path does not exist.
    package func checkParents(
        _ segments: [BoundSegment], _ options: SQLCompiler.Options, in database: Database
    ) throws {
        guard
            let last = segments.lastIndex(where: {
                if case .navigation = $0 { true } else { false }
            })
        else { return }
        let parents = Array(segments[..<last])
        let chain = try ResourceChain(parents, mapping: mapping)
        guard let link = chain.links.last, link.isSingle else { return }
        let compiler = ExpressionCompiler(mapping: mapping, options: options)
        let (scope, conditions) = try chain.source(compiler)
        try compiler.requirements.check(in: database)
        let exists: SQLFragment =
            "SELECT 1 FROM \(scope.fromClause)\(ExpressionCompiler.whereClause(conditions)) LIMIT 1"
        let found = try Int.fetchOne(
            StatementCache.statement(exists.sql, in: database), arguments: StatementArguments(exists.arguments))
        if found == nil { throw ODataError.notFound(Self.name(of: parents)) }
    }

    /// Returns a path for error messages.
    package static func name(of segments: [BoundSegment]) -> String {
        segments.reduce(into: "") { path, segment in
            switch segment {
            case .entitySet(let set, _): path += set.name
            case .singleton(let singleton, _): path += singleton.name
            case .key(let key), .alternateKey(let key, _, _):
                let parts = key.parts.map { part in
                    key.parts.count == 1 ? Self.text(part.value) : "\(part.name)=\(Self.text(part.value))"
                }
                path += "(\(parts.joined(separator: ",")))"
            case .navigation(let navigation, _, _): path += "/\(navigation.name)"
            case .property(let property, _, _): path += "/\(property.name)"
            case .cast(let shape): path += "/\(shape.name)"
            case .filter: path += "/$filter(…)"
            case .each: path += "/$each"
            case .operation(let operation, _): path += "/\(operation.name)"
            }
        }
    }

    /// Returns the value of a key as it stands in an address.
    private static func text(_ value: ODataValue) -> String {
        guard case .string(let text) = value else { return value.lexicalText ?? "…" }
        return "'\(text.replacing("'", with: "''"))'"
    }

    // MARK: Entities and counts

    private func entity(
        _ query: BoundQuery, _ segments: [BoundSegment], request: ODataRequest, reader: any DatabaseReader,
        cache: QueryCache.Entry?
    ) async throws -> ODataResponse {
        let paging = expandPaging(request)
        let found = try await reading(reader, request.context.budget) { [paging] database -> ODataEntity? in
            let (compiled, options) = try prepare(query, segments, now: configuration.now(), in: database, cache: cache)
            return try Self.entities(
                compiled, query, mapping: mapping, options: options, in: database, limit: 1, paging: paging
            ).first
        }
        guard let entity = found else {
            // A single-valued navigation property without a related entity is not an error (OData Protocol 4.01,
            // 11.2.7).
            if case .navigation = segments.last { return ODataResponse(status: 204) }
            throw ODataError.notFound(Self.name(of: segments))
        }
        let etag = entity.control.etag
        if let known = request.ifNoneMatch, let etag, known == etag || known == "*" {
            return ODataResponse(status: 304, etag: etag)
        }
        return ODataResponse(body: .entity(entity), etag: etag)
    }

    /// Returns the first rows as entities with their expanded entities.
    package static func entities(
        _ compiled: CompiledQuery, _ query: BoundQuery, mapping: StorageMapping, options: SQLCompiler.Options,
        in database: Database, limit: Int, paging: ExpandPaging = ExpandPaging()
    ) throws -> [ODataEntity] {
        var run = try PageRun(compiled, after: nil, pageSize: nil, budget: paging.budget)
        let renderer = EntityRenderer(model: mapping.model)
        var entities: [ODataEntity] = []
        var sources: [[[DatabaseValue]]] = []
        _ = try run.run(in: database) { row in
            let entity = try renderer.item(row, compiled.plan)
            try paging.budget?.hold(renderer.size(of: entity))
            entities.append(entity)
            sources.append(compiled.plan.expandSources.map { $0.map { row.value($0) } })
            return entities.count < limit
        }
        try ExpandRunner(renderer: renderer, mapping: mapping, options: options, database: database, paging: paging)
            .expand(&entities, sources, expand: compiled.expand, of: compiled.plan.set)
        return entities
    }

    private func count(
        _ query: BoundQuery, _ segments: [BoundSegment], budget: RequestBudget?, reader: any DatabaseReader
    ) async throws -> ODataResponse {
        try await reading(reader, budget) { database in
            var query = query
            query.orderBy = []
            query.expand = []
            let (compiled, _) = try prepare(query, segments, now: configuration.now(), in: database)
            return ODataResponse(body: .count(try Self.count(compiled, in: database)))
        }
    }

    package static func count(_ compiled: CompiledQuery, in database: Database) throws -> Int64 {
        let fragment = compiled.countStatement
        return try Int64.fetchOne(
            StatementCache.statement(fragment.sql, in: database), arguments: StatementArguments(fragment.arguments))
            ?? 0
    }

    // MARK: Errors

    /// Converts error messages of registered functions to errors.
    package static func translating<Value: Sendable>(
        _ body: @Sendable () async throws -> Value
    ) async throws -> Value {
        do {
            return try await body()
        } catch let error as DatabaseError {
            guard let message = error.message, message.hasPrefix(FunctionError.mark) else {
                if error.isTooComplex { throw ODataError.tooComplex }
                throw error
            }
            throw ODataError(
                status: 400, code: "InvalidOperation", message: String(message.dropFirst(FunctionError.mark.count)))
        }
    }
}

extension BoundQuery {
    /// Whether this query or a nested one contains `$search`.
    var hasSearch: Bool { search != nil || expand.contains(where: \.query.hasSearch) }
}

extension ODataError {
    /// The error for statements that exceed a limit of SQLite or of this library.
    static let tooComplex = ODataError(
        status: 400, code: "TooComplex", message: "The request is more complex than the store can answer at once.")
}

extension DatabaseError {
    /// Whether a statement exceeds a limit of SQLite. Limits concern the depth and length of the statement, the
    /// number of tables and values, and the length of a value.
    var isTooComplex: Bool {
        if resultCode == .SQLITE_TOOBIG { return true }
        guard resultCode == .SQLITE_ERROR, let message else { return false }
        return [
            "parser stack overflow", "Expression tree is too large", "too many terms in", "too many SQL variables",
            "tables in a join", "too many columns in", "too many arguments on",
            "too many references to",
        ].contains { message.contains($0) }
    }
}
