import Crypto
import Foundation
import GRDB
import Secrets

/// Seals values of the tables with their place as associated data, so that two sealed values cannot be swapped
/// (`design-review.md` 39).
struct Sealing: Sendable {
    private let cipher: RecordCipher

    init(_ keys: ServerKeys) { cipher = keys.cipher(.records) }

    func seal(_ bytes: [UInt8], table: String, column: String, key: String) throws -> Data {
        Data(try cipher.seal(bytes, context: Self.context(table, column, key)))
    }

    func seal(_ bytes: [UInt8]?, table: String, column: String, key: String) throws -> Data? {
        try bytes.map { try seal($0, table: table, column: column, key: key) }
    }

    func open(_ sealed: Data?, table: String, column: String, key: String) throws -> [UInt8]? {
        guard let sealed else { return nil }
        do {
            return try cipher.open(sealed, context: Self.context(table, column, key))
        } catch {
            throw ServerStateError.sealedValue(table: table, key: key)
        }
    }

    func openText(_ sealed: Data?, table: String, column: String, key: String) throws -> String? {
        try open(sealed, table: table, column: column, key: key).map { String(decoding: $0, as: UTF8.self) }
    }

    private static func context(_ parts: String...) -> [UInt8] {
        parts.flatMap { part in
            let bytes = Array(part.utf8)
            return withUnsafeBytes(of: UInt32(bytes.count).bigEndian) { Array($0) } + bytes
        }
    }
}

extension Row {
    /// The bytes of a column that may be null.
    func bytes(_ column: String) -> [UInt8]? { (self[column] as Data?).map { Array($0) } }

    /// The moment of a column that may be null.
    func moment(_ column: String) -> ServerInstant? {
        (self[column] as Int64?).map { ServerInstant(rawValue: $0) }
    }
}

/// Lists of short texts in one column.
enum ListText {
    static func write(_ texts: [String]) -> String { texts.joined(separator: "\n") }
    static func read(_ text: String) -> [String] { text.split(separator: "\n").map(String.init) }
}
