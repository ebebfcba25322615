import Foundation
import GRDB
import GRDBSQLite
import ODataModel

/// A prepared statement worked with through SQLite's C interface: values are bound and columns compared in
/// place, without arrays of arguments and rows of values between. Changes are executed through GRDB, so that
/// observers of the database are told of them.
struct BoundStatement {
    private let statement: Statement
    private let handle: OpaquePointer
    private let room: ParameterRoom

    /// Prepares a statement.
    ///
    /// - Parameter isKept: whether the connection keeps it for the next one who needs it. Each one binds all of its
    ///   parameters and runs it to its end; who keeps values in it meanwhile has one of its own.
    init(_ sql: String, in database: Database, isKept: Bool = false) throws {
        statement = try isKept ? database.cachedStatement(sql: sql) : database.makeStatement(sql: sql)
        handle = statement.sqliteStatement
        room = ParameterRoom(parameters: Int(sqlite3_bind_parameter_count(handle)))
        // From here on the bindings are ours: GRDB is told that there is nothing left for it to check.
        statement.setUncheckedArguments(StatementArguments())
    }

    // MARK: Binding

    /// Binds null to a parameter, counted from 1.
    func bindNull(at index: Int32) throws { try check(sqlite3_bind_null(handle, index)) }

    func bind(_ number: Int64, at index: Int32) throws { try check(sqlite3_bind_int64(handle, index, number)) }

    func bind(_ text: String, at index: Int32) throws {
        let count = UInt64(text.utf8.count)
        try check(
            text.withCString { sqlite3_bind_text64(handle, index, $0, count, transient, UInt8(SQLITE_UTF8)) })
    }

    /// Binds a string of a JSON text.
    ///
    /// Without escapes it is not copied: its bytes must stay where they are until the statement has run, and the next
    /// run needs another value.
    func bind(_ text: JSONString, at index: Int32) throws {
        // A string without bytes is no null, and may have no address.
        if let bytes = text.plainUTF8, let start = bytes.baseAddress {
            return try bindText(start, bytes.count, at: index)
        }
        // Entity tags have quotation marks in them, and are short.
        guard let memory = room[index], let start = memory.baseAddress, let count = text.write(into: memory) else {
            return try bind(text.string, at: index)
        }
        try bindText(start, count, at: index)
    }

    /// Binds characters that stay where they are until the statement has run.
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
    /// - Parameter write: writes at most ``ParameterRoom/bytesEach`` bytes, and returns how many.
    private func bindBytes(at index: Int32, _ write: (UnsafeMutableRawBufferPointer) -> Int) throws {
        guard let memory = room[index] else { return try check(SQLITE_RANGE) }
        let count = write(memory)
        try check(sqlite3_bind_blob64(handle, index, memory.baseAddress, UInt64(count), nil))
    }

    /// Binds the bytes of a tuple of integers as they lie in memory.
    private func bindBytes<Bytes: BitwiseCopyable>(of bytes: Bytes, at index: Int32) throws {
        try bindBytes(at: index) { memory in
            withUnsafeBytes(of: bytes) { bytes in
                memory.copyMemory(from: bytes)
                return bytes.count
            }
        }
    }

    /// A value that is too long for SQLite, or memory that has run out.
    private func check(_ code: Int32) throws {
        guard code != SQLITE_OK else { return }
        throw DatabaseError(resultCode: ResultCode(rawValue: code), message: "a value cannot be bound")
    }

    /// Binds a value as its column stores it.
    ///
    /// - Throws: ``StoredValueError`` when it does not fit.
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

    /// Binds a value that goes straight to SQLite, without an encoded form between.
    ///
    /// - Parameter form: the form that the column has.
    /// - Returns: whether it could be bound so.
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
            // The bytes of `InstantKey`, without an array and a `Data` for each value.
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
        // SQLite takes no binding for a statement that has run and was not reset.
        defer { sqlite3_reset(handle) }
        try statement.execute()
    }

    /// Runs a statement that inserts a row, or none where it is there already.
    ///
    /// - Returns: the row id; `nil` when there is no new row.
    func insert() throws -> Int64? {
        let inserted = try insertAll()
        return inserted.count == 0 ? nil : inserted.last
    }

    /// Runs a statement that inserts rows, without those that are there already.
    ///
    /// - Returns: how many are new, and the row id of the last new one.
    func insertAll() throws -> (count: Int, last: Int64) {
        try execute()
        let connection = sqlite3_db_handle(handle)
        // The statement's own: what the triggers of a search index write is not among them.
        return (Int(sqlite3_changes(connection)), sqlite3_last_insert_rowid(connection))
    }

    /// Steps to the next row of a selection.
    ///
    /// - Returns: whether there is one.
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

    /// Whether a column holds a value as its codec stores it.
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
                // JSON may have texts in it that differ in their normal forms alone.
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

/// Tells SQLite to copy what is bound before the call returns.
private let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
