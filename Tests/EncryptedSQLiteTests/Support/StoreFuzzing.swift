import EncryptedSQLite
import Foundation
import Secrets

/// What the fuzzer `store` runs for each input: an encrypted database, its log or its journal with any bytes
/// at all, opened and read. It uses public functions alone.
///
/// The first byte of an input chooses the file; the rest is the file itself, or changes to one that was whole.
final class StoreFuzzing {
    /// What came of an input.
    enum Outcome: Equatable {
        /// It was refused.
        case refused
        /// It was read, and holds what was written.
        case whole
        /// Something was read that nobody wrote. It must never happen.
        case wrong
    }

    /// How many rows are written, a transaction each.
    static let rowCount = 6
    private let whole: Folder
    private let attacked: Folder
    private let key = EncryptionKey.generate()

    /// - Throws: When the whole files cannot be made.
    init() throws {
        let folder = try Folder()
        let database = try folder.database(key: key)
        try database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        for row in 0..<Self.rowCount { try database.execute("INSERT INTO t VALUES (\(row), 'row \(row)')") }
        whole = try folder.crashCopy()
        try? FileManager.default.removeItem(atPath: whole.path("a.db-shm"))
        attacked = try Folder()
    }

    /// Opens and reads what an input makes of the files.
    func run(_ input: [UInt8]) throws -> Outcome {
        try EncryptedDatabase.lock(at: attacked.path("a.db"))
        for name in attacked.names { try FileManager.default.removeItem(atPath: attacked.path(name)) }
        for (name, content) in try whole.contents() {
            let isChosen = name == (input.first.map { $0 % 4 < 2 } ?? true ? "a.db" : "a.db-wal")
            let bytes = isChosen ? changed(content, by: input) : content
            try bytes.write(to: URL(fileURLWithPath: attacked.path(name)))
        }
        do {
            try EncryptedDatabase.unlock(at: attacked.path("a.db"), with: .key(key))
            let database = try Connection.encrypted(attacked.path("a.db"))
            let rows = try database.values("SELECT id || ' ' || body FROM t ORDER BY id")
            // A log that ends early loses its last transactions, and nothing in between.
            return rows == (0..<rows.count).map { "\($0) row \($0)" } && rows.count <= Self.rowCount ? .whole : .wrong
        } catch is SQLiteFailure {
            return .refused
        } catch is EncryptedDatabaseError {
            return .refused
        }
    }

    private func changed(_ content: Data, by input: [UInt8]) -> Data {
        guard let first = input.first else { return content }
        let rest = Array(input.dropFirst())
        if first % 2 == 0 { return Data(rest) }
        var content = content
        // Changes of four bytes each: where, and what is toggled there.
        for start in stride(from: 0, to: rest.count - rest.count % 4, by: 4) {
            let place = Int(rest[start]) << 16 | Int(rest[start + 1]) << 8 | Int(rest[start + 2])
            content[content.startIndex + place % content.count] ^= rest[start + 3]
        }
        return content
    }
}
