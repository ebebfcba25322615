import GRDB

/// The settings and properties of a SQLite connection that stores read and change.
///
/// ```swift
/// try database.setPragma(.synchronous, "FULL")
/// let version: Int? = try database.pragma(.userVersion)
/// ```
package enum Pragma: String, Sendable {
    case applicationID = "application_id"
    case busyTimeout = "busy_timeout"
    case cacheSize = "cache_size"
    /// A number that changes when another connection commits.
    case dataVersion = "data_version"
    case fullSync = "fullfsync"
    case ignoreCheckConstraints = "ignore_check_constraints"
    case journalMode = "journal_mode"
    case journalSizeLimit = "journal_size_limit"
    case legacyAlterTable = "legacy_alter_table"
    case pageCount = "page_count"
    case secureDelete = "secure_delete"
    case synchronous
    case temporaryStore = "temp_store"
    case userVersion = "user_version"
    case autocheckpoint = "wal_autocheckpoint"

    /// The SQL statement that reads a value of the main database.
    var query: String { "PRAGMA \(rawValue)" }

    /// Returns the SQL statement that sets a value.
    package func statement(_ value: some CustomStringConvertible) -> String { "PRAGMA \(rawValue) = \(value)" }
}

extension Database {
    /// Reads a value.
    ///
    /// - Parameter schema: the name of an attached database; by default, the main database.
    package func pragma<Value: DatabaseValueConvertible>(_ pragma: Pragma, of schema: String? = nil) throws -> Value? {
        try Value.fetchOne(self, sql: "PRAGMA \(schema.map { "\($0)." } ?? "")\(pragma.rawValue)")
    }

    /// Sets a value.
    package func setPragma(_ pragma: Pragma, _ value: some CustomStringConvertible) throws {
        try execute(sql: pragma.statement(value))
    }

    /// Sets `application_id` and `user_version`, which identify the kind of the file.
    package func mark(applicationID: Int, version: Int) throws {
        try setPragma(.applicationID, applicationID)
        try setPragma(.userVersion, version)
    }

    /// Checks the whole file and returns the problems that SQLite finds.
    package func integrityProblems() throws -> [String] {
        try String.fetchAll(self, sql: "PRAGMA integrity_check").filter { $0 != "ok" }
    }

    /// Moves the content of the log into the main file and truncates the log.
    package func truncateLog() throws { _ = try Row.fetchOne(self, sql: "PRAGMA main.wal_checkpoint(TRUNCATE)") }
}
