import CPostgres

/// The rows of a result. Values are read from the memory of libpq, by column.
///
/// ```swift
/// let rows = try await client.read(PostgresStatement("select id, name from application"))
/// for row in rows { print(try row.integer("id"), try row.text("name")) }
/// ```
public final class PostgresRows: RandomAccessCollection, @unchecked Sendable {
    // Proof of Sendable: libpq does not change a result once it was delivered, all functions here only read it, and
    // it is freed when no reference is left.
    private let result: OpaquePointer
    /// The number of rows.
    public let count: Int
    /// The number of rows that a statement inserted, changed or removed.
    public let changedCount: Int

    /// The words with which the server names the statement, such as `COMMIT`.
    var command: String { PQcmdStatus(result).map { String(cString: $0) } ?? "" }

    /// Takes over a result.
    init(_ result: OpaquePointer) {
        self.result = result
        count = Int(PQntuples(result))
        changedCount = PQcmdTuples(result).flatMap { Int(String(cString: $0)) } ?? 0
    }

    deinit { PQclear(result) }

    /// The index of the first row.
    public var startIndex: Int { 0 }
    /// The index behind the last row.
    public var endIndex: Int { count }
    /// Returns a row.
    public subscript(position: Int) -> PostgresRow { PostgresRow(rows: self, index: position) }

    /// The number of a column.
    fileprivate func column(_ name: String) throws(PostgresError) -> Int32 {
        let number = PQfnumber(result, name)
        guard number >= 0 else { throw .unexpectedResult(reason: "there is no column \(name)") }
        return number
    }

    /// Reads a value of one of some types; `nil` for null.
    fileprivate func value<Value>(
        _ name: String, in row: Int, types: Set<UInt32>, _ read: (UnsafeRawBufferPointer, UInt32) -> Value?
    ) throws(PostgresError) -> Value? {
        let column = try column(name)
        guard row >= 0, row < count else { throw .unexpectedResult(reason: "there is no row \(row)") }
        guard PQgetisnull(result, Int32(row), column) == 0 else { return nil }
        let type = PQftype(result, column)
        guard types.contains(type), PQfformat(result, column) == 1,
            let bytes = PQgetvalue(result, Int32(row), column)
        else { throw .unexpectedResult(reason: "the column \(name) has the type \(type)") }
        let length = Int(PQgetlength(result, Int32(row), column))
        guard let value = read(UnsafeRawBufferPointer(start: bytes, count: length), type) else {
            throw .unexpectedResult(reason: "a value of the column \(name) cannot be read")
        }
        return value
    }
}

/// A row of a result.
public struct PostgresRow: Sendable {
    fileprivate let rows: PostgresRows
    fileprivate let index: Int

    private static let integerTypes: Set<UInt32> = [20, 21, 23, 26]
    private static let textTypes: Set<UInt32> = [18, 19, 25, 1042, 1043]

    /// Returns an integer; `nil` for null.
    ///
    /// - Throws: ``PostgresError/unexpectedResult(reason:)`` without the column, or for another type.
    public func integerOrNil(_ name: String) throws(PostgresError) -> Int64? {
        try rows.value(name, in: index, types: Self.integerTypes) { bytes, type in
            switch bytes.count {
            case 2: Int64(Int16(bigEndian: bytes.loadUnaligned(as: Int16.self)))
            case 4 where type == 26: Int64(UInt32(bigEndian: bytes.loadUnaligned(as: UInt32.self)))
            case 4: Int64(Int32(bigEndian: bytes.loadUnaligned(as: Int32.self)))
            case 8: Int64(bigEndian: bytes.loadUnaligned(as: Int64.self))
            default: nil
            }
        }
    }

    /// Returns a text; `nil` for null.
    ///
    /// - Throws: ``PostgresError/unexpectedResult(reason:)`` without the column, or for another type.
    public func textOrNil(_ name: String) throws(PostgresError) -> String? {
        try rows.value(name, in: index, types: Self.textTypes) { bytes, _ in String(decoding: bytes, as: UTF8.self) }
    }

    /// Returns bytes; `nil` for null.
    ///
    /// - Throws: ``PostgresError/unexpectedResult(reason:)`` without the column, or for another type.
    public func bytesOrNil(_ name: String) throws(PostgresError) -> [UInt8]? {
        try rows.value(name, in: index, types: [17]) { bytes, _ in Array(bytes) }
    }

    /// Returns a Boolean value; `nil` for null.
    ///
    /// - Throws: ``PostgresError/unexpectedResult(reason:)`` without the column, or for another type.
    public func flagOrNil(_ name: String) throws(PostgresError) -> Bool? {
        try rows.value(name, in: index, types: [16]) { bytes, _ in bytes.first.map { $0 != 0 } }
    }

    /// Returns an integer.
    ///
    /// - Throws: ``PostgresError/unexpectedResult(reason:)`` without the column, for null, or for another type.
    public func integer(_ name: String) throws(PostgresError) -> Int64 { try present(integerOrNil(name), name) }

    /// Returns a text.
    ///
    /// - Throws: ``PostgresError/unexpectedResult(reason:)`` without the column, for null, or for another type.
    public func text(_ name: String) throws(PostgresError) -> String { try present(textOrNil(name), name) }

    /// Returns bytes.
    ///
    /// - Throws: ``PostgresError/unexpectedResult(reason:)`` without the column, for null, or for another type.
    public func bytes(_ name: String) throws(PostgresError) -> [UInt8] { try present(bytesOrNil(name), name) }

    /// Returns a Boolean value.
    ///
    /// - Throws: ``PostgresError/unexpectedResult(reason:)`` without the column, for null, or for another type.
    public func flag(_ name: String) throws(PostgresError) -> Bool { try present(flagOrNil(name), name) }

    private func present<Value>(_ value: Value?, _ name: String) throws(PostgresError) -> Value {
        guard let value else { throw .unexpectedResult(reason: "the column \(name) is null") }
        return value
    }
}
