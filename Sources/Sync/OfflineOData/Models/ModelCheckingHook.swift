import GRDB
import ODataModel
import ODataSQL
import ODataService

/// Refuses a local change, within its transaction, if the tables do not match its model any more. Another process
/// may have migrated the store to a new model.
struct ModelCheckingHook: WriteHook {
    let base: QueueHook
    /// The number of the model in the store.
    let modelNumber: Int

    func prepareInsert(_ entity: inout ODataEntity, into table: TableStorage, in database: Database) throws {
        try base.prepareInsert(&entity, into: table, in: database)
    }

    func prepareInsert(
        _ entity: inout ODataEntity, into table: TableStorage, request: ODataRequest, in database: Database
    ) throws {
        try base.prepareInsert(&entity, into: table, request: request, in: database)
    }

    func prepareUpdate(
        _ patch: inout ODataEntity, of before: RowWriter.WrittenRow, in table: TableStorage, request: ODataRequest,
        database: Database
    ) throws {
        try base.prepareUpdate(&patch, of: before, in: table, request: request, database: database)
    }

    func prepareDelete(
        _ row: RowWriter.WrittenRow, in table: TableStorage, request: ODataRequest, database: Database
    ) throws {
        try base.prepareDelete(row, in: table, request: request, database: database)
    }

    func didWrite(_ change: RowChange, in database: Database) throws {
        try LocalModel.require(modelNumber, in: database)
        try base.didWrite(change, in: database)
    }

    func didLink(_ change: LinkChange, in database: Database) throws {
        try LocalModel.require(modelNumber, in: database)
        try base.didLink(change, in: database)
    }
}
