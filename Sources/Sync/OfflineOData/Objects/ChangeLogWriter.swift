import GRDB
import ODataModel
import ODataQuery
import ODataSQL

/// Writes the change log of a download, within the transaction that changes the rows.
final class ChangeLogWriter {
    /// The setting that switches the log on.
    static let setting = "change-log"

    private let mapping: StorageMapping
    private let graph: CompositeGraph
    private let queue: QueueTable
    /// The newest entry before this transaction.
    private let start: Int64

    /// - Returns: `nil` while the log is off.
    init?(mapping: StorageMapping, in database: Database) throws {
        guard try Settings.text(Self.setting, in: database) == "1" else { return nil }
        self.mapping = mapping
        graph = CompositeGraph(model: mapping.model, mapping: mapping)
        queue = QueueTable(model: mapping.model)
        start = try Int64.fetchOne(database, sql: "SELECT max(id) FROM outpost_change_log") ?? 0
    }

    /// Adds an entry for a row, and one for the root of its composite tree unless this transaction has added that.
    func add(_ operation: ChangeLogEntry.Operation, _ row: RowReference, in database: Database) throws {
        let root = try graph.isEmpty ? row : graph.roots(of: [row], queue, in: database)[row] ?? row
        try insert(operation, row, root: root, in: database)
        guard root != row else { return }
        let known = try database.cachedStatement(
            sql: "SELECT 1 FROM outpost_change_log WHERE id > ? AND entity_set = ? AND row_id = ?")
        guard try Int.fetchOne(known, arguments: [start, root.set, root.rowID]) == nil else { return }
        try insert(.upsert, root, root: root, in: database)
    }

    private func insert(
        _ operation: ChangeLogEntry.Operation, _ row: RowReference, root: RowReference, in database: Database
    ) throws {
        try database.cachedStatement(
            sql: """
                INSERT INTO outpost_change_log(entity_set, row_id, operation, entity, root_set, root_row)
                VALUES (?, ?, ?, ?, ?, ?)
                """
        ).execute(
            arguments: [
                row.set, row.rowID, operation.rawValue, try text(of: row, in: database), root.set, root.rowID,
            ])
    }

    /// The entity as a URL relative to the service root; the set alone if the row has no key.
    private func text(of row: RowReference, in database: Database) throws -> String {
        guard let entity = try BulkLoader(set: row.set, mapping: mapping, in: database).read(row.rowID),
            let key = entity.key
        else { return row.set }
        return KeyURL.url(set: row.set, key: key, mapping).description
    }
}
