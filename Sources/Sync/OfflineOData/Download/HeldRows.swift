import GRDB
import ODataModel
import ODataSQL

/// The rows that a query holds, in parts, so that each read is short. Each part has the rows of all sources in
/// the order of their ids. A row that moves between sources, because its owner releases it, is always in one of
/// them.
struct HeldRows {
    /// The place at which it is stored that a query holds a row.
    enum Source: CaseIterable {
        /// In the row, for its owner.
        case owner
        /// In the membership table, if another query owns the row.
        case member
        /// With the server version of a locally changed or deleted row.
        case before
    }

    struct Row: Sendable {
        let rowID: Int64
        let key: EntityKey
    }

    private let sources: [Source]
    private let query: Int64
    private let table: TableStorage
    private let mapping: StorageMapping

    /// The number of rows in one read.
    static let limit = 10_000

    init(query: Int64, table: TableStorage, mapping: StorageMapping, in sources: [Source] = Source.allCases) {
        self.sources = sources
        self.query = query
        self.table = table
        self.mapping = mapping
    }

    /// The ids of the next rows after one, in order.
    func ids(after last: Int64, limit: Int = HeldRows.limit, in database: Database) throws -> [Int64] {
        guard let owner = table.visibility?.ownerColumn.sqlIdentifier,
            let id = table.rowID?.sqlIdentifier
        else { return [] }
        let parts = sources.map { source in
            switch source {
            case .owner:
                "SELECT \(id) AS id FROM \(table.table.sqlIdentifier) "
                    + "WHERE \(id) > ?3 AND \(owner) = ?1 AND ?2 IS NOT NULL"
            case .member:
                "SELECT row_id AS id FROM outpost_member WHERE query_id = ?1 AND entity_set = ?2 AND row_id > ?3"
            case .before:
                "SELECT row_id AS id FROM outpost_before WHERE owner = ?1 AND entity_set = ?2 AND row_id > ?3 "
                    + "AND entity IS NOT NULL"
            }
        }
        let sql = "\(parts.joined(separator: " UNION ")) ORDER BY id LIMIT \(limit)"
        return try Int64.fetchAll(database, sql: sql, arguments: [query, table.set, last])
    }

    /// The next rows that a full read did not bring.
    ///
    /// - Returns: the rows, and the last row that was examined; `nil` at the end.
    func unseen(after last: Int64, _ seen: RowSet, in database: Database) throws -> (rows: [Row], last: Int64?) {
        let ids = try ids(after: last, in: database)
        let loader = try BulkLoader(set: table.set, mapping: mapping, in: database)
        let before = BeforeImages(snapshots: SnapshotCoder(model: mapping.model))
        let rows = try ids.filter { !seen.contains($0) }.compactMap { id -> Row? in
            // The key of a locally deleted row is only in its server version.
            let key =
                try loader.read(id)?.key
                ?? before.image(set: table.set, rowID: id, shape: table.shape, in: database)?.entity?.key
            return key.map { Row(rowID: id, key: $0) }
        }
        return (rows, ids.last)
    }
}
