import GRDB
import ODataModel
import ODataService

/// A component that takes part in each local change, inside its transaction. The offline engine adds the change to
/// its queue, and a server of an existing database assigns a version.
public protocol WriteHook: Sendable {
    /// Completes an entity before it is inserted, for example with a temporary key or with generated values.
    ///
    /// - Throws: ``ODataError`` to refuse the change; the transaction is then rolled back.
    func prepareInsert(_ entity: inout ODataEntity, into table: TableStorage, in database: Database) throws

    /// Completes an entity before it is inserted, depending on the request. By default, this calls
    /// ``prepareInsert(_:into:in:)``.
    ///
    /// - Throws: ``ODataError`` to refuse the change; the transaction is then rolled back.
    func prepareInsert(
        _ entity: inout ODataEntity, into table: TableStorage, request: ODataRequest, in database: Database) throws

    /// Prepares the change of an existing row before any other check, so that a row that the caller does not see
    /// is treated as missing.
    ///
    /// - Throws: ``ODataError`` to refuse the change; the transaction is then rolled back.
    func prepareChange(
        of row: RowWriter.WrittenRow, in table: TableStorage, request: ODataRequest, database: Database) throws

    /// Completes or refuses an update before it is executed.
    ///
    /// - Parameters:
    ///   - patch: the changes; for a replacement, all values that are set.
    ///   - before: the current row.
    ///   - table: the table of the row.
    ///   - request: the request.
    ///   - database: a connection inside the transaction.
    /// - Throws: ``ODataError`` to refuse the change; the transaction is then rolled back.
    func prepareUpdate(
        _ patch: inout ODataEntity, of before: RowWriter.WrittenRow, in table: TableStorage, request: ODataRequest,
        database: Database) throws

    /// Prepares the deletion of a row.
    ///
    /// - Throws: ``ODataError`` to refuse the deletion; the transaction is then rolled back.
    func prepareDelete(
        _ row: RowWriter.WrittenRow, in table: TableStorage, request: ODataRequest, database: Database) throws

    /// Prepares a reference to a row that the request does not change.
    ///
    /// - Parameter navigation: the navigation property with the reference.
    /// - Throws: ``ODataError`` if the row is not visible to the caller; the transaction is then rolled back.
    func prepareReference(
        to row: RowWriter.WrittenRow, by navigation: String, request: ODataRequest, in database: Database) throws

    /// Tells the hook, in the same transaction, that a row was inserted, updated or deleted.
    ///
    /// - Throws: ``ODataError`` to refuse the change; the transaction is then rolled back.
    func didWrite(_ change: RowChange, in database: Database) throws

    /// Tells the hook, in the same transaction, that a relation was added to a link table or will be removed from
    /// it.
    ///
    /// - Throws: ``ODataError`` to refuse the change; the transaction is then rolled back.
    func didLink(_ change: LinkChange, in database: Database) throws
}

extension WriteHook {
    /// Calls ``prepareInsert(_:into:in:)``.
    public func prepareInsert(
        _ entity: inout ODataEntity, into table: TableStorage, request: ODataRequest, in database: Database
    ) throws {
        try prepareInsert(&entity, into: table, in: database)
    }

    /// Accepts every row.
    public func prepareChange(
        of row: RowWriter.WrittenRow, in table: TableStorage, request: ODataRequest, database: Database
    ) throws {}

    /// Changes nothing.
    public func prepareUpdate(
        _ patch: inout ODataEntity, of before: RowWriter.WrittenRow, in table: TableStorage, request: ODataRequest,
        database: Database
    ) throws {}

    /// Accepts every reference.
    public func prepareReference(
        to row: RowWriter.WrittenRow, by navigation: String, request: ODataRequest, in database: Database
    ) throws {}

    /// Does nothing.
    public func didLink(_ change: LinkChange, in database: Database) throws {}

    /// Accepts every deletion.
    public func prepareDelete(
        _ row: RowWriter.WrittenRow, in table: TableStorage, request: ODataRequest, database: Database
    ) throws {}
}

/// A change of a row.
public struct RowChange: Sendable {
    /// The kinds of change.
    public enum Kind: String, Hashable, Sendable {
        /// The row was inserted.
        case insert
        /// Columns of the row were changed.
        case update
        /// The row was deleted.
        case delete
    }

    /// The kind of the change.
    public var kind: Kind
    /// The table of the row.
    public var table: TableStorage
    /// The internal row id; `nil` if the table has no row ids.
    public var rowID: Int64?
    /// The previous value of the owner column, if the layout has one; `nil` for an insert.
    public var owner: Int64?
    /// The row before the change, with its ETag in the control information; `nil` for an insert.
    public var before: ODataEntity?
    /// The row after the change; `nil` for a delete.
    public var after: ODataEntity?
    /// The properties in the request, including those of references (`@odata.bind`), but without additions by the
    /// hook or default values.
    public var changedProperties: Set<String>
    /// The request that caused the change.
    public var request: ODataRequest
    /// The row id of the containing entity, for a contained entity.
    public var parent: Int64?

    /// Creates a change.
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

/// A change of a relation between two rows in a link table.
public struct LinkChange: Sendable {
    /// Whether the relation was added; otherwise, it was removed.
    public var isAdded: Bool
    /// The row with the navigation property.
    public var source: RowWriter.WrittenRow
    /// The path of the navigation property.
    public var navigation: String
    /// The related row.
    public var target: RowWriter.WrittenRow
    /// The relations that the new one has replaced, because a single-valued end has at most one relation (OData
    /// Protocol 4.01, 11.4.6.3).
    ///
    /// The list also contains the new relation if it existed already. The hook is not called for replaced
    /// relations.
    public var replaced: [RelatedRows] = []
    /// The request that caused the change.
    public var request: ODataRequest
}
