import GRDB
import ODataModel
import ODataQuery
import ODataService

/// Change tracking by the log that triggers write.
extension StoreService: ChangeSource {
    package var trackedPageSize: Int { options.maxPageSize ?? .max }

    package func tracked(_ request: ODataRequest) throws -> TrackedResult<TrackedQuery>? {
        let bound = try restricted(provider(for: request.context.principal).bind(request), request)
        guard let query = try TrackedQuery(bound, core: core, principal: request.context.principal),
            let table = core.mapping.tables[query.root.set]
        else { return nil }
        return TrackedResult(table: table, bound: bound, scope: query)
    }

    package func position(of result: TrackedResult<TrackedQuery>) async throws -> ChangePosition {
        try await forgetOldChanges()
        return try await database.read { try ChangeLog.position(in: $0) }
    }

    package func version(of result: TrackedResult<TrackedQuery>) async throws -> Int64? {
        try await database.read { try ChangeLog.position(in: $0) }.version
    }

    package func plainPage(_ request: ODataRequest, of result: TrackedResult<TrackedQuery>) async throws
        -> ODataResponse
    {
        let provider = provider(for: request.context.principal)
        return try await read(restricted(provider.bind(request), request), request, provider: provider)
    }

    package func entities(of bound: BoundURL, _ request: ODataRequest) async throws -> ODataResponse {
        try await read(bound, request, provider: provider(for: request.context.principal))
    }

    package func changes(
        of result: TrackedResult<TrackedQuery>, _ token: ChangeToken, _ wanted: WantedChanges
    ) async throws -> ChangeBatch {
        let (log, mapping) = (schema.changes, core.mapping)
        var after: Int64 = 0
        var fixed: Int64?
        if case .deltaPage(let last, let row) = token.stage { (fixed, after) = (last, row) }
        try await forgetOldChanges()
        return try await RequestBudget.current.reading(from: database) { [after, fixed] database in
            let position = try ChangeLog.position(in: database)
            try position.check(token)
            let last = min(fixed ?? position.version, position.version)
            let search = CandidateSearch(
                query: result.scope, mapping: mapping, log: log, since: token.since, upTo: last, database: database)
            var batch = ChangeBatch(last: last, rows: [])
            if wanted.count { batch.total = try search.count() }
            guard wanted.limit > 0 else { return batch }
            let found = try search.candidates(after: after, limit: wanted.limit + 1)
            if found.count > wanted.limit { batch.next = found[wanted.limit - 1].rowID }
            batch.rows = found.prefix(wanted.limit).map { candidate in
                ChangedRow(
                    key: candidate.key, isDeleted: candidate.isDeleted,
                    mayHaveBeenSeen: candidate.mayHaveBeenMember
                        && candidate.insertedAt.map { $0 <= token.seen } ?? true)
            }
            return batch
        }
    }

    /// Removes expired entries of the log: when the service is opened, when delta links are requested, and
    /// after every ``changesBetweenCleanups`` transactions.
    func forgetOldChanges() async throws {
        let time = options.now().seconds - options.deletionLifetime
        guard try await database.read({ try ChangeLog.reaches(before: time, in: $0) }) else { return }
        try await database.write { try ChangeLog.forget(before: time, in: $0) }
    }
}
