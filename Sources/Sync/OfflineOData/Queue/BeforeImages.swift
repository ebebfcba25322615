import Foundation
import GRDB
import ODataModel
import ODataSQL

/// The last server version of each locally changed row. Undo restores it, conflicts are detected against it, and
/// local changes are applied to it again after a download. For a draft, it is the version from which the draft
/// was made, with the ETag of the active entity.
struct BeforeImages {
    /// One server version.
    struct Image {
        /// The entity; `nil` if the service has deleted it meanwhile.
        var entity: ODataEntity?
        /// Its ETag.
        var etag: String?
        /// The query that owned the row before its first local change. For a row that was deleted locally, the
        /// query that owns it now.
        var owner: Int64
    }

    let snapshots: SnapshotCoder

    /// The effect of a download on the server version of a row with pending changes.
    static func change(from known: Image?, to newest: ODataEntity, etag: String?) -> BulkLoader.Outcome.Change {
        known?.entity == newest && known?.etag == etag ? .unchanged : .updated
    }

    func image(set: String, rowID: Int64, shape: TypeShape, in database: Database) throws -> Image? {
        guard
            let row = try Row.fetchOne(
                database, sql: "SELECT etag, owner, entity FROM outpost_before WHERE entity_set = ? AND row_id = ?",
                arguments: [set, rowID])
        else { return nil }
        let bytes: Data? = row["entity"]
        var entity = try bytes.map { try snapshots.decode($0, shape: shape) }
        entity?.control.etag = row["etag"]
        return Image(entity: entity, etag: row["etag"], owner: row["owner"])
    }

    func save(_ image: Image, set: String, rowID: Int64, in database: Database) throws {
        try database.execute(
            sql: """
                INSERT INTO outpost_before(entity_set, row_id, etag, owner, entity) VALUES (?, ?, ?, ?, ?)
                ON CONFLICT DO UPDATE SET etag = excluded.etag, owner = excluded.owner, entity = excluded.entity
                """, arguments: [set, rowID, image.etag, image.owner, image.entity.map(snapshots.encode)])
    }

    /// Stores the query that owns a row, for an undo of its deletion.
    static func setOwner(_ owner: Int64, set: String, rowID: Int64, in database: Database) throws {
        try database.execute(
            sql: "UPDATE outpost_before SET owner = ? WHERE entity_set = ? AND row_id = ?",
            arguments: [owner, set, rowID])
    }

    /// Stores that the service has deleted the row.
    func deleteEntity(set: String, rowID: Int64, in database: Database) throws {
        try database.execute(
            sql: "UPDATE outpost_before SET entity = NULL, etag = NULL WHERE entity_set = ? AND row_id = ?",
            arguments: [set, rowID])
    }

    func remove(set: String, rowID: Int64, in database: Database) throws {
        try database.execute(
            sql: "DELETE FROM outpost_before WHERE entity_set = ? AND row_id = ?", arguments: [set, rowID])
    }

    /// Returns the row whose server version has a key. Only images that contain the key are decoded, since every
    /// changed row has an image.
    func rowID(
        set: String, key: EntityKey, shape: TypeShape, in database: Database,
        where isWanted: (Int64) throws -> Bool = { _ in true }
    ) throws -> Int64? {
        var sql = "SELECT row_id, entity FROM outpost_before WHERE entity_set = ? AND entity IS NOT NULL"
        var arguments: [any DatabaseValueConvertible] = [set]
        for part in key.parts where shape.property(part.name) != nil {
            sql += " AND instr(entity, ?) > 0"
            arguments.append(snapshots.trace(of: part.value, in: part.name))
        }
        let rows = try Row.fetchCursor(
            database.cachedStatement(sql: sql), arguments: StatementArguments(arguments))
        while let row = try rows.next() {
            guard try snapshots.decode(row["entity"] as Data, shape: shape).key == key, try isWanted(row["row_id"])
            else { continue }
            return row["row_id"]
        }
        return nil
    }

    /// Returns the locally deleted rows by their keys, so that a download finds the row of an entity that is in
    /// no table. A row that had left all results has no server version. Its key comes from the deletion request.
    func deletedRows(of table: TableStorage, in database: Database) throws -> [EntityKey: [Int64]] {
        let isHere = table.rowID.map { id in
            """
            AND NOT EXISTS (
                SELECT 1 FROM \(table.table.sqlIdentifier) AS t
                WHERE t.\(id.sqlIdentifier) = b.row_id)
            """
        }
        let rows = try Row.fetchCursor(
            database,
            sql: """
                SELECT b.row_id, COALESCE(b.entity, q.entity_key) AS entity FROM outpost_before AS b
                LEFT JOIN outpost_queue AS q
                    ON b.entity IS NULL AND q.entity_set = b.entity_set AND q.row_id = b.row_id AND q.kind = 'delete'
                WHERE b.entity_set = ? AND COALESCE(b.entity, q.entity_key) IS NOT NULL \(isHere ?? "")
                ORDER BY b.row_id
                """, arguments: [table.set])
        var result: [EntityKey: [Int64]] = [:]
        while let row = try rows.next() {
            guard let key = try snapshots.decode(row["entity"] as Data, shape: table.shape).key else { continue }
            result[key, default: []].append(row["row_id"])
        }
        return result
    }
}
