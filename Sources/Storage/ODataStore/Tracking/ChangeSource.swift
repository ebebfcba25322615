import GRDB
import ODataModel
import ODataQuery
import ODataSQL
import ODataService

/// Where changes are known from: the log of a service's own store, or the row versions beside a foreign database.
/// What a client sees of them, results, links and pages, is the same (``trackedRead(_:)``).
package protocol ChangeSource: Sendable {
    /// What a source keeps of a query to find its changes by.
    associatedtype Scope: Sendable

    var model: EntityDataModel { get }
    /// The most rows of a page.
    var trackedPageSize: Int { get }

    /// A request without tokens, as one whose result can be tracked; `nil` when it cannot.
    func tracked(_ request: ODataRequest) throws -> TrackedResult<Scope>?

    /// Where the changes of a result stand now: what a result starts from, fixed before its first page is read.
    func position(of result: TrackedResult<Scope>) async throws -> ChangePosition

    /// The last version by now, where rows that came after a page was read are told from those that were in it.
    func version(of result: TrackedResult<Scope>) async throws -> Int64?

    /// A page of a result, whose token is one of the reader's: rows as they are at a moment whose changes are known.
    func plainPage(_ request: ODataRequest, of result: TrackedResult<Scope>) async throws -> ODataResponse

    /// The entities of a query.
    func entities(of bound: BoundURL, _ request: ODataRequest) async throws -> ODataResponse

    /// A page of what changed since a token was given out.
    func changes(
        of result: TrackedResult<Scope>, _ token: ChangeToken, _ wanted: WantedChanges
    ) async throws -> ChangeBatch
}

/// A query whose result is tracked.
package struct TrackedResult<Scope: Sendable>: Sendable {
    /// The table of its rows.
    package let table: TableStorage
    package let bound: BoundURL
    package let scope: Scope

    package init(table: TableStorage, bound: BoundURL, scope: Scope) {
        self.table = table
        self.bound = bound
        self.scope = scope
    }
}

/// Where changes stand.
package struct ChangePosition: Sendable {
    /// What tells these versions from others that stood here before.
    package var instance: String
    /// The last version.
    package var version: Int64
    /// Changes up to this version are forgotten.
    package var horizon: Int64

    package init(instance: String, version: Int64, horizon: Int64) {
        self.instance = instance
        self.version = version
        self.horizon = horizon
    }

    /// - Throws: ``ChangeToken/gone`` when what changed since a token is not known any more.
    package func check(_ token: ChangeToken) throws {
        guard instance == token.instance, token.since >= horizon, token.since <= version, token.seen <= version
        else { throw ChangeToken.gone }
    }
}

/// How much of the changes is asked for.
package struct WantedChanges: Sendable {
    /// The most rows; none when only their number is wanted.
    package var limit: Int
    /// Whether their number is wanted.
    package var count: Bool
}

/// A page of changes.
package struct ChangeBatch: Sendable {
    /// The version that the delta ends at.
    package var last: Int64
    package var rows: [ChangedRow]
    /// What the next page goes on behind; `nil` on the last one.
    package var next: Int64?
    /// How many rows all pages have, where that was asked for.
    package var total: Int?

    package init(last: Int64, rows: [ChangedRow]) {
        self.last = last
        self.rows = rows
    }
}

/// A row that changed, or may have.
package struct ChangedRow: Sendable {
    /// The values of its key, as stored.
    package var key: [DatabaseValue]
    /// Whether it is deleted.
    package var isDeleted: Bool
    /// Whether the client may have seen it in the result.
    package var mayHaveBeenSeen: Bool

    package init(key: [DatabaseValue], isDeleted: Bool, mayHaveBeenSeen: Bool) {
        self.key = key
        self.isDeleted = isDeleted
        self.mayHaveBeenSeen = mayHaveBeenSeen
    }
}
