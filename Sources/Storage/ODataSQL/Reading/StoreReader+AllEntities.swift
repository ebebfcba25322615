import GRDB
import ODataModel
import ODataQuery
import ODataService

/// `$all`: the entities of all entity sets, or those of one type (OData URL Conventions 4.01, 4.15 *Addressing All
/// Entities in a Service*).
extension StoreReader {
    /// The maximum number of entities on a page without a smaller limit of the service or the client, because they
    /// are kept in memory.
    private static let pageSize = 1_000

    /// Returns a page with the entities of the sets one after the other, in the order of the model.
    func allEntities(
        _ url: BoundURL, _ request: ODataRequest, reader: any DatabaseReader
    ) async throws -> ODataResponse {
        let options = request.url.options
        var wanted: TypeShape?
        if case .cast(let shape)? = url.resource.steps.last { wanted = shape }
        var parts = parts(of: wanted)
        if let query = url.query {
            for index in parts.indices { parts[index].ask(query) }
        }
        // `$skip` may exclude whole sets; later pages start at the same position.
        let skipped = try await skip(options.skip ?? 0, &parts, budget: request.context.budget, reader: reader)
        var place = try url.query?.skipToken.map { try PlaceInAll($0) } ?? PlaceInAll(remaining: options.top)
        let first = try parts.firstIndex { $0.name == place.set } ?? max(place.start(), skipped)
        let limits = [configuration.maxPageSize, request.preferences.maxPageSize].compactMap { $0 }
        let pageSize = max(1, limits.min() ?? Self.pageSize)
        var page = EntityPage(entities: [])
        for part in parts[first...] {
            let room = min(pageSize - page.entities.count, place.remaining ?? .max)
            guard room > 0 else {
                if place.remaining != 0 { page.nextLink = try link(to: place.moved(to: part.name), request) }
                break
            }
            let (entities, token) = try await entities(
                part, room, after: place.token, budget: request.context.budget, reader: reader)
            page.entities += entities
            place.remaining = place.remaining.map { $0 - entities.count }
            place.token = token
            if token != nil {
                if place.remaining != 0 { page.nextLink = try link(to: place.moved(to: part.name), request) }
                break
            }
        }
        if options.count == true { page.count = try await count(parts, request.context.budget, reader: reader) }
        var response = ODataResponse(body: .page(page))
        if request.preferences.maxPageSize != nil { response.preferencesApplied.append("maxpagesize=\(pageSize)") }
        return response
    }

    /// The entities of an entity set, or the entity of a singleton.
    private struct Part {
        /// The name of the entity set or singleton.
        var name: String
        /// The entity set; `nil` for a singleton.
        var set: EntitySet?
        var segments: [BoundSegment]
        var query: BoundQuery

        /// Applies the query options of the request to the entities.
        mutating func ask(_ wanted: BoundQuery) {
            query.search = wanted.search
            query.filter = wanted.filter
            query.compute = wanted.compute
            query.projection = wanted.projection
            query.nestedProjections = wanted.nestedProjections
            query.nestedQueries = wanted.nestedQueries
            query.expand = wanted.expand
        }
    }

    /// Skips entities.
    ///
    /// - Returns: The number of skipped sets; the next set receives the remainder as its `$skip`.
    private func skip(
        _ count: Int, _ parts: inout [Part], budget: RequestBudget?, reader: any DatabaseReader
    ) async throws -> Int {
        guard count > 0 else { return 0 }
        var rest = Int64(count)
        for index in parts.indices {
            let own = try await self.count([parts[index]], budget, reader: reader)
            if own > rest {
                parts[index].query.skip = Int(rest)
                return index
            }
            rest -= own
        }
        return parts.count
    }

    /// Returns the readable sets and singletons that may contain entities of a type; sets come first.
    private func parts(of wanted: TypeShape?) -> [Part] {
        let model = mapping.model
        let sets = model.container.entitySets.compactMap { set in
            model.shape(set.type).map { (set.name, $0, set as EntitySet?, BoundSegment.entitySet(set, $0)) }
        }
        let singletons = model.container.singletons.compactMap { singleton in
            model.shape(singleton.type).map {
                (singleton.name, $0, nil as EntitySet?, BoundSegment.singleton(singleton, $0))
            }
        }
        return (sets + singletons).compactMap { name, shape, set, segment in
            guard model.allows("ReadRestrictions", "Readable", on: name), mapping.tables[name] != nil else {
                return nil
            }
            var part = Part(name: name, set: set, segments: [segment], query: Self.query(shape, set))
            guard let wanted, !model.isType(shape.name, wanted.name) else { return part }
            guard model.isType(wanted.name, shape.name) else { return nil }
            part.segments.append(.cast(wanted))
            part.query = Self.query(wanted, set)
            return part
        }
    }

    /// Returns a limited number of entities of a set, and the token of the next page.
    private func entities(
        _ part: Part, _ room: Int, after token: String?, budget: RequestBudget?, reader: any DatabaseReader
    ) async throws -> ([ODataEntity], String?) {
        var query = part.query
        query.skipToken = token
        var request = ODataRequest(.read, ODataURL(path: ResourcePath([.all])))
        request.context.budget = budget
        let target = BoundResource.Target.entities(query.shape, set: part.set)
        let response = try await collection(
            query, part.segments, target: target, request: request, reader: reader, cache: nil, room: room)
        guard case .page(let page) = response.body else { return ([], nil) }
        return (page.entities, try page.nextLink.flatMap { try ODataURL(parsing: $0).options.skipToken })
    }

    private func count(
        _ parts: [Part], _ budget: RequestBudget?, reader: any DatabaseReader
    ) async throws -> Int64 {
        try await reading(reader, budget) { database in
            try parts.reduce(0) { sum, part in
                var query = part.query
                query.skip = nil
                query.expand = []
                let (compiled, _) = try prepare(query, part.segments, now: configuration.now(), in: database)
                return sum + (try Self.count(compiled, in: database))
            }
        }
    }

    private func link(to place: PlaceInAll, _ request: ODataRequest) throws -> String {
        var url = request.url
        url.options.skipToken = place.text
        return (request.format?.serviceRoot ?? "") + url.urlEncoded()
    }
}

/// The end of a page of `$all`, as the content of `$skiptoken`: `a~rows left of $top~entity set~token within the
/// set`.
private struct PlaceInAll {
    /// The prefix that distinguishes these tokens from others.
    private static let mark = "a"

    /// The remainder of `$top`; `nil` without `$top`.
    var remaining: Int?
    /// The set at which the page continues; empty before the first page.
    var set = ""
    /// The token within the set; `nil` at its start.
    var token: String?

    init(remaining: Int?) { self.remaining = remaining }

    /// Parses a token.
    ///
    /// - Throws: ``ODataError`` 400 if the text is not a token of `$all`.
    init(_ text: String) throws(ODataError) {
        let parts = text.split(separator: "~", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 4, parts[0] == Self.mark, parts[1].isEmpty || (Int(parts[1]) ?? 0) > 0, !parts[2].isEmpty
        else { throw PageToken.invalid }
        remaining = Int(parts[1])
        set = parts[2]
        token = parts[3].isEmpty ? nil : parts[3]
    }

    var text: String { [Self.mark, remaining.map(String.init) ?? "", set, token ?? ""].joined(separator: "~") }

    func moved(to set: String) -> PlaceInAll {
        var place = self
        place.set = set
        return place
    }

    /// Returns the index of the first set.
    ///
    /// - Throws: ``ODataError`` 400 if the token names a set that does not exist.
    func start() throws(ODataError) -> Int {
        guard set.isEmpty else { throw PageToken.invalid }
        return 0
    }
}
