import Foundation
import GRDB
import ODataModel
import ODataQuery
import ODataSQL
import ODataService
import ODataStore

/// Change tracking by the row versions in the side file.
extension ServedDatabase: ChangeSource {
    package var trackedPageSize: Int { options.maxPageSize ?? .max }

    package func tracked(_ request: ODataRequest) throws -> TrackedResult<TrackedScope>? {
        let bound = try restricted(writing.bind(request), request)
        guard bound.resource.steps.count == 1, case .entitySet(let set, _)? = bound.resource.steps.first,
            case .entities = bound.resource.target, let query = bound.query, let tracker,
            let table = foreign.mapping.tables[set.name],
            let tracked = TrackedQuery(query, of: set.name, mapping: foreign.mapping),
            tracked.root.sets.allSatisfy({ tracker.tables[$0] != nil })
        else { return nil }
        let sets = tracked.root.sets
        // A row that became invisible to the caller cannot be reported: the report would reveal its key.
        guard try access?.seesAll(sets, request.context.principal) ?? true else { return nil }
        let scope = TrackedScope(
            tracker: tracker, query: tracked, access: try accessMark(of: sets, request.context.principal))
        return TrackedResult(table: table, bound: bound, scope: scope)
    }

    package func position(of result: TrackedResult<TrackedScope>) async throws -> ChangePosition {
        let (scope, now) = (result.scope, now)
        return try await connections.writer.writeWithoutTransaction {
            try scope.position(in: $0, now: now)
        }
    }

    package func version(of result: TrackedResult<TrackedScope>) async throws -> Int64? { nil }

    /// The rows are compared before each page. Otherwise, a row that was inserted, read on a page and deleted
    /// before the next comparison would never be reported as deleted. If another program writes while the page
    /// is read, the page is read again, at most three times.
    package func plainPage(
        _ request: ODataRequest, of result: TrackedResult<TrackedScope>
    ) async throws -> ODataResponse {
        let (tracker, sets, now) = (result.scope.tracker, result.scope.query.root.sets, now)
        for _ in 0..<3 {
            let compared = try await connections.writer.writeWithoutTransaction {
                try tracker.compared(sets, in: $0, now: now)
            }
            let response = try await plainRead(request)
            let current = try await connections.writer.writeWithoutTransaction { try ChangeTracker.dataVersion(of: $0) }
            if current == compared { return response }
        }
        return try await plainRead(request)
    }

    package func entities(of bound: BoundURL, _ request: ODataRequest) async throws -> ODataResponse {
        try await withReader(for: request) { provider in
            try await provider.reader.read(bound, request: request, in: provider.database)
        }
    }

    package func changes(
        of result: TrackedResult<TrackedScope>, _ token: ChangeToken, _ wanted: WantedChanges
    ) async throws -> ChangeBatch {
        let (scope, set, now) = (result.scope, result.table.set, now)
        let (tracker, mapping) = (scope.tracker, foreign.mapping)
        return try await connections.writer.writeWithoutTransaction { database in
            // The first page determines the last version; later pages keep it.
            let position = try scope.position(in: database, now: now)
            try position.check(token)
            var (last, reached): (Int64, Int64?) = (position.version, nil)
            if case .deltaPage(let fixed, let after) = token.stage { (last, reached) = (min(fixed, last), after) }
            var batch = ChangeBatch(last: last, rows: [])
            try database.inTransaction(.deferred) {
                batch = try tracker.side.use(in: database) { side in
                    guard scope.query.root.related.isEmpty else {
                        return try RelatedCandidates(
                            tracker: tracker, mapping: mapping, since: token.since, upTo: last, database: database,
                            side: side
                        ).page(of: scope.query, after: reached, wanted)
                    }
                    return try tracker.page(
                        of: set, since: token.since, after: max(reached ?? 0, token.since), upTo: last, wanted, side)
                }
                return .commit
            }
            return batch
        }
    }
}

/// The data by which changes of a tracked query on a served database are found.
package struct TrackedScope: Sendable {
    let tracker: ChangeTracker
    let query: TrackedQuery
    /// A mark of the caller's access; empty if all callers have full access. A delta link from a time with another
    /// access is too old, because rows and properties have appeared or disappeared that nobody has changed.
    let access: String

    fileprivate func position(in database: Database, now: Int64) throws -> ChangePosition {
        var position = try tracker.refresh(query.root.sets, in: database, now: now)
        position.instance += access
        return position
    }
}

extension ServedDatabase {
    fileprivate func accessMark(of sets: Set<String>, _ principal: Principal?) throws -> String {
        guard let access else { return "" }
        var hash = QueryHash()
        for set in sets.sorted() {
            hash.add(set)
            for property in try access.access(principal, set).hiddenProperties.sorted() { hash.add(property) }
        }
        return "-" + hash.text
    }
}

extension ChangeTracker {
    /// Returns a page of changed rows for a query without related tables.
    fileprivate func page(
        of set: String, since: Int64, after: Int64, upTo last: Int64, _ wanted: WantedChanges, _ side: SideTables
    ) throws -> ChangeBatch {
        var batch = ChangeBatch(last: last, rows: [])
        if wanted.count { batch.total = try countChanges(of: set, after: since, upTo: last, side) }
        guard wanted.limit > 0 else { return batch }
        let found = try changes(of: set, after: after, upTo: last, limit: wanted.limit + 1, side)
        if found.count > wanted.limit { batch.next = found[wanted.limit - 1].version }
        batch.rows = found.prefix(wanted.limit).map {
            ChangedRow(key: $0.key, isDeleted: $0.isRemoved, mayHaveBeenSeen: true)
        }
        return batch
    }
}

extension RelatedCandidates {
    /// Returns a page of the candidates of a query.
    fileprivate func page(of query: TrackedQuery, after rank: Int64?, _ wanted: WantedChanges) throws -> ChangeBatch {
        var batch = ChangeBatch(last: upTo, rows: [])
        let all = try candidates(of: query)
        if wanted.count { batch.total = all.count }
        guard wanted.limit > 0 else { return batch }
        let rest = all.drop { $0.rank <= rank ?? -1 }
        // Candidates of the same rank are on the same page; the next page starts after them.
        let last = rest.dropFirst(wanted.limit - 1).first?.rank ?? .max
        let found = rest.prefix { $0.rank <= last }
        if found.count < rest.count { batch.next = last }
        batch.rows = try found.compactMap { candidate in
            guard let key = StoredKey.decode(candidate.key) else { return nil }
            return ChangedRow(
                key: key, isDeleted: try isRemoved(candidate.key, of: query.root.set), mayHaveBeenSeen: true)
        }
        return batch
    }
}
