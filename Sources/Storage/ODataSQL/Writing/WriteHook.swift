import GRDB
import ODataModel
import ODataService

/// What stands above a store and takes part in each local change, inside its transaction: the offline
/// engine queues the change there, a served database versions it.
public protocol WriteHook: Sendable {
    /// Completes an entity before it is inserted: temporary keys, server-given values.
    ///
    /// - Throws: ``ODataError`` to refuse the change; the transaction is rolled back.
    func prepareInsert(_ entity: inout ODataEntity, into table: TableStorage, in database: Database) throws

    /// Completes an entity before it is inserted, knowing the request that asks for it. By default this is
    /// ``prepareInsert(_:into:in:)``.
    ///
    /// - Throws: ``ODataError`` to refuse the change; the transaction is rolled back.
    func prepareInsert(
        _ entity: inout ODataEntity, into table: TableStorage, request: ODataRequest, in database: Database) throws

    /// Completes or refuses what an update changes, before it does.
    ///
    /// - Parameters:
    ///   - patch: what is changed; for a replacement all that it sets.
    ///   - before: the row as it is.
    ///   - table: its table.
    ///   - request: the request that asks for it.
    ///   - database: a connection inside the transaction.
    /// - Throws: ``ODataError`` to refuse the change; the transaction is rolled back.
    func prepareUpdate(
        _ patch: inout ODataEntity, of before: RowWriter.WrittenRow, in table: TableStorage, request: ODataRequest,
        database: Database) throws

    /// Is asked before a row is deleted.
    ///
    /// - Throws: ``ODataError`` to refuse it; the transaction is rolled back.
    func prepareDelete(
        _ row: RowWriter.WrittenRow, in table: TableStorage, request: ODataRequest, database: Database) throws

    /// Is asked before a request names a row that it leaves as it is: as what something is related to.
    ///
    /// - Parameter navigation: the navigation property that is to lead to it.
    /// - Throws: ``ODataError`` where the row is not there for who asks; the transaction is rolled back.
    func prepareReference(
        to row: RowWriter.WrittenRow, by navigation: String, request: ODataRequest, in database: Database) throws

    /// Is told of a row that was inserted, updated or deleted, in the same transaction.
    ///
    /// - Throws: ``ODataError`` to refuse the change; the transaction is rolled back.
    func didWrite(_ change: RowChange, in database: Database) throws

    /// Is told of a relation in a link table that was made or taken away, in the same transaction.
    ///
    /// - Throws: ``ODataError`` to refuse the change; the transaction is rolled back.
    func didLink(_ change: LinkChange, in database: Database) throws
}

extension WriteHook {
    /// Completes nothing more than without the request.
    public func prepareInsert(
        _ entity: inout ODataEntity, into table: TableStorage, request: ODataRequest, in database: Database
    ) throws {
        try prepareInsert(&entity, into: table, in: database)
    }

    /// Changes nothing.
    public func prepareUpdate(
        _ patch: inout ODataEntity, of before: RowWriter.WrittenRow, in table: TableStorage, request: ODataRequest,
        database: Database
    ) throws {}

    /// Refuses nothing.
    public func prepareReference(
        to row: RowWriter.WrittenRow, by navigation: String, request: ODataRequest, in database: Database
    ) throws {}

    /// Does nothing.
    public func didLink(_ change: LinkChange, in database: Database) throws {}

    /// Refuses nothing.
    public func prepareDelete(
        _ row: RowWriter.WrittenRow, in table: TableStorage, request: ODataRequest, database: Database
    ) throws {}
}

/// One row's change.
public struct RowChange: Sendable {
    /// What was done.
    public enum Kind: String, Hashable, Sendable {
        /// The row is new.
        case insert
        /// Columns changed.
        case update
        /// The row is gone.
        case delete
    }

    /// What was done.
    public var kind: Kind
    /// The table.
    public var table: TableStorage
    /// The internal row id; `nil` where the table has none.
    public var rowID: Int64?
    /// The value that the row's owner column had before, where the layout has one; `nil` for an insert.
    public var owner: Int64?
    /// The row before, complete with its ETag in the control information; `nil` for an insert.
    public var before: ODataEntity?
    /// The row after; `nil` for a delete.
    public var after: ODataEntity?
    /// The properties that the request gave, those of references (`@odata.bind`) included; not what the
    /// hook or a default added.
    public var changedProperties: Set<String>
    /// The request that caused it.
    public var request: ODataRequest
    /// For what an entity contains, the row id of that entity.
    public var parent: Int64?

    /// Makes a change.
    public init(
        kind: Kind, table: TableStorage, rowID: Int64?, owner: Int64? = nil, before: ODataEntity?, after: ODataEntity?,
        changedProperties: Set<String>, request: ODataRequest, parent: Int64? = nil
    ) {
        self.parent = parent
        self.kind = kind
        self.table = table
        self.rowID = rowID
        self.owner = owner
        self.before = before
        self.after = after
        self.changedProperties = changedProperties
        self.request = request
    }
}

/// A relation between two rows by a link table.
public struct LinkChange: Sendable {
    /// Whether it was made; else it was taken away.
    public var isAdded: Bool
    /// The row that the navigation property belongs to.
    public var source: RowWriter.WrittenRow
    /// The navigation property's path.
    public var navigation: String
    /// The row that it leads to.
    public var target: RowWriter.WrittenRow
    /// The relations that a new one took the place of, since an end that leads to a single entity has one at most
    /// (OData Protocol 4.01, 11.4.6.3); and itself, where it was there already. They are gone without being told of.
    public var replaced: [RelatedRows] = []
    /// The request that caused it.
    public var request: ODataRequest
}
