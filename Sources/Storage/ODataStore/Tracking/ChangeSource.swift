import GRDB
import ODataModel
import ODataQuery
import ODataSQL
import ODataService

/// A source of changes: the log of a service's own store, or the row versions beside a served database. Both
/// have the same results, links and pages (``trackedRead(_:)``).
package protocol ChangeSource: Sendable {
    /// The data by which a source finds the changes of a query.
    associatedtype Scope: Sendable

    var model: EntityDataModel { get }
    /// The maximum number of rows on a page.
    var trackedPageSize: Int { get }

    /// Returns the tracked result of a request without tokens; `nil` if the result cannot be tracked.
    func tracked(_ request: ODataRequest) throws -> TrackedResult<Scope>?

    /// Returns the current position of a result's changes. The position is determined before the first page is
    /// read.
    func position(of result: TrackedResult<Scope>) async throws -> ChangePosition

    /// Returns the current version if the source distinguishes rows that were inserted after a page was read;
    /// otherwise `nil`.
    func version(of result: TrackedResult<Scope>) async throws -> Int64?

    /// Returns a page of a result. The page token in the request is that of the reader. The source must know
    /// all changes after the page was read.
    func plainPage(_ request: ODataRequest, of result: TrackedResult<Scope>) async throws -> ODataResponse

    /// Returns the entities of a query.
    func entities(of bound: BoundURL, _ request: ODataRequest) async throws -> ODataResponse

    /// Returns a page of the changes since a token.
    func changes(
        of result: TrackedResult<Scope>, _ token: ChangeToken, _ wanted: WantedChanges
    ) async throws -> ChangeBatch
}

/// A query with a tracked result.
package struct TrackedResult<Scope: Sendable>: Sendable {
    /// The table of the rows.
    package let table: TableStorage
    package let bound: BoundURL
    package let scope: Scope

    package init(table: TableStorage, bound: BoundURL, scope: Scope) {
        self.table = table
        self.bound = bound
        self.scope = scope
    }
}

/// A position in the changes of a source.
package struct ChangePosition: Sendable {
    /// The identifier of the version sequence, which distinguishes it from that of another file in the same
    /// place.
    package var instance: String
    /// The last version.
    package var version: Int64
    /// The version up to which changes have been removed.
    package var horizon: Int64

    package init(instance: String, version: Int64, horizon: Int64) {
        self.instance = instance
        self.version = version
        self.horizon = horizon
    }

    /// Checks that the changes since a token are known.
    ///
    /// - Throws: ``ChangeToken/gone`` if they are not.
    package func check(_ token: ChangeToken) throws {
        guard instance == token.instance, token.since >= horizon, token.since <= version, token.seen <= version
        else { throw ChangeToken.gone }
    }
}

/// The requested changes.
package struct WantedChanges: Sendable {
    /// The maximum number of rows; 0 if only the number of changes is requested.
    package var limit: Int
    /// Whether the number of changes is requested.
    package var count: Bool
}

/// A page of changes.
package struct ChangeBatch: Sendable {
    /// The version at the end of the delta.
    package var last: Int64
    package var rows: [ChangedRow]
    /// The position after which the next page starts; `nil` on the last page.
    package var next: Int64?
    /// The number of rows on all pages, if requested.
    package var total: Int?

    package init(last: Int64, rows: [ChangedRow]) {
        self.last = last
        self.rows = rows
    }
}

/// A row that has changed or may have changed.
package struct ChangedRow: Sendable {
    /// The stored values of the key.
    package var key: [DatabaseValue]
    package var isDeleted: Bool
    /// Whether the row may have been in a result that the client has read.
    package var mayHaveBeenSeen: Bool

    package init(key: [DatabaseValue], isDeleted: Bool, mayHaveBeenSeen: Bool) {
        self.key = key
        self.isDeleted = isDeleted
        self.mayHaveBeenSeen = mayHaveBeenSeen
    }
}
