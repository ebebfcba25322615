import Crypto
import Foundation
import GRDB
import GRDBSQLite

/// A digest of what a row's columns hold: the ETag of rows that have no version of their own
/// (``ETagStorage/contentDigest``). Any change by anybody changes it.
///
/// SHA-256 over the stored values in the order of ``TableStorage/columns``, each as a byte for its storage
/// class (0 NULL, 1 INTEGER, 2 REAL, 3 TEXT, 4 BLOB), then eight bytes big-endian of the integer, the bits
/// of the real, or the length, then the bytes of text and blob; cut to sixteen bytes.
public struct RowDigest {
    /// What is not digested yet: most rows are digested at once.
    private var pending: [UInt8] = []
    private var hasher: SHA256?
    /// The bytes from which on values are digested as they come.
    private static let maxPending = 4096

    /// Makes a digest of no values.
    public init() { pending.reserveCapacity(512) }

    /// Adds the next column's value.
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

    /// Adds the next column's value as SQLite holds it: the same as its `DatabaseValue`, which need not be made.
    mutating func add(sqliteValue value: OpaquePointer?) {
        switch sqlite3_value_type(value) {
        case SQLITE_INTEGER: add(tag: 1, UInt64(bitPattern: sqlite3_value_int64(value)))
        case SQLITE_FLOAT: add(tag: 2, sqlite3_value_double(value).bitPattern)
        case SQLITE_TEXT:
            let start = sqlite3_value_text(value)
            // A value's text ends at its first zero, and is repaired where it is no UTF-8.
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

    /// Eight bytes at a time: most texts are, and each is asked.
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

    /// Adds NULL, an integer or the bits of a real.
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

    /// Forgets all values, and keeps the room for the next ones.
    private mutating func reset() {
        pending.removeAll(keepingCapacity: true)
        hasher = nil
    }

    /// The sixteen bytes.
    public func bytes() -> [UInt8] { withBytes { Array($0) } }

    private func withBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        var hasher = self.hasher ?? SHA256()
        pending.withUnsafeBytes { hasher.update(bufferPointer: $0) }
        return hasher.finalize().withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[..<16])) }
    }

    /// The weak ETag, quotes included: `W/"` and 32 hexadecimal digits.
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

    /// What a connection digests with: the room for one row is that for the next.
    private final class Scratch {
        var digest = RowDigest()
    }

    /// Adds the SQL function `outpost_digest` to a connection: the ETag of the values of its arguments.
    ///
    /// With SQLite's own interface, as it is called for each row of a page. It fails for lack of memory only; the
    /// statement that misses the function says so then.
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
