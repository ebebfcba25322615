import GRDB

/// A row that a download changed.
public struct ChangeLogEntry: Hashable, Sendable, Identifiable {
    /// The change of the row.
    public enum Operation: String, Hashable, Sendable, CaseIterable {
        /// The row is new or changed.
        case upsert = "U"
        /// The row was deleted.
        case delete = "D"
    }

    /// The number. Numbers ascend, and no number is given twice.
    public let id: Int64
    /// The row.
    public let row: RowReference
    /// The change.
    public let operation: Operation
    /// The entity at the time of the download, as a URL relative to the service root.
    public let entity: String
    /// The root of the composite tree of the row; the row itself if it is a part of no other.
    public let root: RowReference
}

extension OfflineStore {
    /// The log of the rows that downloads changed.
    public var changeLog: ChangeLog { ChangeLog(store: self) }

    /// The log of the rows that downloads changed. It is off unless it was switched on, and is written in the
    /// transactions of the downloads.
    ///
    /// ```swift
    /// try await store.changeLog.setEnabled(true)
    /// try await store.download()
    /// let entries = try await store.changeLog.entries()
    /// if let last = entries.last { try await store.changeLog.purge(through: last.id) }
    /// ```
    public struct ChangeLog: Sendable {
        let store: OfflineStore
    }
}

extension OfflineStore.ChangeLog {
    /// Switches the log on or off, from the next download on. Entries stay until they are purged.
    ///
    /// - Throws: `StoreError`.
    public func setEnabled(_ isEnabled: Bool) async throws {
        try await store.database.write { database in
            try Settings.set(ChangeLogWriter.setting, isEnabled ? "1" : "0", in: database)
        }
    }

    /// Returns whether downloads write the log.
    ///
    /// - Throws: `StoreError`.
    public func isEnabled() async throws -> Bool {
        try await store.database.read { try Settings.text(ChangeLogWriter.setting, in: $0) == "1" }
    }

    /// Returns entries in ascending order.
    ///
    /// - Parameters:
    ///   - sets: the entity sets; `nil` for all.
    ///   - id: only entries with greater numbers; 0 for all.
    ///   - limit: the largest number of entries, 1 or more.
    /// - Throws: `StoreError`.
    public func entries(
        ofSets sets: Set<String>? = nil, after id: Int64 = 0, limit: Int = .max
    ) async throws -> [ChangeLogEntry] {
        try await store.database.read { database in
            try Row.fetchAll(
                database,
                sql: """
                    SELECT id, entity_set, row_id, operation, entity, root_set, root_row FROM outpost_change_log
                    WHERE id > ?1 AND (?2 IS NULL OR entity_set IN (SELECT value FROM json_each(?2)))
                    ORDER BY id LIMIT ?3
                    """,
                arguments: [
                    id, sets.map { "[\($0.sorted().map { "\"\($0)\"" }.joined(separator: ","))]" },
                    Int64(max(1, limit)),
                ]
            ).compactMap { row in
                guard let operation = ChangeLogEntry.Operation(rawValue: row["operation"]) else { return nil }
                return ChangeLogEntry(
                    id: row["id"], row: RowReference(set: row["entity_set"], rowID: row["row_id"]),
                    operation: operation, entity: row["entity"],
                    root: RowReference(set: row["root_set"], rowID: row["root_row"]))
            }
        }
    }

    /// Deletes the entries up to a number. Entries that a download adds meanwhile have greater numbers, and stay.
    ///
    /// - Returns: the number of deleted entries.
    /// - Throws: `StoreError`.
    @discardableResult
    public func purge(through id: Int64) async throws -> Int {
        try await store.database.write { database in
            try database.execute(sql: "DELETE FROM outpost_change_log WHERE id <= ?", arguments: [id])
            return database.changesCount
        }
    }
}
