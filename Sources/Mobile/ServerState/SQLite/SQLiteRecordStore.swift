import Foundation
import GRDB

/// Log records in `intake.db`, and personalization values in `state.db`.
struct SQLiteRecordStore: DeviceRecordStore {
    let state: SQLiteServerState

    private var sealing: Sealing { Sealing(state.keys) }

    // MARK: Log records

    func add(
        _ record: DeviceLogRecord, expiresAt: ServerInstant
    ) async throws(ServerStateError) -> DeviceLogRecord {
        func cut(_ text: String?) -> String? { text.map { String($0.prefix(DeviceRecordLimits.text)) } }
        var record = record
        record.level = String(record.level.prefix(16))
        record.message = cut(record.message) ?? ""
        record.component = cut(record.component)
        record.entityKey = cut(record.entityKey)
        record.operation = cut(record.operation)
        record.backEndCode = cut(record.backEndCode)
        record.requestID = cut(record.requestID)
        return try await state.intakeFile.write { [record] database in
            var record = record
            try database.execute(
                sql: """
                    insert into log_record (application, registration, at, level, message, component, entity_key,
                    operation, code, back_end_code, request_id, expires_at)
                    values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                    """,
                arguments: [
                    record.application, record.registration, record.at.rawValue, record.level, record.message,
                    record.component, record.entityKey, record.operation, record.code, record.backEndCode,
                    record.requestID, expiresAt.rawValue,
                ])
            record.number = database.lastInsertedRowID
            try database.execute(
                sql: """
                    delete from log_record where application = ?1 and registration = ?2 and number <= (
                    select number from log_record where application = ?1 and registration = ?2
                    order by number desc limit 1 offset ?3)
                    """, arguments: [record.application, record.registration, DeviceRecordLimits.logs])
            return record
        }
    }

    func logs(
        of registration: String?, of application: RecordNumber
    ) async throws(ServerStateError) -> [DeviceLogRecord] {
        let now = state.clock()
        return try await state.intakeFile.read { database in
            let newest = try Row.fetchAll(
                database,
                sql: """
                    select * from log_record where application = ?1 and (?2 is null or registration = ?2)
                    and expires_at > ?3 order by number desc limit 10000
                    """, arguments: [application, registration, now.rawValue])
            return newest.reversed().map(Self.log)
        }
    }

    func removeLog(
        _ number: RecordNumber, registration: String, of application: RecordNumber
    ) async throws(ServerStateError) -> Bool {
        try await state.intakeFile.write { database in
            try database.execute(
                sql: "delete from log_record where number = ? and application = ? and registration = ?",
                arguments: [number, application, registration])
            return database.changesCount > 0
        }
    }

    /// Removes log records whose time is over.
    ///
    /// - Returns: Whether there may be more.
    static func expire(at now: ServerInstant, limit: Int, in database: Database) throws -> Bool {
        try database.execute(
            sql: "delete from log_record where number in (select number from log_record where expires_at < ? limit ?)",
            arguments: [now.rawValue, limit])
        return database.changesCount >= limit
    }

    private static func log(_ row: Row) -> DeviceLogRecord {
        DeviceLogRecord(
            number: row["number"], application: row["application"], registration: row["registration"],
            at: ServerInstant(rawValue: row["at"]), level: row["level"], message: row["message"],
            component: row["component"], entityKey: row["entity_key"], operation: row["operation"], code: row["code"],
            backEndCode: row["back_end_code"], requestID: row["request_id"])
    }

    // MARK: Personalization

    func personalization(
        of user: RecordNumber, of application: RecordNumber
    ) async throws(ServerStateError) -> [PersonalizationRecord] {
        let sealing = sealing
        return try await state.stateFile.read { database in
            try Row.fetchAll(
                database, sql: "select * from personalization where application = ? and app_user = ? order by name",
                arguments: [application, user]
            ).map { row in
                let (key, version): (String, ChangeNumber) = (row["name"], row["version"])
                return PersonalizationRecord(
                    key: key,
                    value: try sealing.openText(
                        row["sealed"], table: "personalization", column: "sealed",
                        key: Self.place(application, user, key: key, version: version)), version: version)
            }
        }
    }

    func setPersonalization(
        _ key: String, _ value: String?, of user: RecordNumber, of application: RecordNumber
    ) async throws(ServerStateError) -> PersonalizationRecord {
        guard !key.isEmpty, key.count <= DeviceRecordLimits.key else {
            throw .limitExceeded(name: "The key", limit: DeviceRecordLimits.key)
        }
        guard (value?.utf8.count ?? 0) <= DeviceRecordLimits.value else {
            throw .limitExceeded(name: "The value", limit: DeviceRecordLimits.value)
        }
        let sealing = sealing
        return try await state.stateFile.write { database in
            let known = try Int.fetchOne(
                database, sql: "select 1 from app_user where application = ? and id = ?",
                arguments: [application, user])
            guard known != nil else { throw ServerStateError.missing(kind: "user", name: "\(user)") }
            let scope = try SQLiteApplicationStore.name(of: application, in: database)
            let version = try SQLiteServerState.nextChange(of: scope, in: database)
            try database.execute(
                sql: "delete from personalization where application = ? and app_user = ? and name = ?",
                arguments: [application, user, key])
            let record = PersonalizationRecord(key: key, value: value, version: version)
            guard let value else { return record }
            let count = try Int.fetchOne(
                database, sql: "select count(*) from personalization where application = ? and app_user = ?",
                arguments: [application, user])
            guard (count ?? 0) < DeviceRecordLimits.values else {
                throw ServerStateError.limitExceeded(
                    name: "The number of personalization values", limit: DeviceRecordLimits.values)
            }
            let sealed: Data = try sealing.seal(
                Array(value.utf8), table: "personalization", column: "sealed",
                key: Self.place(application, user, key: key, version: version))
            try database.execute(
                sql: "insert into personalization values (?, ?, ?, ?, ?)",
                arguments: [
                    application, user, key, sealed, version,
                ])
            return record
        }
    }

    private static func place(
        _ application: RecordNumber, _ user: RecordNumber, key: String, version: ChangeNumber
    ) -> String {
        "\(application)/\(user)/\(key)/\(version)"
    }
}
