import Foundation
import GRDB
import ODataModel
import ODataQuery
import ODataService

/// Changes are known from the versions that rows have in the file beside the database.
extension ServedDatabase: ChangeSource {
    var trackedPageSize: Int { options.pageSize ?? .max }

    func tracked(_ request: ODataRequest) throws -> TrackedResult<ChangeTracker>? {
        let bound = try writing.bind(request)
        guard bound.resource.steps.count == 1, case .entitySet(let set, _)? = bound.resource.steps.first,
            case .entities = bound.resource.target, let query = bound.query, let tracker,
            tracker.tables[set.name] != nil, let table = foreign.mapping.tables[set.name],
            query.apply.isEmpty, query.compute.isEmpty, query.expand.isEmpty, query.search == nil, query.top == nil,
            query.skip == nil, query.filter.map(Self.isTrackable) ?? true
        else { return nil }
        return TrackedResult(table: table, bound: bound, scope: tracker)
    }

    func position(of result: TrackedResult<ChangeTracker>) async throws -> ChangePosition {
        let now = now
        return try await connections.writer.writeWithoutTransaction {
            try result.scope.refresh(result.table.set, in: $0, now: now)
        }
    }

    func version(of result: TrackedResult<ChangeTracker>) async throws -> Int64? { nil }

    /// What others change while the pages of a result are read is compared before each of them: a row that came, was in a
    /// page and is gone again before the next comparison would never be told to be gone. Where others write while the page
    /// itself is read, that is read again, some times.
    func plainPage(
        _ request: ODataRequest, of result: TrackedResult<ChangeTracker>
    ) async throws -> ODataResponse {
        let (tracker, set, now) = (result.scope, result.table.set, now)
        for _ in 0..<3 {
            let compared = try await connections.writer.writeWithoutTransaction {
                try tracker.compared(set, in: $0, now: now)
            }
            let response = try await reader.execute(request)
            let current = try await connections.writer.writeWithoutTransaction { try ChangeTracker.dataVersion(of: $0) }
            if current == compared { return response }
        }
        return try await reader.execute(request)
    }

    func entities(of bound: BoundURL, _ request: ODataRequest) async throws -> ODataResponse {
        let provider = reader
        return try await provider.reader.read(bound, request: request, in: provider.database)
    }

    func changes(
        of result: TrackedResult<ChangeTracker>, _ token: ChangeToken, _ wanted: WantedChanges
    ) async throws -> ChangeBatch {
        let (tracker, set, now) = (result.scope, result.table.set, now)
        return try await connections.writer.writeWithoutTransaction { database in
            // A later page asks for what the first one fixed, and looks for nothing new.
            let position = try tracker.refresh(set, in: database, now: now)
            try position.check(token)
            var (last, after) = (position.version, token.since)
            if case .deltaPage(let fixed, let reached) = token.stage {
                (last, after) = (min(fixed, last), max(reached, after))
            }
            var batch = ChangeBatch(last: last, rows: [])
            try database.inTransaction(.deferred) {
                try tracker.side.use(database) { side in
                    if wanted.count {
                        batch.total = try tracker.countChanges(of: set, after: token.since, upTo: last, side)
                    }
                    guard wanted.limit > 0 else { return }
                    let found = try tracker.changes(of: set, after: after, upTo: last, limit: wanted.limit + 1, side)
                    if found.count > wanted.limit { batch.next = found[wanted.limit - 1].version }
                    batch.rows = found.prefix(wanted.limit).map {
                        ChangedRow(key: $0.key, isDeleted: $0.isRemoved, mayHaveBeenSeen: true)
                    }
                }
                return .commit
            }
            return batch
        }
    }

    // MARK: What can be tracked

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
