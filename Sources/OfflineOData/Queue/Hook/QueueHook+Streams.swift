import GRDB
import ODataModel
import ODataService
import ODataStore

/// Streams, whose bytes are kept beside the queue until they are sent.
extension QueueHook {
    /// Queues a new stream of a row.
    func queueStream(
        _ row: RowWriter.WrittenRow, _ detail: RequestDetail, request: ODataRequest, in database: Database
    ) throws {
        guard let table = mapping.tables[row.set], let rowID = row.rowID else {
            throw ODataError.notImplemented("Streams of \(row.set) offline")
        }
        let earlier = try queue.requests(set: row.set, rowID: rowID, in: database)
        if let waiting = earlier.last, waiting.kind == .stream, waiting.state == .pending, waiting.firstSent == nil,
            waiting.detail.property == detail.property
        {
            // Only the last one counts.
            return try queue.setDetail(detail, of: waiting.id, in: database)
        }
        let change = RowChange(
            kind: .update, table: table, rowID: rowID, owner: try Rows.owner(table, rowID: rowID, in: database),
            before: row.entity, after: row.entity, changedProperties: [], request: request, parent: row.parent)
        try keepBeforeImage(change, rowID: rowID, earlier: earlier, in: database)
        let owner = StreamTable.Owner(set: row.set, rowID: rowID, property: detail.property ?? "")
        let replaced = try StreamTable.info(owner, in: database)
        try append(
            .stream, change, rowID: rowID, changes: Entity(shape: row.entity.shape), base: nil,
            etag: replaced?.isLocal == false ? replaced?.etag : nil, omitted: [], earlier: earlier, detail: detail,
            in: database)
        try setLocalETag(table, rowID: rowID, in: database)
    }

    /// Makes the row of a media entity, whose properties the service will give, and queues its stream.
    ///
    /// - Returns: the row with its temporary key.
    func createMedia(
        _ table: TableStorage, _ detail: RequestDetail, request: ODataRequest, in database: Database
    ) throws -> Int64 {
        var entity = Entity(shape: table.shape)
        try prepareInsert(&entity, into: table, in: database)
        entity.control.etag = "W/\"local-\(environment.newGuid())\""
        entity.markUnchanged()
        let rowID = try BulkLoader(table: table, in: database).load(entity, owner: 0).rowID
        let change = RowChange(
            kind: .insert, table: table, rowID: rowID, before: nil, after: entity, changedProperties: [],
            request: request)
        try append(
            .create, change, rowID: rowID, changes: Entity(shape: table.shape), base: nil, etag: nil,
            omitted: Set(table.shape.key.map(\.path)), earlier: [], detail: detail, in: database)
        return rowID
    }
}
