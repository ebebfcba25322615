import GRDB
import ODataModel
import ODataQuery
import ODataService

/// Pages of collections.
extension StoreReader {
    /// Returns a page of a collection.
    ///
    /// - Parameter room: the maximum number of rows on this page; by default, the preference of the request.
    func collection(
        _ query: BoundQuery, _ segments: [BoundSegment], target: BoundResource.Target, request: ODataRequest,
        reader: any DatabaseReader, cache: QueryCache.Entry?, room: Int? = nil
    ) async throws -> ODataResponse {
        if query.deltaToken != nil { throw ODataError.notImplemented("$deltatoken") }
        let token = try query.skipToken.map { try PageToken($0) }
        let now = token?.now ?? configuration.now()
        // A page without rows would have no position for a next link.
        let pageSize = [configuration.maxPageSize, room ?? request.preferences.maxPageSize].compactMap { $0 }.min()
            .map { max(1, $0) }
        let link = nextLink(request)
        let budget = request.context.budget
        let paging = expandPaging(request)
        var response: ODataResponse
        if let format = request.format {
            let renderer = JSONRowRenderer(
                model: mapping.model, format: format, omitsNulls: request.preferences.omitValues == "nulls")
            // An error in the first rows becomes the error of the request instead of an error within the response.
            let (first, total) = try await reading(reader, budget) { database in
                let (run, options, total) = try start(
                    query, segments, token: token, now: now, pageSize: pageSize, budget: budget, in: database,
                    cache: cache)
                let piece = PageWriter.Piece(
                    run: run, mapping: mapping, options: options, paging: paging, renderer: renderer)
                return (try piece.read(in: database, size: PageWriter.firstReadSize(budget)), total)
            }
            let writer = try PageWriter(
                reader: reader, budget: budget, first: first,
                head: head(query, segments, target: target, request: request, renderer: renderer, total: total),
                nextLink: link)
            response = ODataResponse(
                body: .encoded(ByteStream { try await writer.next() }, contentType: Self.contentType(format)))
        } else {
            let page = try await reading(reader, budget) { database in
                let (run, options, total) = try start(
                    query, segments, token: token, now: now, pageSize: pageSize, budget: budget, in: database,
                    cache: cache)
                return try decoded(
                    run, query, options: options, total: total, nextLink: link, paging: paging, in: database)
            }
            response = ODataResponse(body: .page(page))
        }
        if let wanted = request.preferences.maxPageSize {
            response.preferencesApplied.append("maxpagesize=\(pageSize ?? wanted)")
        }
        if request.format != nil, request.preferences.omitValues == "nulls" {
            response.preferencesApplied.append("omit-values=nulls")
        }
        return response
    }

    /// Returns the references to the members of a collection, in pages if the client requests them (OData Protocol
    /// 4.01, 11.2.8).
    func references(
        _ query: BoundQuery, _ segments: [BoundSegment], request: ODataRequest, reader: any DatabaseReader
    ) async throws -> ODataResponse {
        var query = query
        query.projection = .some(ordinals: [], names: [])
        query.expand = []
        let wanted = query
        let token = try query.skipToken.map { try PageToken($0) }
        let now = token?.now ?? configuration.now()
        let pageSize = request.preferences.maxPageSize.map { max(1, $0) }
        let link = nextLink(request)
        let budget = request.context.budget
        var expanding = ExpandPaging()
        expanding.budget = budget
        let paging = expanding
        let page = try await reading(reader, budget) { database in
            let (run, options, total) = try start(
                wanted, segments, token: token, now: now, pageSize: pageSize, budget: budget, in: database, cache: nil)
            return try decoded(
                run, wanted, options: options, total: total, nextLink: link, paging: paging, in: database)
        }
        var response = ODataResponse(
            body: .references(
                page.entities.compactMap(\.control.id), isCollection: true, count: page.count,
                nextLink: page.nextLink))
        if let pageSize { response.preferencesApplied.append("maxpagesize=\(pageSize)") }
        return response
    }

    /// Returns the reference to one entity; 204 if there is none.
    func reference(
        _ query: BoundQuery, _ segments: [BoundSegment], request: ODataRequest, reader: any DatabaseReader
    ) async throws -> ODataResponse {
        var query = query
        query.projection = .some(ordinals: [], names: [])
        query.expand = []
        let wanted = query
        var paging = ExpandPaging()
        paging.budget = request.context.budget
        let id = try await reading(reader, request.context.budget) { [paging] database in
            let (compiled, options) = try prepare(wanted, segments, now: configuration.now(), in: database)
            return try Self.entities(
                compiled, wanted, mapping: mapping, options: options, in: database, limit: 1, paging: paging
            ).first?.control.id
        }
        guard let id else { return ODataResponse(status: 204) }
        return ODataResponse(body: .references([id], isCollection: false))
    }

    /// Returns the paging of expanded collections, with the configured page size or the smaller one of the client
    /// (OData Protocol 4.01, 8.2.8.5).
    func expandPaging(_ request: ODataRequest) -> ExpandPaging {
        let sizes = [configuration.maxExpandedRows, request.preferences.maxPageSize].compactMap { $0 }
        var paging = ExpandPaging(pageSize: sizes.min(), request: request)
        paging.budget = request.context.budget
        return paging
    }

    /// Compiles the query, checks the token and counts the rows, in one transaction.
    private func start(
        _ query: BoundQuery, _ segments: [BoundSegment], token: PageToken?, now: ODataDateTimeOffset,
        pageSize: Int?, budget: RequestBudget?, in database: Database, cache: QueryCache.Entry?
    ) throws -> (PageRun, SQLCompiler.Options, Int64?) {
        var (compiled, options) = try prepare(query, segments, now: now, in: database, cache: cache)
        if options.isPassing, token != nil || pageSize != nil {
            // The next link is valid as long as the query.
            compiled.origin = try SQLCompiler(mapping: mapping, options: options.lasting)
                .compile(query, at: segments).digest
        }
        if let token, token.digest != compiled.digest { throw PageToken.foreign }
        var snapshot: ResultSnapshots.Snapshot?
        if !compiled.canResume, pageSize != nil, !compiled.isSingleRow {
            snapshot =
                try token.map {
                    guard let id = $0.snapshot else { throw PageToken.foreign }
                    return try snapshots.find(id, compiled, for: principal)
                } ?? snapshots.take(compiled, in: database, for: principal, budget: budget)
        }
        let run = try PageRun(compiled, after: token, pageSize: pageSize, snapshot: snapshot, budget: budget)
        return (run, options, query.count ? try Self.count(compiled, in: database) : nil)
    }

    private func decoded(
        _ run: PageRun, _ query: BoundQuery, options: SQLCompiler.Options, total: Int64?,
        nextLink: (PageToken) -> String, paging: ExpandPaging, in database: Database
    ) throws -> EntityPage {
        var run = run
        let renderer = EntityRenderer(model: mapping.model)
        let plan = run.compiled.plan
        var entities: [ODataEntity] = []
        var sources: [[[DatabaseValue]]] = []
        let outcome = try run.run(in: database) { row in
            let entity = try renderer.item(row, plan)
            try paging.budget?.hold(renderer.size(of: entity))
            entities.append(entity)
            if !plan.expandSources.isEmpty {
                sources.append(plan.expandSources.map { $0.map { row.value($0) } })
            }
            return true
        }
        try ExpandRunner(renderer: renderer, mapping: mapping, options: options, database: database, paging: paging)
            .expand(&entities, sources, expand: run.compiled.expand, of: plan.set)
        var page = EntityPage(entities: entities, count: total)
        if outcome == .pageIsFull { page.nextLink = run.token(now: options.now).map(nextLink) }
        return page
    }

    /// Returns a function for the request's URL with another `$skiptoken`, which is absolute if the request has a
    /// service root.
    ///
    /// `$top` and `$skip` remain in the URL, because the token is valid for the same query only. The token contains
    /// their state.
    private func nextLink(_ request: ODataRequest) -> @Sendable (PageToken) -> String {
        let root = request.format?.serviceRoot ?? ""
        let url = request.url
        return { token in
            var url = url
            url.options.skipToken = token.text
            return root + url.urlEncoded()
        }
    }

    /// Returns the bytes before the first row.
    package func head(
        _ query: BoundQuery, _ segments: [BoundSegment], target: BoundResource.Target, request: ODataRequest,
        renderer: JSONRowRenderer, total: Int64?
    ) -> [UInt8] {
        var text = "{"
        let format = renderer.format
        let bound = BoundURL(resource: BoundResource(steps: segments, target: target), query: query)
        if format.metadata != .none,
            let context = PayloadContext(for: request.url, bound: bound, version: format.version)
        {
            text += "\"\(renderer.prefix)context\":"
            StoredJSON.appendQuoted(format.serviceRoot + context.text, to: &text)
            text += ","
        }
        if let total {
            let number = renderer.format.isIEEE754Compatible ? "\"\(total)\"" : "\(total)"
            text += "\"\(renderer.prefix)count\":\(number),"
        }
        if case .entities(let shape, _) = target, format.metadata == .full, query.apply.isEmpty,
            request.url.options.select.isEmpty
        {
            text += operations(onCollectionOf: shape, request.url, renderer)
        }
        text += "\"value\":["
        return Array(text.utf8)
    }

    /// Returns the operations on the collection as members of its object.
    private func operations(onCollectionOf shape: TypeShape, _ url: ODataURL, _ renderer: JSONRowRenderer) -> String {
        var json = JSONWriter()
        json.beginObject()
        let url = renderer.format.serviceRoot + ODataURL(path: url.path).urlEncoded()
        renderer.entities.writeOperations(onCollectionOf: shape.name, at: url, to: &json)
        let members = json.bytes.dropFirst()
        return members.isEmpty ? "" : String(decoding: members, as: UTF8.self) + ","
    }

    /// Returns the media type of an encoded page.
    package static func contentType(_ format: ResponseFormat) -> String {
        let prefix = format.isPrefixed ? "odata." : ""
        let compatible = format.isIEEE754Compatible ? ";IEEE754Compatible=true" : ""
        return "application/json;\(prefix)metadata=\(format.metadata.rawValue)\(compatible)"
    }
}
