import Crypto
import Foundation
import GRDB

/// A digest of what a row's columns hold: the ETag of rows that have no version of their own
/// (``ETagStorage/contentDigest``). Any change by anybody changes it.
///
/// SHA-256 over the stored values in the order of ``TableStorage/columns``, each as a byte for its storage
/// class (0 NULL, 1 INTEGER, 2 REAL, 3 TEXT, 4 BLOB), then eight bytes big-endian of the integer, the bits
/// of the real, or the length, then the bytes of text and blob; cut to sixteen bytes.
public struct RowDigest {
    private var hasher = SHA256()

    /// Makes a digest of no values.
    public init() {}

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

    /// Adds NULL, an integer or the bits of a real.
    private mutating func add(tag: UInt8, _ number: UInt64) {
        hasher.update(data: [tag])
        withUnsafeBytes(of: number.bigEndian) { hasher.update(bufferPointer: $0) }
    }

    private mutating func add(tag: UInt8, _ bytes: UnsafeRawBufferPointer) {
        add(tag: tag, UInt64(bytes.count))
        hasher.update(bufferPointer: bytes)
    }

    /// The sixteen bytes.
    public func bytes() -> [UInt8] { Array(hasher.finalize().prefix(16)) }

    /// The weak ETag, quotes included: `W/"` and 32 hexadecimal digits.
    public func etag() -> String {
        let digits = Array("0123456789abcdef".utf8)
        let text = bytes().flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
        return "W/\"\(String(decoding: text, as: UTF8.self))\""
    }
}
