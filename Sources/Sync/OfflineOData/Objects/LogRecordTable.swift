import GRDB
import ODataModel
import ODataQuery
import ODataSQL

/// The log records in the store.
enum LogRecordTable {
    /// The number of records of the store itself that are kept. The oldest go first.
    static let limit = 10_000

    /// Adds the record of a change that the service refused, or whose outcome is unknown. It has no values of the
    /// change.
    static func add(
        _ request: QueuedRequest, _ failure: QueuedRequest.Failure, environment: EngineEnvironment,
        in database: Database
    ) throws {
        let type = request.changes.shape.name.name
        let record = StoreLogRecord(
            operation: request.kind == .call ? request.entityText : request.kind.rawValue, at: environment.instant,
            component: request.kind == .call ? request.entityText : type,
            entityKey: request.kind == .call ? "" : keyText(request.key, request.changes.shape),
            message: failure.message, level: "ERROR", code: failure.status ?? 500,
            backEndCode: failure.code.isEmpty ? nil : failure.code, requestID: request.requestID)
        try add(record, of: request.touchedRow ?? request.subjectRow, in: database)
    }

    static func add(_ record: StoreLogRecord, of row: RowReference?, in database: Database) throws {
        try database.execute(
            sql: """
                INSERT INTO outpost_log_record(request_id, entity_set, row_id, at, operation, component, entity_key,
                    level, message, code, back_end_code)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """,
            arguments: [
                record.requestID, row?.set, row?.rowID, record.at.description, record.operation, record.component,
                record.entityKey, record.level, record.message, record.code, record.backEndCode,
            ])
        try database.execute(
            sql: """
                DELETE FROM outpost_log_record WHERE service_record IS NULL AND id <= (
                    SELECT id FROM outpost_log_record WHERE service_record IS NULL ORDER BY id DESC LIMIT 1 OFFSET ?)
                """, arguments: [limit])
    }

    /// The key of an entity as the part of its URL in parentheses.
    static func keyText(_ key: EntityKey, _ shape: TypeShape) -> String {
        let url = KeyURL.url(set: "X", key: key, shape: shape).description
        guard url.hasPrefix("X("), url.hasSuffix(")") else { return "" }
        return String(url.dropFirst(2).dropLast())
    }

    /// Moves the records of a row to the row that it became one with.
    static func move(from row: RowReference, to other: Int64, in database: Database) throws {
        try database.execute(
            sql: "UPDATE outpost_log_record SET row_id = ? WHERE entity_set = ? AND row_id = ?",
            arguments: [other, row.set, row.rowID])
    }

    static func all(of row: RowReference?, in database: Database) throws -> [StoreLogRecord] {
        try Row.fetchAll(
            database,
            sql: """
                SELECT * FROM outpost_log_record WHERE service_record IS NULL
                    AND (?1 IS NULL OR entity_set = ?1 AND row_id = ?2)
                ORDER BY id
                """, arguments: [row?.set, row?.rowID]
        ).map { row in
            let set: String? = row["entity_set"]
            let rowID: Int64? = row["row_id"]
            return StoreLogRecord(
                id: row["id"], operation: row["operation"],
                at: ODataDateTimeOffset(row["at"] as String) ?? ODataDateTimeOffset(seconds: 0, picoseconds: 0),
                component: row["component"], entityKey: row["entity_key"], message: row["message"],
                level: row["level"], code: row["code"], backEndCode: row["back_end_code"],
                requestID: row["request_id"],
                row: set.flatMap { set in rowID.map { RowReference(set: set, rowID: $0) } })
        }
    }

    /// The row of an entity by the name of its type or set and the text of its key.
    static func row(
        component: String, key: String, mapping: StorageMapping, in database: Database
    ) throws -> RowReference? {
        guard !key.isEmpty else { return nil }
        for table in mapping.tables.values.sorted(by: { $0.set < $1.set })
        where !table.set.contains("/")
            && [table.set, table.shape.name.name, table.shape.name.description].contains(component)
        {
            guard let found = KeyURL.key(inID: "\(table.set)(\(key))", shape: table.shape, model: mapping.model),
                let rowID = try BulkLoader(set: table.set, mapping: mapping, in: database).find(found)
            else { continue }
            return RowReference(set: table.set, rowID: rowID)
        }
        return nil
    }
}
