import Foundation
import Secrets
import ServerState

/// Seals values of the tables with their place as associated data, in the form of the SQLite driver.
struct PostgresSealing: Sendable {
    private let cipher: RecordCipher

    init(_ keys: ServerKeys) { cipher = keys.cipher(.records) }

    func seal(_ bytes: [UInt8], table: String, column: String, key: String) throws -> [UInt8] {
        Array(try cipher.seal(bytes, context: Self.context(table, column, key)))
    }

    func seal(_ bytes: [UInt8]?, table: String, column: String, key: String) throws -> [UInt8]? {
        try bytes.map { try seal($0, table: table, column: column, key: key) }
    }

    func open(_ sealed: [UInt8]?, table: String, column: String, key: String) throws -> [UInt8]? {
        guard let sealed else { return nil }
        do {
            return Array(try cipher.open(Data(sealed), context: Self.context(table, column, key)))
        } catch {
            throw ServerStateError.sealedValue(table: table, key: key)
        }
    }

    func openText(_ sealed: [UInt8]?, table: String, column: String, key: String) throws -> String? {
        try open(sealed, table: table, column: column, key: key).map { String(decoding: $0, as: UTF8.self) }
    }

    private static func context(_ parts: String...) -> [UInt8] {
        parts.flatMap { part in
            let bytes = Array(part.utf8)
            return withUnsafeBytes(of: UInt32(bytes.count).bigEndian) { Array($0) } + bytes
        }
    }
}

/// Lists of short texts in one column.
enum RoleList {
    static func write(_ texts: [String]) -> String { texts.joined(separator: "\n") }
    static func read(_ text: String) -> [String] { text.split(separator: "\n").map(String.init) }
}

/// Bytes as text.
enum Hexadecimal {
    static func text(_ bytes: [UInt8]) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
