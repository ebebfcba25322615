import GRDB
import ODataModel
import ODataQuery
import ODataSQL
import ODataService

/// Rows within a transaction, whatever their keys are meanwhile.
extension LocalTransaction {
    /// Returns the URL of a row under the key that it has now.
    ///
    /// - Returns: `nil` if the row is gone.
    public func url(of row: RowReference) throws -> ODataURL? {
        guard let table = provider.mapping.tables[row.set],
            try Rows.owner(table, rowID: row.rowID, in: database) != nil
        else { return nil }
        return try Containment(mapping: provider.mapping).url(of: row.rowID, table, in: database)
    }

    /// Returns the entity of a row with the state of its changes.
    ///
    /// - Returns: `nil` if the row is gone.
    public func entity(of row: RowReference) throws -> ODataEntity? {
        guard let url = try url(of: row) else { return nil }
        return try entity(at: url)
    }

    /// Returns the entity at a URL with the state of its changes, and of the entities expanded in it.
    ///
    /// - Returns: `nil` if there is none.
    public func entity(at url: ODataURL) throws -> ODataEntity? {
        do {
            let found = try provider.entities(url, in: database)
            return try provider.addingReplayStates(to: found, in: database).first
        } catch let error as ODataError where error.status == 404 {
            return nil
        }
    }

    /// Returns the state of the changes of a row, also of one that was deleted.
    public func replayState(of row: RowReference) throws -> ReplayState {
        try provider.replayState(of: row, in: database)
    }

    /// Queues the call of an action.
    ///
    /// - Returns: the number of the request (``QueuedRequest/id``).
    /// - Throws: as ``perform(_:)``.
    public func queueCall(_ request: ODataRequest) throws -> Int64 {
        try perform(request)
        return try QueueTable.newest(in: database) ?? 0
    }

    /// Submits held changes; see ``OfflineStore/Changes/submit(_:)``.
    @discardableResult
    public func submit(_ scope: ChangeScope) throws -> Int {
        try HeldChanges(store: provider).submit(scope, in: database)
    }
}

extension OfflineStore.Changes {
    /// Returns the entity of a row with the state of its changes.
    ///
    /// - Returns: `nil` if the row is gone.
    public func entity(of row: RowReference) async throws -> ODataEntity? {
        try await store.database.read { [store] database in
            try LocalTransaction(provider: store, options: ChangeOptions(), database: database).entity(of: row)
        }
    }

    /// Returns the URL of a row under the key that it has now.
    ///
    /// - Returns: `nil` if the row is gone.
    public func url(of row: RowReference) async throws -> ODataURL? {
        try await store.database.read { [store] database in
            try LocalTransaction(provider: store, options: ChangeOptions(), database: database).url(of: row)
        }
    }
}
