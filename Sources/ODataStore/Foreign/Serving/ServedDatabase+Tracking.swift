import Foundation
import GRDB
import ODataModel
import ODataQuery
import ODataService

/// Delta links (OData Protocol 4.01, 11.3; rule 29).
extension ServedDatabase {
    // MARK: The first result

    /// Fixes the version that a tracked result starts from; `nil` when the request cannot be tracked, which it
    /// is told by the missing `Preference-Applied`.
    func startTracking(_ request: ODataRequest) async throws -> DeltaToken? {
        guard let set = try trackedSet(request), let tracker else { return nil }
        let now = now
        let position = try await connections.writer.writeWithoutTransaction {
            try tracker.refresh(set, in: $0, now: now)
        }
        return DeltaToken(
            instance: position.instance, query: DeltaToken.hash(of: request.url), version: position.version,
            stage: .page(request.url.options.skipToken ?? ""))
    }

    /// A page of a tracked result; its links carry the version on.
    func trackedPage(_ request: ODataRequest, _ token: DeltaToken) async throws -> ODataResponse {
        guard case .page(let inner) = token.stage else { throw DeltaToken.invalid }
        guard token.query == DeltaToken.hash(of: request.url) else { throw DeltaToken.foreign }
        var plain = request
        // Links stand in the page, so that it has to be decoded here.
        plain.format = nil
        plain.preferences.trackChanges = false
        plain.preferences.maxPageSize = min(
            request.preferences.maxPageSize ?? .max, options.pageSize ?? .max, Self.trackedPageLimit)
        plain.url.options.skipToken = inner.isEmpty ? nil : inner
        var response = try await reader.execute(plain)
        guard case .page(var page) = response.body else { return response }
        if let next = page.nextLink {
            var token = token
            token.stage = .page(try ODataURL(parsing: next).options.skipToken ?? "")
            page.nextLink = link(request) { $0.skipToken = token.text }
        } else {
            page.deltaLink = deltaLink(request, token)
        }
        response.body = .page(page)
        response.preferencesApplied.removeAll { $0.hasPrefix("maxpagesize") }
        if let size = request.preferences.maxPageSize {
            response.preferencesApplied.append("maxpagesize=\(min(size, plain.preferences.maxPageSize ?? size))")
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

    private func deltaLink(_ request: ODataRequest, _ token: DeltaToken) -> String {
        var token = token
        token.stage = .delta
        return link(request) {
            $0.deltaToken = token.text
            // The number of changes is nobody's total.
            $0.count = nil
        }
    }

    // MARK: Changes

    /// A page of what changed since a delta link was given out.
    func changes(since text: String, _ request: ODataRequest) async throws -> ODataResponse {
        guard let token = try DeltaToken(text) else { throw DeltaToken.invalid }
        guard token.query == DeltaToken.hash(of: request.url) else { throw DeltaToken.foreign }
        guard let tracker, let set = try trackedSet(request), let table = foreign.mapping.tables[set] else {
            throw ODataError.notImplemented("$deltatoken")
        }
        let isComposite = table.shape.key.count > 1
        let limit = max(
            1,
            min(
                request.preferences.maxPageSize ?? .max, options.pageSize ?? .max,
                isComposite ? Self.compositeKeyLimit : Self.trackedPageLimit))
        let now = now
        let (last, changes) = try await connections.writer.writeWithoutTransaction { database in
            // A later page asks for what the first one fixed, and looks for nothing new.
            let position = try tracker.refresh(set, in: database, now: now)
            guard position.instance == token.instance, token.version >= position.horizon,
                token.version <= position.version
            else { throw DeltaToken.gone }
            var last = position.version
            if case .deltaPage(let fixed) = token.stage { last = min(fixed, last) }
            var changes: [ChangeTracker.Change] = []
            try database.inTransaction(.deferred) {
                changes = try tracker.side.use(database) {
                    try tracker.changes(of: set, after: token.version, upTo: last, limit: limit, $0)
                }
                return .commit
            }
            return (last, changes)
        }
        var page = try await deltaPage(changes, of: table, request)
        var next = token
        if changes.count == limit, let reached = changes.last?.version, reached < last {
            next.version = reached
            next.stage = .deltaPage(last: last)
            page.nextLink = link(request) { $0.deltaToken = next.text }
        } else {
            next.version = last
            page.deltaLink = deltaLink(request, next)
        }
        var response = ODataResponse(body: .page(page))
        if let size = request.preferences.maxPageSize {
            response.preferencesApplied.append("maxpagesize=\(min(size, limit))")
        }
        return response
    }

    /// The entities behind changes: those that the query still holds as they are now, the others as removed.
    private func deltaPage(
        _ changes: [ChangeTracker.Change], of table: TableStorage, _ request: ODataRequest
    ) async throws -> EntityPage {
        var plain = request
        plain.format = nil
        plain.preferences = Preferences()
        plain.url.options.deltaToken = nil
        plain.url.options.skipToken = nil
        plain.url.options.count = nil
        plain.url.options.orderBy = []
        var bound = try writing.bind(plain)
        let keyed = try changes.map { ($0, try entityKey($0.key, of: table)) }
        let present = keyed.filter { !$0.0.isRemoved }.map(\.1)
        var page = EntityPage()
        if !present.isEmpty, var query = bound.query {
            let condition = KeyCondition.any(of: present, query)
            query.filter = query.filter.map { .binary(.and, $0, condition, .primitive(.boolean)) } ?? condition
            bound.query = query
            let provider = reader
            let response = try await provider.reader.read(bound, request: plain, in: provider.database)
            if case .page(let found) = response.body { page = found }
        }
        page.nextLink = nil
        page.count = nil
        let found = Set(page.entities.compactMap(\.control.id))
        for (change, key) in keyed {
            let id = EntityID.canonical(set: table.set, key: key, shape: table.shape, model: model)
            if change.isRemoved {
                page.removed.append(RemovedEntity(id: id, key: key, reason: .deleted))
            } else if !found.contains(id) {
                page.removed.append(RemovedEntity(id: id, key: key, reason: .changed))
            }
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

    // MARK: What can be tracked

    /// The set whose changes a request can be told of; `nil` when there is none.
    private func trackedSet(_ request: ODataRequest) throws -> String? {
        var url = request.url
        url.options.skipToken = nil
        url.options.deltaToken = nil
        var plain = request
        plain.url = url
        let bound = try writing.bind(plain)
        guard bound.resource.steps.count == 1, case .entitySet(let set, _)? = bound.resource.steps.first,
            case .entities = bound.resource.target, let query = bound.query, tracker?.tables[set.name] != nil,
            query.apply.isEmpty, query.compute.isEmpty, query.expand.isEmpty, query.search == nil, query.top == nil,
            query.skip == nil, query.filter.map(Self.isTrackable) ?? true
        else { return nil }
        return set.name
    }

    /// Whether a condition depends on the row alone.
    static func isTrackable(_ expression: BoundExpression) -> Bool {
        func isLocal(_ path: BoundPath) -> Bool {
            path.steps.allSatisfy {
                switch $0 {
                case .property, .cast, .dynamic, .computed: true
                default: false
                }
            }
        }
        switch expression {
        case .constant: return true
        case .path(let path), .isOf(let path, _), .isDefined(let path): return isLocal(path)
        case .unary(_, let operand, _), .cast(let operand, _), .isOfValue(let operand, _): return isTrackable(operand)
        case .binary(_, let left, let right, _): return isTrackable(left) && isTrackable(right)
        case .membership(let operand, let others): return isTrackable(operand) && others.allSatisfy(isTrackable)
        case .function(.now, _, _): return false
        case .function(_, let operands, _), .list(let operands, _), .custom(_, let operands):
            return operands.allSatisfy(isTrackable)
        case .any, .all, .count, .aggregate, .search, .hierarchyTest: return false
        }
    }
}
