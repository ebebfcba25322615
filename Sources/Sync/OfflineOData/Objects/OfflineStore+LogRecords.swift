import GRDB
import ODataModel

/// A log record of the store itself: about a refused change, a failed sign-in, or from the app.
public struct StoreLogRecord: Hashable, Sendable {
    /// The number in the store; 0 for a record that was not added yet.
    public var id: Int64
    /// The operation: `create`, `update`, `delete`, or the action that was called.
    public var operation: String
    /// The time.
    public var at: ODataDateTimeOffset
    /// The type of the entity that the record is about.
    public var component: String
    /// The key of the entity, in the form of a URL without parentheses.
    public var entityKey: String
    /// The message.
    public var message: String
    /// The level: `FATAL`, `ERROR`, `WARN`, `INFO`, `DEBUG` or `TRACE`.
    public var level: String
    /// The logical code, an HTTP status; `nil` for none.
    public var code: Int?
    /// The code of the service; `nil` for none.
    public var backEndCode: String?
    /// The `Repeatability-Request-ID` of the change; `nil` for none.
    public var requestID: String?
    /// The row that the record is about; `nil` for none.
    public internal(set) var row: RowReference?

    /// Creates a record.
    public init(
        id: Int64 = 0, operation: String = "", at: ODataDateTimeOffset, component: String = "", entityKey: String = "",
        message: String, level: String, code: Int? = nil, backEndCode: String? = nil, requestID: String? = nil
    ) {
        self.init(
            id: id, operation: operation, at: at, component: component, entityKey: entityKey, message: message,
            level: level, code: code, backEndCode: backEndCode, requestID: requestID, row: nil)
    }

    init(
        id: Int64, operation: String, at: ODataDateTimeOffset, component: String, entityKey: String,
        message: String, level: String, code: Int?, backEndCode: String?, requestID: String?, row: RowReference?
    ) {
        self.id = id
        self.operation = operation
        self.at = at
        self.component = component
        self.entityKey = entityKey
        self.message = message
        self.level = level
        self.code = code
        self.backEndCode = backEndCode
        self.requestID = requestID
        self.row = row
    }
}

/// The place of a log record of the service's own set.
public struct ServiceLogPlace: Hashable, Sendable {
    /// The record by its key.
    public var record: String
    /// The type of the entity that the record is about.
    public var component: String
    /// The key of that entity.
    public var entityKey: String
    /// The `Repeatability-Request-ID` of the change; `nil` for none.
    public var requestID: String?

    /// Creates a place.
    public init(record: String, component: String, entityKey: String, requestID: String?) {
        self.record = record
        self.component = component
        self.entityKey = entityKey
        self.requestID = requestID
    }
}

extension OfflineStore {
    /// The log records of the store.
    public var logRecords: LogRecords { LogRecords(store: self) }

    /// The log records of the store: those of refused changes (``UploadOptions/writesLogRecords``) and of the app. The
    /// newest 10,000 are kept. The query function `outpost.hasLogRecords()` finds the entities that have any.
    ///
    /// ```swift
    /// for record in try await store.logRecords.all() { print(record.at, record.code ?? 0, record.message) }
    /// ```
    public struct LogRecords: Sendable {
        let store: OfflineStore
    }
}

extension OfflineStore.LogRecords {
    /// Returns all records of the store in the order in which they were added.
    ///
    /// - Throws: `StoreError`.
    public func all() async throws -> [StoreLogRecord] {
        try await store.database.read { try LogRecordTable.all(of: nil, in: $0) }
    }

    /// Returns the records of the store about a row.
    ///
    /// - Throws: `StoreError`.
    public func all(of row: RowReference) async throws -> [StoreLogRecord] {
        try await store.database.read { try LogRecordTable.all(of: row, in: $0) }
    }

    /// Returns the names of the service's records about a row, as ``bind(_:)`` last placed them.
    ///
    /// - Throws: `StoreError`.
    public func serviceRecords(of row: RowReference) async throws -> [String] {
        try await store.database.read { database in
            try String.fetchAll(
                database,
                sql: """
                    SELECT service_record FROM outpost_log_record
                    WHERE service_record IS NOT NULL AND entity_set = ? AND row_id = ? ORDER BY id
                    """, arguments: [row.set, row.rowID])
        }
    }

    /// Adds a record.
    ///
    /// - Parameter row: the row that the record is about; `nil` for none.
    /// - Throws: `StoreError`.
    public func add(_ record: StoreLogRecord, for row: RowReference? = nil) async throws {
        try await store.database.write { try LogRecordTable.add(record, of: row, in: $0) }
    }

    /// Deletes a record of the store.
    ///
    /// - Throws: `StoreError`.
    public func remove(_ id: Int64) async throws {
        try await store.database.write { database in
            try database.execute(
                sql: "DELETE FROM outpost_log_record WHERE id = ? AND service_record IS NULL", arguments: [id])
        }
    }

    /// Places all records of the service's own set by the rows that they are about, in place of the former ones. The
    /// store's own records of the same requests are deleted.
    ///
    /// - Throws: `StoreError`.
    public func bind(_ records: [ServiceLogPlace]) async throws {
        let (mapping, environment) = (store.mapping, store.environment)
        try await store.database.write { database in
            try database.execute(sql: "DELETE FROM outpost_log_record WHERE service_record IS NOT NULL")
            for record in records {
                if let id = record.requestID, !id.isEmpty {
                    try database.execute(
                        sql: "DELETE FROM outpost_log_record WHERE service_record IS NULL AND request_id = ?",
                        arguments: [id])
                }
                guard
                    let row = try LogRecordTable.row(
                        component: record.component, key: record.entityKey, mapping: mapping, in: database)
                else { continue }
                try database.execute(
                    sql: """
                        INSERT INTO outpost_log_record(service_record, entity_set, row_id, at, operation, component,
                            entity_key, level, message)
                        VALUES (?, ?, ?, ?, '', '', '', '', '')
                        """, arguments: [record.record, row.set, row.rowID, environment.instant.description])
            }
        }
    }
}
