import Foundation
import GRDB
import ODataModel
import ODataSQL

/// The last back-end version of each row that was changed here: what undo restores, what conflicts are
/// found against, and what local changes are applied to again after a download. Of a draft, it is what that was made
/// from: the values it had then, with the ETag that the active entity had.
struct BeforeImages {
    /// One back-end version.
    struct Image {
        /// The entity; `nil` when the back end has deleted it meanwhile.
        var entity: ODataEntity?
        /// Its ETag.
        var etag: String?
        /// The query that owned the row when it was changed first, and of a row that was deleted here, that owns it now.
        var owner: Int64
    }

    let snapshots: SnapshotCoder

    /// What a download does to the back-end version of a row that has waiting changes.
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

    /// Notes which query owns a row, for when a deletion of it is taken back.
    static func setOwner(_ owner: Int64, set: String, rowID: Int64, in database: Database) throws {
        try database.execute(
            sql: "UPDATE outpost_before SET owner = ? WHERE entity_set = ? AND row_id = ?",
            arguments: [owner, set, rowID])
    }

    /// Notes that the back end has deleted the row.
    func deleteEntity(set: String, rowID: Int64, in database: Database) throws {
        try database.execute(
            sql: "UPDATE outpost_before SET entity = NULL, etag = NULL WHERE entity_set = ? AND row_id = ?",
            arguments: [set, rowID])
    }

    func remove(set: String, rowID: Int64, in database: Database) throws {
        try database.execute(
            sql: "DELETE FROM outpost_before WHERE entity_set = ? AND row_id = ?", arguments: [set, rowID])
    }

    /// The row whose back-end version has a key. There may be as many images as rows with changes: those of others are not
    /// read.
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

    /// The rows that were deleted here, by their keys: what a download means that brings an entity whose key is in no table.
    /// One that had left all results since has no back-end version, and is known by the key that its deletion names.
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
