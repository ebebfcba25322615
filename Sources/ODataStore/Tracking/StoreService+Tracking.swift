import GRDB
import ODataModel
import ODataQuery
import ODataService

/// Delta links (OData Protocol 4.01, 11.3; rule 29).
extension StoreService {
    /// The most entities of a page of a tracked result or of changes.
    static let trackedPageLimit = 1000
    /// The same where the key has several parts: each is a condition of its own.
    static let compositeKeyLimit = 200

    /// Answers a read that is tracked, or asks for changes; `nil` for any other.
    func trackedRead(_ request: ODataRequest) async throws -> ODataResponse? {
        if let text = request.url.options.deltaToken {
            if text == "latest" { return try await latest(request) }
            guard let token = try ChangeToken(text) else { throw DeltaToken.invalid }
            return try await changes(since: token, request)
        }
        if let text = request.url.options.skipToken, let token = try ChangeToken(text) {
            return try await trackedPage(request, token)
        }
        guard request.preferences.trackChanges, try tracked(request) != nil else { return nil }
        return try await trackedPage(request, try await start(request))
    }

    // MARK: The first result

    /// The version that a tracked result starts from, fixed before its first page is read.
    private func start(_ request: ODataRequest) async throws -> ChangeToken {
        try await forgetOldChanges()
        let position = try await database.read { try ChangeLog.position(in: $0) }
        return ChangeToken(
            instance: position.instance, query: DeltaToken.hash(of: request.url), since: position.version,
            seen: position.version, stage: .page(""))
    }

    /// Forgets what nobody is promised to be told of any more: when the service is opened, when delta links are asked
    /// for, and now and then while it is changed.
    func forgetOldChanges() async throws {
        let time = options.now().seconds - options.deletionLifetime
        guard try await database.read({ try ChangeLog.reaches(before: time, in: $0) }) else { return }
        try await database.write { try ChangeLog.forget(before: time, in: $0) }
    }

    /// The link to what changes from now on, without what there is (11.3.1).
    private func latest(_ request: ODataRequest) async throws -> ODataResponse {
        guard try tracked(request) != nil else { throw ODataError.notImplemented("$deltatoken for this query") }
        var token = try await start(request)
        token.stage = .delta
        return ODataResponse(body: .page(EntityPage(deltaLink: deltaLink(request, token))))
    }

    /// A page of a tracked result; its links carry the version on.
    private func trackedPage(_ request: ODataRequest, _ token: ChangeToken) async throws -> ODataResponse {
        guard case .page(let inner) = token.stage else { throw DeltaToken.invalid }
        guard token.query == DeltaToken.hash(of: request.url) else { throw DeltaToken.foreign }
        var plain = request
        // Links stand in the page, so that it has to be decoded here.
        plain.format = nil
        plain.preferences.trackChanges = false
        plain.preferences.maxPageSize = min(request.preferences.maxPageSize ?? .max, Self.trackedPageLimit)
        plain.url.options.skipToken = inner.isEmpty ? nil : inner
        let provider = provider(for: request.principal)
        let bound = try restricted(provider.bind(plain), plain)
        var response = try await read(bound, plain, provider)
        guard case .page(var page) = response.body else { return response }
        var token = token
        token.seen = try await database.read { try ChangeLog.position(in: $0) }.version
        if let next = page.nextLink {
            token.stage = .page(try ODataURL(parsing: next).options.skipToken ?? "")
            page.nextLink = link(request) { $0.skipToken = token.text }
        } else {
            page.deltaLink = deltaLink(request, token)
        }
        response.body = .page(page)
        response.preferencesApplied.removeAll { $0.hasPrefix("maxpagesize") }
        if let size = request.preferences.maxPageSize {
            response.preferencesApplied.append("maxpagesize=\(min(size, options.pageSizeLimit, Self.trackedPageLimit))")
        }
        response.preferencesApplied.append("track-changes")
        return response
    }

    private func link(_ request: ODataRequest, _ change: (inout QueryOptions) -> Void) -> String {
        var url = request.url
        url.options.skipToken = nil
        url.options.deltaToken = nil
        change(&url.options)
        return (request.format?.serviceRoot ?? "") + url.urlEncoded()
    }

    private func deltaLink(_ request: ODataRequest, _ token: ChangeToken) -> String {
        var token = token
        token.stage = .delta
        return link(request) { $0.deltaToken = token.text }
    }

    // MARK: Changes

    /// A page of what changed since a delta link was given out, or with `/$count` how much that is.
    private func changes(since token: ChangeToken, _ request: ODataRequest) async throws -> ODataResponse {
        var request = request
        var isCount = false
        if request.url.path.segments.last == .count {
            request.url.path.segments.removeLast()
            isCount = true
        }
        guard token.query == DeltaToken.hash(of: request.url) else { throw DeltaToken.foreign }
        guard let (query, bound) = try tracked(request), let table = core.mapping.tables[query.root.set] else {
            throw ODataError.notImplemented("$deltatoken for this query")
        }
        let limit = max(
            1,
            min(
                request.preferences.maxPageSize ?? .max, options.pageSizeLimit,
                table.shape.key.count > 1 ? Self.compositeKeyLimit : Self.trackedPageLimit))
        let (log, mapping) = (schema.changes, core.mapping)
        var after: Int64 = 0
        var fixed: Int64?
        if case .deltaPage(let last, let row) = token.stage { (fixed, after) = (last, row) }
        let wantsCount = isCount || request.url.options.count == true
        try await forgetOldChanges()
        let (last, found, total) = try await database.read { [after, fixed, isCount] database in
            let position = try ChangeLog.position(in: database)
            guard position.instance == token.instance, token.since >= position.horizon,
                token.since <= position.version, token.seen <= position.version
            else { throw DeltaToken.gone }
            let last = min(fixed ?? position.version, position.version)
            let search = CandidateSearch(
                query: query, mapping: mapping, log: log, since: token.since, upTo: last, database: database)
            let found = isCount ? [] : try search.candidates(after: after, limit: limit + 1)
            return (last, found, wantsCount ? try search.count() : nil)
        }
        if isCount { return ODataResponse(body: .count(Int64(total ?? 0))) }
        var page = try await deltaPage(Array(found.prefix(limit)), token, table, bound, request)
        page.count = total.map(Int64.init)
        var next = token
        if found.count > limit, let reached = found.dropLast().last {
            next.stage = .deltaPage(last: last, after: reached.rowID)
            page.nextLink = link(request) { $0.deltaToken = next.text }
        } else {
            next.since = last
            next.seen = last
            page.deltaLink = deltaLink(request, next)
        }
        var response = ODataResponse(body: .page(page))
        if let size = request.preferences.maxPageSize {
            response.preferencesApplied.append("maxpagesize=\(min(size, limit))")
        }
        return response
    }

    /// The entities behind candidates: those that the query holds as they are now, the others as removed.
    private func deltaPage(
        _ candidates: [CandidateSearch.Candidate], _ token: ChangeToken, _ table: TableStorage, _ bound: BoundURL,
        _ request: ODataRequest
    ) async throws -> EntityPage {
        var plain = request
        plain.format = nil
        plain.preferences = Preferences(maxPageSize: Int.max)
        var bound = bound
        let keyed = try candidates.map { ($0, try entityKey($0.key, of: table)) }
        let present = keyed.filter { !$0.0.isDeleted }.map(\.1)
        var page = EntityPage()
        if !present.isEmpty, var query = bound.query {
            let condition = KeyCondition.any(of: present, query)
            query.filter = query.filter.map { .binary(.and, $0, condition, .primitive(.boolean)) } ?? condition
            query.orderBy = []
            query.count = false
            query.deltaToken = nil
            query.skipToken = nil
            bound.query = query
            let provider = provider(for: request.principal)
            let response = try await read(restricted(bound, plain), plain, provider)
            if case .page(let found) = response.body { page = found }
        }
        page.nextLink = nil
        let found = Set(page.entities.compactMap(\.control.id))
        for (candidate, key) in keyed {
            let id = EntityID.canonical(set: table.set, key: key, shape: table.shape, model: model)
            // Another row may have the key by now; and who came after the last page was never seen.
            guard !found.contains(id), candidate.mayHaveBeenMember,
                candidate.insertedAt.map({ $0 <= token.seen }) ?? true
            else { continue }
            page.removed.append(
                RemovedEntity(id: id, key: key, reason: candidate.isDeleted ? .deleted : .changed))
        }
        return page
    }

    /// The key of an entity from the values of its columns.
    private func entityKey(_ values: [DatabaseValue], of table: TableStorage) throws -> EntityKey {
        EntityKey(
            try zip(table.shape.key, values).map { property, value in
                guard let column = table.column(at: property.path) else { throw ODataError.notImplemented(table.set) }
                do throws(StoredValueError) {
                    return EntityKey.Part(name: property.name, value: try column.decode(value, in: model))
                } catch {
                    throw error.at(table: table.table)
                }
            })
    }

    /// A request as one whose result can be tracked; `nil` when it cannot.
    private func tracked(_ request: ODataRequest) throws -> (query: TrackedQuery, bound: BoundURL)? {
        var plain = request
        plain.url.options.skipToken = nil
        plain.url.options.deltaToken = nil
        let bound = try restricted(provider(for: request.principal).bind(plain), plain)
        return try TrackedQuery(bound, core: core, principal: request.principal).map { ($0, bound) }
    }
}
