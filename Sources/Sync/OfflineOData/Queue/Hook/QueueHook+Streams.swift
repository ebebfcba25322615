import GRDB
import ODataModel
import ODataSQL
import ODataService

/// Streams. Their bytes are kept beside the queue until they are sent.
extension QueueHook {
    /// Queues a new stream of a row, or the deletion of one. Only the last unsent stream counts. It mends a
    /// stream that the service refused.
    func queueStream(
        _ row: RowWriter.WrittenRow, _ stream: QueuedRequest.StreamChange, request: ODataRequest, in database: Database
    ) throws {
        guard let table = mapping.tables[row.set], let rowID = row.rowID else {
            throw ODataError.notImplemented("Streams of \(row.set) offline")
        }
        // Streams of client-only sets are never sent.
        guard !isClientOnly(table.set) else { return try setLocalETag(table, rowID: rowID, in: database) }
        let earlier = try queue.requests(set: row.set, rowID: rowID, in: database)
        let options = ChangeOptions(request)
        try ReplayCounters.noteEdit(of: RowReference(set: row.set, rowID: rowID), options, in: database)
        if let mending = mending(of: earlier, replacingStream: stream.property, by: options),
            try mending.putBack(
                joining: options, waitingFor: [], at: environment.instant.description, queue, in: database)
        {
            try queue.setSubject(
                mending.refused.subject.sending(stream.stream), of: mending.refused.id, in: database)
            return try setLocalETag(table, rowID: rowID, in: database)
        }
        let change = RowChange(
            kind: .update, table: table, rowID: rowID, owner: try Rows.owner(table, rowID: rowID, in: database),
            before: row.entity, after: row.entity, changedProperties: [], request: request, parent: row.parent)
        try keepBeforeImage(change, rowID: rowID, earlier: earlier, in: database)
        let owner = StreamTable.Owner(set: row.set, rowID: rowID, property: stream.property ?? "")
        let replaced = try StreamTable.info(owner, in: database)
        try append(
            .stream, change, rowID: rowID, changes: ODataEntity(shape: row.entity.shape), base: nil,
            etag: replaced?.isLocal == false ? replaced?.etag : nil, omitted: [], earlier: earlier,
            subject: .stream(stream),
            in: database)
        try setLocalETag(table, rowID: rowID, in: database)
    }

    /// The request that a new stream replaces: a refused one, or else the last pending one.
    private func mending(
        of earlier: [QueuedRequest], replacingStream property: String?, by options: ChangeOptions
    ) -> Mending? {
        guard !options.isUnmodifiable else { return nil }
        if let mending = Mending(of: earlier, replacingStream: property) { return mending }
        guard let last = earlier.last, last.kind == .stream, last.isUnsent, last.streamProperty == property,
            isReplaceable(last, by: options)
        else { return nil }
        return Mending(of: last)
    }

    /// Creates the row of a media entity and queues its stream. The service will assign the properties.
    ///
    /// - Parameter container: the row that contains the entity; `nil` for an entity of a set.
    /// - Returns: the row with its temporary key.
    func createMedia(
        _ table: TableStorage, within container: Int64?, sending stream: Int64, request: ODataRequest,
        in database: Database
    ) throws -> Int64 {
        var entity = ODataEntity(shape: table.shape)
        try prepareInsert(&entity, into: table, in: database)
        entity.control.etag = "W/\"local-\(environment.newGuid())\""
        entity.markUnchanged()
        let rowID = try BulkLoader(table: table, in: database).load(entity, owner: 0, parent: container).rowID
        guard !isClientOnly(table.set) else { return rowID }
        let change = RowChange(
            kind: .insert, table: table, rowID: rowID, before: nil, after: entity, changedProperties: [],
            request: request, parent: container)
        try append(
            .create, change, rowID: rowID, changes: ODataEntity(shape: table.shape), base: nil, etag: nil,
            omitted: Set(table.shape.key.map(\.path)), earlier: [],
            subject: .entity(QueuedRequest.EntityChange(stream: stream)), in: database)
        try ReplayCounters.noteEdit(
            of: RowReference(set: table.set, rowID: rowID), ChangeOptions(request), in: database)
        return rowID
    }
}

extension QueuedRequest.Subject {
    /// The same subject with another stream, or with its deletion.
    fileprivate func sending(_ stream: Int64?) -> QueuedRequest.Subject {
        switch self {
        case .entity(var change):
            change.stream = stream
            return .entity(change)
        case .stream(var change):
            change.stream = stream
            return .stream(change)
        case .relation, .call, .unmapped: return self
        }
    }
}
