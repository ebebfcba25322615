import GRDB
import ODataModel
import ODataQuery
import ODataSQL
import ODataService

/// The delta links of a service (OData Protocol 4.01, 11.3).
extension ChangeSource {
    /// Returns the response to a tracked read or a request for changes; `nil` for other requests.
    package func trackedRead(_ request: ODataRequest) async throws -> ODataResponse? {
        if let text = request.url.options.deltaToken {
            if text == "latest" { return try await latest(request) }
            guard let token = try ChangeToken(text) else { throw ChangeToken.invalid }
            do {
                return try await changes(since: token, request)
            } catch let error as ODataError where error == ChangeToken.gone {
                throw error.leading(to: link(request) { $0.count = request.url.options.count })
            }
        }
        if let text = request.url.options.skipToken, let token = try ChangeToken(text) {
            return try await trackedPage(request, token)
        }
        guard request.preferences.trackChanges, let result = try tracked(request) else { return nil }
        return try await trackedPage(request, try await start(request, result))
    }

    // MARK: The first result

    /// Returns the token at the start of a tracked result, with the position before its first page is read.
    private func start(_ request: ODataRequest, _ result: TrackedResult<Scope>) async throws -> ChangeToken {
        let position = try await position(of: result)
        return ChangeToken(
            instance: position.instance, query: ChangeToken.hash(of: request.url), since: position.version,
            seen: position.version, stage: .page(request.url.options.skipToken ?? ""))
    }

    /// Returns a page with only a delta link for later changes (11.3.1).
    private func latest(_ request: ODataRequest) async throws -> ODataResponse {
        guard let result = try tracked(request.withoutTokens) else {
            throw ODataError.notImplemented("$deltatoken for this query")
        }
        return ODataResponse(
            body: .page(EntityPage(deltaLink: deltaLink(request, try await start(request, result)))))
    }

    /// Returns a page of a tracked result. The links of the page contain the position.
    private func trackedPage(_ request: ODataRequest, _ token: ChangeToken) async throws -> ODataResponse {
        guard case .page(let inner) = token.stage else { throw ChangeToken.invalid }
        guard token.query == ChangeToken.hash(of: request.url) else { throw ChangeToken.foreign }
        let limit = min(request.preferences.maxPageSize ?? .max, trackedPageSize, ChangeLimits.pageSize)
        var plain = request
        // The page must be decoded, because links are added.
        plain.format = nil
        plain.preferences.trackChanges = false
        plain.preferences.maxPageSize = limit
        plain.url.options.skipToken = inner.isEmpty ? nil : inner
        guard let result = try tracked(request.withoutTokens) else { throw ChangeToken.gone }
        var response = try await plainPage(plain, of: result)
        guard case .page(var page) = response.body else { return response }
        var token = token
        if let version = try await version(of: result) { token.seen = version }
        if let next = page.nextLink {
            token.stage = .page(try ODataURL(parsing: next).options.skipToken ?? "")
            page.nextLink = link(request) {
                $0.count = request.url.options.count
                $0.skipToken = token.text
            }
        } else {
            page.deltaLink = deltaLink(request, token)
        }
        response.body = .page(page)
        response.preferencesApplied.removeAll { $0.hasPrefix("maxpagesize") }
        if request.preferences.maxPageSize != nil { response.preferencesApplied.append("maxpagesize=\(limit)") }
        response.preferencesApplied.append("track-changes")
        return response
    }

    /// Returns a link to the same query. The link does not contain `$count` (11.3.1).
    private func link(_ request: ODataRequest, _ change: (inout QueryOptions) -> Void) -> String {
        var url = request.withoutTokens.url
        url.options.count = nil
        change(&url.options)
        return (request.format?.serviceRoot ?? "") + url.urlEncoded()
    }

    private func deltaLink(_ request: ODataRequest, _ token: ChangeToken) -> String {
        var token = token
        token.stage = .delta
        return link(request) { $0.deltaToken = token.text }
    }

    // MARK: Changes

    /// Returns a page of changes since a delta link, or their number for `/$count`.
    private func changes(since token: ChangeToken, _ request: ODataRequest) async throws -> ODataResponse {
        var request = request
        var isCount = false
        if request.url.path.segments.last == .count {
            request.url.path.segments.removeLast()
            isCount = true
        }
        guard token.query == ChangeToken.hash(of: request.url) else { throw ChangeToken.foreign }
        // The result was tracked when the token was given. The rights of the caller have become smaller since.
        guard let result = try tracked(request.withoutTokens) else { throw ChangeToken.gone }
        let limit = max(
            1,
            min(
                request.preferences.maxPageSize ?? .max, trackedPageSize,
                result.table.shape.key.count > 1 ? ChangeLimits.compositeKeys : ChangeLimits.pageSize))
        let batch = try await changes(
            of: result, token,
            WantedChanges(limit: isCount ? 0 : limit, count: isCount || request.url.options.count == true))
        if isCount { return ODataResponse(body: .count(Int64(batch.total ?? 0))) }
        var page = try await deltaPage(batch.rows, result, request: request)
        page.count = batch.total.map(Int64.init)
        var next = token
        if let after = batch.next {
            next.stage = .deltaPage(last: batch.last, after: after)
            page.nextLink = link(request) {
                $0.count = request.url.options.count
                $0.deltaToken = next.text
            }
        } else {
            next.since = batch.last
            next.seen = batch.last
            page.deltaLink = deltaLink(request, next)
        }
        var response = ODataResponse(body: .page(page))
        if request.preferences.maxPageSize != nil { response.preferencesApplied.append("maxpagesize=\(limit)") }
        if request.preferences.trackChanges { response.preferencesApplied.append("track-changes") }
        return response
    }

    /// Returns the entities of changed rows: those in the result of the query with their current state, the
    /// other ones as removed.
    private func deltaPage(
        _ rows: [ChangedRow], _ result: TrackedResult<Scope>, request: ODataRequest
    ) async throws -> EntityPage {
        let table = result.table
        var plain = request
        plain.format = nil
        plain.preferences = Preferences(maxPageSize: Int.max)
        var bound = result.bound
        let keyed = try rows.map { ($0, try entityKey($0.key, of: table)) }
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
            if case .page(let found) = try await entities(of: bound, plain).body { page = found }
        }
        page.nextLink = nil
        page.count = nil
        let found = Set(page.entities.compactMap(\.control.id))
        for (row, key) in keyed {
            let id = EntityID.canonical(set: table.set, key: key, shape: table.shape, model: model)
            // Another row may have the same key. A row that was inserted after the last page was never seen by the
            // client.
            guard !found.contains(id), row.mayHaveBeenSeen else { continue }
            page.removed.append(RemovedEntity(id: id, key: key, reason: row.isDeleted ? .deleted : .changed))
        }
        return page
    }

    /// Returns the key of an entity from its column values.
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
}

/// The limits of a page of changes.
enum ChangeLimits {
    /// The maximum number of entities on a page of a tracked result or of changes.
    static let pageSize = 1000
    /// The maximum number of entities if the key has several parts, each of which needs its own condition.
    static let compositeKeys = 200
}

extension ODataRequest {
    /// The request without `$skiptoken` and `$deltatoken`.
    fileprivate var withoutTokens: ODataRequest {
        var plain = self
        plain.url.options.skipToken = nil
        plain.url.options.deltaToken = nil
        return plain
    }
}

extension ODataError {
    /// Returns the error with a `Location` header at which the client can continue.
    fileprivate func leading(to link: String) -> ODataError {
        var error = self
        error.headers["Location"] = link
        return error
    }
}
