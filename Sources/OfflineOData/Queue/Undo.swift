import GRDB
import ODataModel
import ODataStore

/// Takes the changes of a row back: to the last back-end version, or away when the back end has none.
struct Undo {
    let mapping: StorageMapping
    let queue: QueueTable
    let before: BeforeImages

    /// Removes every queued and archived request of a row and restores what the back end has.
    ///
    /// - Throws: ``OfflineError/alreadySent(request:)`` when one of them is on its way.
    func undo(set: String, rowID: Int64, in database: Database) throws {
        guard let table = mapping.tables[set] else { throw OfflineError.unknown(kind: "entity set", name: set) }
        for request in try queue.requests(set: set, rowID: rowID, in: database) {
            try queue.remove(request.id, in: database)
        }
        let loader = try BulkLoader(set: table.set, mapping: mapping, in: database)
        guard let image = try before.image(set: set, rowID: rowID, shape: table.shape, in: database) else {
            try loader.delete(rowID)
            return
        }
        try before.remove(set: set, rowID: rowID, in: database)
        let exists = try Rows.owner(table, rowID: rowID, in: database) != nil
        guard let entity = image.entity else {
            if exists { try loader.delete(rowID) }
            return
        }
        if exists {
            try loader.update(rowID, entity)
        } else {
            try loader.restore(rowID, entity, owner: image.owner)
        }
        try Rows.setETag(image.etag, table, rowID: rowID, in: database)
    }
}
