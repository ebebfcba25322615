import Crypto
import Foundation
import GRDB
import GRDBSQLite

/// A digest of the values in a row, as the ETag of rows without a version (``ETagStorage/contentDigest``). Every
/// change of the row changes it.
///
/// The digest is SHA-256 over the stored values in the order of ``TableStorage/columns``, truncated to sixteen
/// bytes. Each value consists of:
///
/// - a byte for its storage class (0 NULL, 1 INTEGER, 2 REAL, 3 TEXT, 4 BLOB),
/// - eight big-endian bytes with the integer, the bits of the real number, or the length,
/// - the bytes of a text or BLOB.
public struct RowDigest {
    /// The bytes that are not hashed yet; most rows are hashed at once.
    private var pending: [UInt8] = []
    private var hasher: SHA256?
    /// The maximum number of pending bytes.
    private static let maxPending = 4096

    /// Creates a digest of no values.
    public init() { pending.reserveCapacity(512) }

    /// Adds the value of the next column.
    public mutating func add(_ value: DatabaseValue) {
        switch value.storage {
        case .null: add(tag: 0, 0)
        case .int64(let number): add(tag: 1, UInt64(bitPattern: number))
        case .double(let number): add(tag: 2, number.bitPattern)
        case .string(let text):
            var text = text
            text.withUTF8 { add(tag: 3, UnsafeRawBufferPointer($0)) }
        case .blob(let data): data.withUnsafeBytes { add(tag: 4, $0) }
        }
    }

    /// Adds the value of the next column directly from SQLite. The result is the same as for its `DatabaseValue`.
    mutating func add(sqliteValue value: OpaquePointer?) {
        switch sqlite3_value_type(value) {
        case SQLITE_INTEGER: add(tag: 1, UInt64(bitPattern: sqlite3_value_int64(value)))
        case SQLITE_FLOAT: add(tag: 2, sqlite3_value_double(value).bitPattern)
        case SQLITE_TEXT:
            let start = sqlite3_value_text(value)
            // The text of a `DatabaseValue` ends at its first NUL character, and invalid UTF-8 is repaired.
            let text = UnsafeRawBufferPointer(start: start, count: start.map { strlen($0) } ?? 0)
            if Self.isASCII(text) {
                add(tag: 3, text)
            } else {
                add(String(decoding: text, as: UTF8.self).databaseValue)
            }
        case SQLITE_BLOB:
            let start = sqlite3_value_blob(value)
            let count = start == nil ? 0 : Int(sqlite3_value_bytes(value))
            add(tag: 4, UnsafeRawBufferPointer(start: start, count: count))
        default: add(tag: 0, 0)
        }
    }

    /// Returns whether a text is ASCII, which most texts are. It checks eight bytes at a time, because it runs for
    /// every text.
    private static func isASCII(_ text: UnsafeRawBufferPointer) -> Bool {
        var bits: UInt64 = 0
        var index = 0
        while index + 8 <= text.count {
            bits |= text.loadUnaligned(fromByteOffset: index, as: UInt64.self)
            index += 8
        }
        while index < text.count {
            bits |= UInt64(text[index])
            index += 1
        }
        return bits & 0x8080_8080_8080_8080 == 0
    }

    /// Adds NULL, an integer or the bits of a real number.
    @inline(__always)
    private mutating func add(tag: UInt8, _ number: UInt64) {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 9) { bytes in
            bytes[0] = tag
            UnsafeMutableRawBufferPointer(bytes).storeBytes(of: number.bigEndian, toByteOffset: 1, as: UInt64.self)
            pending.append(contentsOf: bytes)
        }
    }

    private mutating func add(tag: UInt8, _ bytes: UnsafeRawBufferPointer) {
        add(tag: tag, UInt64(bytes.count))
        guard pending.count + bytes.count > Self.maxPending else { return pending.append(contentsOf: bytes) }
        var hasher = self.hasher ?? SHA256()
        hasher.update(data: pending)
        hasher.update(bufferPointer: bytes)
        pending.removeAll(keepingCapacity: true)
        self.hasher = hasher
    }

    /// Removes all values and keeps the allocated memory.
    private mutating func reset() {
        pending.removeAll(keepingCapacity: true)
        hasher = nil
    }

    /// Returns the sixteen bytes.
    public func bytes() -> [UInt8] { withBytes { Array($0) } }

    private func withBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        var hasher = self.hasher ?? SHA256()
        pending.withUnsafeBytes { hasher.update(bufferPointer: $0) }
        return hasher.finalize().withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[..<16])) }
    }

    /// Returns the weak ETag including quotes: `W/"` and 32 hexadecimal digits.
    public func etag() -> String { withETag { String(decoding: $0, as: UTF8.self) } }

    private func withETag<Result>(_ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 36) { buffer in
            var count = 0
            func put(_ byte: UInt8) {
                buffer[count] = byte
                count += 1
            }
            func digit(_ value: UInt8) -> UInt8 { value < 10 ? 0x30 + value : 0x57 + value }
            put(0x57)
            put(0x2F)
            put(0x22)
            withBytes { bytes in
                for byte in bytes {
                    put(digit(byte >> 4))
                    put(digit(byte & 15))
                }
            }
            put(0x22)
            return body(UnsafeBufferPointer(buffer))
        }
    }

    // MARK: SQL

    /// The digest of a connection, whose memory is reused for every row.
    private final class Scratch {
        var digest = RowDigest()
    }

    /// Adds the SQL function `outpost_digest` to a connection, which returns the ETag of its arguments.
    ///
    /// It uses SQLite's C interface, because the function is called for each row of a page. Registration fails only
    /// if memory is exhausted. A statement that calls the function then reports the error.
    static func register(in connection: OpaquePointer?) {
        _ = sqlite3_create_function_v2(
            connection, "outpost_digest", -1, SQLITE_UTF8 | SQLITE_DETERMINISTIC,
            Unmanaged.passRetained(Scratch()).toOpaque(),
            { context, count, values in
                guard let data = sqlite3_user_data(context) else { return }
                let scratch = Unmanaged<Scratch>.fromOpaque(data).takeUnretainedValue()
                scratch.digest.reset()
                scratch.digest.add(values, count: Int(count))
                scratch.digest.withETag { bytes in
                    bytes.withMemoryRebound(to: CChar.self) {
                        sqlite3_result_text(context, $0.baseAddress, Int32($0.count), Accumulator.transient)
                    }
                }
            }, nil, nil, { data in if let data { Unmanaged<Scratch>.fromOpaque(data).release() } })
    }

    private mutating func add(_ values: UnsafeMutablePointer<OpaquePointer?>?, count: Int) {
        for index in 0..<count { add(sqliteValue: values?[index]) }
    }
}
