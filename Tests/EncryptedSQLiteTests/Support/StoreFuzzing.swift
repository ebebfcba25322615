import EncryptedSQLite
import Foundation
import Secrets

/// The body of the fuzzer `store`: it opens and reads an encrypted database, log or journal with arbitrary
/// bytes. It uses only public functions.
///
/// The first byte of an input selects the file. The rest is the file itself, or changes to an intact file. If
/// the system has a memory file system, the files are there and are not synced. A run then only costs the
/// opening, so a million runs take a few minutes. The key is a raw key, because a derivation would dominate the
/// cost.
final class StoreFuzzing {
    /// The outcome of an input.
    enum Outcome: Equatable {
        /// The input was refused.
        case refused
        /// The database was read and contains the written rows.
        case whole
        /// The database was read and contains rows that were never written, which must not happen.
        case wrong
    }

    /// The number of rows, one transaction each.
    static let rowCount = 6
    /// The file suffixes of a store.
    private static let suffixes = ["", "-wal", "-journal", "-shm"]

    private let folder: Folder
    private var path: String { folder.path("a.db") }
    private let key = EncryptionKey.generate()
    /// The files of a database with six transactions in its log, and of one with a hot journal.
    private let logged: [String: [UInt8]]
    private let journalled: [String: [UInt8]]

    /// - Throws: An error if the intact files cannot be created.
    init() throws {
        let key = key
        func files(mode: String, _ work: (Connection) throws -> Void) throws -> [String: [UInt8]] {
            let folder = try Folder()
            let database = try folder.database(key: key, mode: mode)
            try work(database)
            let contents = try folder.crashCopy().contents()
            var files: [String: [UInt8]] = [:]
            for suffix in Self.suffixes where suffix != "-shm" {
                files[suffix] = contents["a.db" + suffix].map(Array.init)
            }
            return files
        }
        logged = try files(mode: "wal") { database in
            try database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            for row in 0..<Self.rowCount { try database.execute("INSERT INTO t VALUES (\(row), 'row \(row)')") }
        }
        journalled = try files(mode: "delete") { database in
            for row in 0..<Self.rowCount { try database.execute("INSERT INTO t VALUES (\(row), 'row \(row)')") }
            // With a cache of one page, the change is in the file before the commit, and the journal is hot.
            try database.execute("PRAGMA cache_size = 1; BEGIN; UPDATE t SET body = 'changed'")
            try database.insert(100..<150)
        }
        folder = try Folder(inMemory: true)
    }

    /// Returns the fuzzer, or ends the program if the files cannot be created.
    static func whole() -> StoreFuzzing {
        do {
            return try StoreFuzzing()
        } catch {
            preconditionFailure("the files cannot be made: \(error)")
        }
    }

    /// Opens and reads the files with an input applied to them.
    func run(_ input: [UInt8]) -> Outcome {
        let choice = input.first ?? 0
        let files = choice & 4 == 0 ? logged : journalled
        let chosen = choice & 2 == 0 ? "" : choice & 4 == 0 ? "-wal" : "-journal"
        try? EncryptedDatabase.lock(at: path)
        removeLostLogs()
        for suffix in Self.suffixes {
            guard let content = files[suffix] else {
                unlink(path + suffix)
                continue
            }
            guard write(suffix == chosen ? changed(content, by: input) : content, to: path + suffix) else {
                return .refused
            }
        }
        do {
            try EncryptedDatabase.unlock(at: path, with: .key(key))
            let database = try Connection.encrypted(path)
            try database.execute("PRAGMA synchronous = OFF")
            let rows = try database.values("SELECT id || ' ' || body FROM t ORDER BY id")
            // A log that ends early loses only its last transactions. A truncated journal rolls back only a
            // part, as documented, so each row is from before or after the transaction.
            return files[""] == journalled[""] ? judgeJournal(rows) : judgeLog(rows)
        } catch {
            return .refused
        }
    }

    /// Removes the copies of logs that recovery kept, which would fill the folder.
    private func removeLostLogs() {
        for name in folder.names where name.hasPrefix("a.db-wal-lost-") { unlink(folder.path(name)) }
    }

    private func judgeLog(_ rows: [String]) -> Outcome {
        rows == (0..<rows.count).map { "\($0) row \($0)" } && rows.count <= Self.rowCount ? .whole : .wrong
    }

    private func judgeJournal(_ rows: [String]) -> Outcome {
        let written = (0..<Self.rowCount).flatMap { ["\($0) row \($0)", "\($0) changed"] }
        return rows.allSatisfy { row in
            written.contains(row) || (100..<150).contains { row.hasPrefix("\($0) row \($0)000") }
        } ? .whole : .wrong
    }

    private func changed(_ content: [UInt8], by input: [UInt8]) -> [UInt8] {
        guard let first = input.first else { return content }
        let rest = input.dropFirst()
        if first & 1 == 0 { return Array(rest) }
        var content = content
        guard !content.isEmpty else { return content }
        // Each change has four bytes: the position, and the bits to toggle there.
        for start in stride(from: rest.startIndex, to: rest.endIndex - rest.count % 4, by: 4) {
            let place = Int(rest[start]) << 16 | Int(rest[start + 1]) << 8 | Int(rest[start + 2])
            content[place % content.count] ^= rest[start + 3]
        }
        return content
    }

    /// Overwrites a file without a rename, which a file in memory does not need.
    private func write(_ bytes: [UInt8], to path: String) -> Bool {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        return Foundation.write(descriptor, bytes, bytes.count) == bytes.count
    }
}
