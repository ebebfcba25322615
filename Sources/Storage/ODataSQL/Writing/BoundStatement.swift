import Foundation
import GRDB
import GRDBSQLite
import ODataModel

/// A prepared statement that is used with SQLite's C interface.
///
/// Values are bound and columns are compared in place, without intermediate arrays of arguments and rows. Changes
/// are executed by GRDB, so that its observers are notified.
struct BoundStatement {
    private let statement: Statement
    private let handle: OpaquePointer
    private let room: ParameterRoom

    /// Prepares a statement.
    ///
    /// - Parameter isKept: whether the connection caches the statement for other callers. Each caller must bind all
    ///   parameters and run the statement to its end. A caller that keeps values bound needs its own statement.
    init(_ sql: String, in database: Database, isKept: Bool = false) throws {
        statement = try isKept ? database.cachedStatement(sql: sql) : database.makeStatement(sql: sql)
        handle = statement.sqliteStatement
        room = ParameterRoom(parameters: Int(sqlite3_bind_parameter_count(handle)))
        // This type binds the values itself, so that GRDB has no arguments to check.
        statement.setUncheckedArguments(StatementArguments())
    }

    // MARK: Binding

    /// Binds null to a parameter; the first index is 1.
    func bindNull(at index: Int32) throws { try check(sqlite3_bind_null(handle, index)) }

    func bind(_ number: Int64, at index: Int32) throws { try check(sqlite3_bind_int64(handle, index, number)) }

    func bind(_ text: String, at index: Int32) throws {
        let count = UInt64(text.utf8.count)
        try check(
            text.withCString { sqlite3_bind_text64(handle, index, $0, count, transient, UInt8(SQLITE_UTF8)) })
    }

    /// Binds a string of a JSON text.
    ///
    /// A string without escapes is not copied. Its bytes must remain valid until the statement has run, and the
    /// next run needs another value.
    func bind(_ text: JSONString, at index: Int32) throws {
        // An empty string is not null, but may have no address.
        if let bytes = text.plainUTF8, let start = bytes.baseAddress {
            return try bindText(start, bytes.count, at: index)
        }
        // Entity tags contain quotes, and are short.
        guard let memory = room[index], let start = memory.baseAddress, let count = text.write(into: memory) else {
            return try bind(text.string, at: index)
        }
        try bindText(start, count, at: index)
    }

    /// Binds bytes that remain valid until the statement has run.
    private func bindText(_ start: UnsafeRawPointer, _ count: Int, at index: Int32) throws {
        try check(
            sqlite3_bind_text64(
                handle, index, start.assumingMemoryBound(to: CChar.self), UInt64(count), nil, UInt8(SQLITE_UTF8)))
    }

    func bind(_ value: DatabaseValue, at index: Int32) throws {
        switch value.storage {
        case .null: try bindNull(at: index)
        case .int64(let number): try bind(number, at: index)
        case .double(let number): try check(sqlite3_bind_double(handle, index, number))
        case .string(let text): try bind(text, at: index)
        case .blob(let data):
            try check(
                data.withUnsafeBytes { bytes in
                    guard let start = bytes.baseAddress, !bytes.isEmpty else {
                        return sqlite3_bind_zeroblob(handle, index, 0)
                    }
                    return sqlite3_bind_blob64(handle, index, start, UInt64(bytes.count), transient)
                })
        }
    }

    /// Binds a few bytes that a closure writes.
    ///
    /// - Parameter write: writes at most ``ParameterRoom/bytesEach`` bytes and returns their number.
    private func bindBytes(at index: Int32, _ write: (UnsafeMutableRawBufferPointer) -> Int) throws {
        guard let memory = room[index] else { return try check(SQLITE_RANGE) }
        let count = write(memory)
        try check(sqlite3_bind_blob64(handle, index, memory.baseAddress, UInt64(count), nil))
    }

    /// Binds the bytes of a tuple of integers in their memory layout.
    private func bindBytes<Bytes: BitwiseCopyable>(of bytes: Bytes, at index: Int32) throws {
        try bindBytes(at: index) { memory in
            withUnsafeBytes(of: bytes) { bytes in
                memory.copyMemory(from: bytes)
                return bytes.count
            }
        }
    }

    /// Throws an error if a value is too long for SQLite, or memory is exhausted.
    private func check(_ code: Int32) throws {
        guard code != SQLITE_OK else { return }
        throw DatabaseError(resultCode: ResultCode(rawValue: code), message: "a value cannot be bound")
    }

    /// Binds a value in the stored form of its column.
    ///
    /// - Throws: ``StoredValueError`` if the value does not fit.
    func bind(_ value: ODataValue, as column: ColumnStorage, at index: Int32) throws {
        guard try !bind(value, in: column.codec.plainForm, at: index) else { return }
        let stored: DatabaseValue
        do throws(StoredValueError) {
            stored = try column.codec.encode(value)
        } catch {
            throw error.at(column: column.name)
        }
        try bind(stored, at: index)
    }

    /// Binds a value without an intermediate encoded form.
    ///
    /// - Parameter form: the form of the column.
    /// - Returns: Whether the value was bound.
    func bind(_ value: ODataValue, in form: ColumnCodec.PlainForm?, at index: Int32) throws -> Bool {
        switch (form, value) {
        case (_, .null): try bindNull(at: index)
        case (.integer, .integer(let number)), (.integer, .enumeration(let number)): try bind(number, at: index)
        case (.string, .string(let text)): try bind(text, at: index)
        case (.boolean, .boolean(let flag)): try bind(flag ? 1 : 0, at: index)
        case (.date, .date(let date)): try bind(date.daysSinceEpoch, at: index)
        case (.double, .double(let number)) where !number.isNaN:
            try check(sqlite3_bind_double(handle, index, number))
        case (.guid, .guid(let guid)):
            try bindBytes(of: (guid.high.bigEndian, guid.low.bigEndian), at: index)
        case (.dateTimeOffset, .dateTimeOffset(let instant)):
            // These are the bytes of `InstantKey`, without an array and a `Data` for each value.
            let seconds = UInt64(bitPattern: instant.seconds) ^ (1 << 63)
            let offset = UInt16(clamping: instant.offsetMinutes + 840)
            try bindBytes(
                of: (seconds.bigEndian, UInt64(clamping: instant.picoseconds).bigEndian, offset.bigEndian), at: index)
        case (.decimalBytes, .decimal(let number)): try bindBytes(at: index) { DecimalKey.write(number, into: $0) }
        default: return false
        }
        return true
    }

    // MARK: Running

    /// Runs a statement that changes the database.
    func execute() throws {
        // SQLite accepts bindings only after a statement was reset.
        defer { sqlite3_reset(handle) }
        try statement.execute()
    }

    /// Runs a statement that inserts a row unless it exists already.
    ///
    /// - Returns: The row id; `nil` if no row was inserted.
    func insert() throws -> Int64? {
        let inserted = try insertAll()
        return inserted.count == 0 ? nil : inserted.last
    }

    /// Runs a statement that inserts rows except those that exist already.
    ///
    /// - Returns: The number of inserted rows, and the row id of the last one.
    func insertAll() throws -> (count: Int, last: Int64) {
        try execute()
        let connection = sqlite3_db_handle(handle)
        // The number excludes rows that triggers of a search index write.
        return (Int(sqlite3_changes(connection)), sqlite3_last_insert_rowid(connection))
    }

    /// Steps to the next row of a selection.
    ///
    /// - Returns: Whether there is a row.
    func step() throws -> Bool {
        switch sqlite3_step(handle) {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        case let code:
            let message = sqlite3_db_handle(handle).flatMap { sqlite3_errmsg($0) }.map { String(cString: $0) }
            sqlite3_reset(handle)
            throw DatabaseError(resultCode: ResultCode(rawValue: code), message: message, sql: statement.sql)
        }
    }

    /// Ends a selection, so that it holds no lock.
    func reset() { sqlite3_reset(handle) }

    // MARK: Columns

    func isNull(_ column: Int32) -> Bool { sqlite3_column_type(handle, column) == SQLITE_NULL }

    func integer(_ column: Int32) -> Int64 { sqlite3_column_int64(handle, column) }

    func text(_ column: Int32) -> String? { sqlite3_column_text(handle, column).map { String(cString: $0) } }

    func value(_ column: Int32) -> DatabaseValue {
        switch sqlite3_column_type(handle, column) {
        case SQLITE_INTEGER: return integer(column).databaseValue
        case SQLITE_FLOAT: return sqlite3_column_double(handle, column).databaseValue
        case SQLITE_TEXT: return textBytes(column).map { String(decoding: $0, as: UTF8.self) }.databaseValue
        case SQLITE_BLOB:
            let count = Int(sqlite3_column_bytes(handle, column))
            return (sqlite3_column_blob(handle, column).map { Data(bytes: $0, count: count) } ?? Data()).databaseValue
        default: return .null
        }
    }

    /// Returns whether a column contains a value in the stored form of its codec.
    func column(_ index: Int32, holds value: ODataValue, as column: ColumnStorage) throws(StoredValueError) -> Bool {
        switch (column.codec, value) {
        case (_, .null): return isNull(index)
        case (.integer, .integer(let number)), (.integer, .enumeration(let number)):
            return !isNull(index) && integer(index) == number
        case (.string, .string(let text)):
            guard let bytes = textBytes(index) else { return false }
            return bytes.elementsEqual(text.utf8)
        default:
            do {
                // JSON may contain texts that differ only in their Unicode normalization.
                return try column.codec.encode(value).isIdentical(to: self.value(index))
            } catch {
                throw error.at(column: column.name)
            }
        }
    }

    private func textBytes(_ column: Int32) -> UnsafeBufferPointer<UInt8>? {
        guard let start = sqlite3_column_text(handle, column) else { return nil }
        return UnsafeBufferPointer(start: start, count: Int(sqlite3_column_bytes(handle, column)))
    }
}

/// A value that makes SQLite copy bound bytes before the call returns.
private let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
