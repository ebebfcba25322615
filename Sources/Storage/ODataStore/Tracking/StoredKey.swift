import Foundation
import GRDB

/// The key of a row as one BLOB of its stored column values. The values can be decoded to look up the row or to
/// report its deletion.
///
/// Each value has one byte for its storage class (0 NULL, 1 INTEGER, 2 REAL, 3 TEXT, 4 BLOB), followed by eight
/// bytes in big-endian order: the integer, the bits of the real, or the length. The bytes of texts and blobs
/// follow.
package enum StoredKey {
    /// The SQL function that encodes its arguments as a key.
    package static let functionName = "outpost_key"

    /// Registers the SQL function.
    package static func register(in database: Database) {
        database.add(function: DatabaseFunction(functionName, pure: true) { encode($0) })
    }

    package static func encode(_ values: [DatabaseValue]) -> Data {
        var key = Data()
        for value in values {
            switch value.storage {
            case .null: append(0, 0, to: &key)
            case .int64(let number): append(1, UInt64(bitPattern: number), to: &key)
            case .double(let number): append(2, number.bitPattern, to: &key)
            case .string(let text):
                append(3, UInt64(text.utf8.count), to: &key)
                key.append(contentsOf: text.utf8)
            case .blob(let data):
                append(4, UInt64(data.count), to: &key)
                key.append(data)
            }
        }
        return key
    }

    private static func append(_ tag: UInt8, _ number: UInt64, to key: inout Data) {
        key.append(tag)
        withUnsafeBytes(of: number.bigEndian) { key.append(contentsOf: $0) }
    }

    /// Returns the values of a key; `nil` if the bytes are malformed.
    package static func decode(_ key: Data) -> [DatabaseValue]? {
        var values: [DatabaseValue] = []
        var rest = key[...]
        while let tag = rest.first {
            rest = rest.dropFirst()
            guard rest.count >= 8 else { return nil }
            let number = rest.prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            rest = rest.dropFirst(8)
            switch tag {
            case 0: values.append(.null)
            case 1: values.append(Int64(bitPattern: number).databaseValue)
            case 2: values.append(Double(bitPattern: number).databaseValue)
            case 3, 4:
                guard number <= UInt64(rest.count) else { return nil }
                let bytes = rest.prefix(Int(number))
                rest = rest.dropFirst(Int(number))
                if tag == 4 {
                    values.append(Data(bytes).databaseValue)
                } else {
                    guard let text = String(validating: bytes, as: UTF8.self) else { return nil }
                    values.append(text.databaseValue)
                }
            default: return nil
            }
        }
        return values
    }
}
