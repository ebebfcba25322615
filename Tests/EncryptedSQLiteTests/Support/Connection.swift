import CSQLite
import EncryptedSQLite
import Foundation

/// An error result of SQLite.
struct SQLiteFailure: Error, Equatable {
    var code: Int32
    var message: String
}

/// A minimal SQLite connection for tests.
final class Connection {
    private(set) var handle: OpaquePointer?

    /// - Parameters:
    ///   - uri: A path or a `file:` URI.
    ///   - vfs: The VFS, or `nil` for the VFS of the URI or the default one.
    init(_ uri: String, vfs: String? = nil, flags: Int32 = SQLITE_OPEN_READWRITE) throws {
        let code = sqlite3_open_v2(uri, &handle, flags | SQLITE_OPEN_URI, vfs)
        sqlite3_extended_result_codes(handle, 1)
        guard code == SQLITE_OK else {
            let failure = SQLiteFailure(code: sqlite3_extended_errcode(handle), message: message)
            sqlite3_close_v2(handle)
            handle = nil
            throw failure
        }
        sqlite3_busy_timeout(handle, 10_000)
    }

    static func encrypted(_ path: String) throws -> Connection {
        try Connection(EncryptedDatabase.uri(forPath: path))
    }

    deinit {
        close()
    }

    func close() {
        sqlite3_close_v2(handle)
        handle = nil
    }

    var message: String { String(cString: sqlite3_errmsg(handle)) }

    func execute(_ sql: String) throws {
        let code = sqlite3_exec(handle, sql, nil, nil, nil)
        guard code == SQLITE_OK else { throw SQLiteFailure(code: code, message: message) }
    }

    /// Returns all values of a query as text, row by row.
    func values(_ sql: String) throws -> [String] {
        var statement: OpaquePointer?
        guard sqlite3_prepare_v2(handle, sql, -1, &statement, nil) == SQLITE_OK else {
            throw SQLiteFailure(code: sqlite3_extended_errcode(handle), message: message)
        }
        defer { sqlite3_finalize(statement) }
        var values: [String] = []
        while true {
            let code = sqlite3_step(statement)
            if code == SQLITE_DONE { return values }
            guard code == SQLITE_ROW else { throw SQLiteFailure(code: code, message: message) }
            for column in 0..<sqlite3_column_count(statement) {
                values.append(sqlite3_column_text(statement, column).map { String(cString: $0) } ?? "NULL")
            }
        }
    }

    /// Inserts rows of about 200 bytes that contain `marker` into `t(id, body)`.
    func insert(_ ids: Range<Int>, marker: String = "row") throws {
        try execute(
            """
            WITH RECURSIVE n(i) AS (SELECT \(ids.lowerBound) UNION ALL SELECT i + 1 FROM n WHERE i < \(ids.upperBound - 1))
            INSERT INTO t SELECT i, '\(marker) ' || i || hex(zeroblob(90)) FROM n
            """)
    }
}
