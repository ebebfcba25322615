import CSQLite
import Crypto
import FaultInjection
import Foundation
import Secrets

@testable import EncryptedSQLite

/// The result code for a page that is not the one sealed at its place.
let damagedPage: Int32 = 10 | 32 << 8

/// Returns pairs of frames or records: all pairs if `OUTPOST_PROOFS` is `all`, otherwise a sample determined by
/// a seed.
func chosenPairs(of count: Int, sample: Int, seed: UInt64) -> [(source: Int, target: Int)] {
    let all = (0..<count).flatMap { source in
        (0..<count).filter { $0 != source }.map { (source: source, target: $0) }
    }
    guard ProcessInfo.processInfo.environment["OUTPOST_PROOFS"] != "all" else { return all }
    var numbers = SeededNumbers(seed: seed)
    return Array(all.shuffled(using: &numbers).prefix(sample))
}

/// A database of six pages: page 1 and one page of each of five tables.
enum SixPages {
    static let tables = 5

    /// Returns a statement that changes one page, in rotation, and writes the transaction's number to it.
    static func change(_ number: Int) -> String {
        let page = number % (tables + 1)
        return page == 0 ? "PRAGMA user_version = \(number)" : "UPDATE t\(page) SET body = 'value \(number)'"
    }

    static func make(in folder: Folder, key: EncryptionKey, mode: String) throws -> Connection {
        try EncryptedDatabase.create(at: folder.path("a.db"), key: .key(key))
        let database = try Connection.encrypted(folder.path("a.db"))
        try database.execute("PRAGMA journal_mode = \(mode); PRAGMA wal_autocheckpoint = 0")
        for table in 1...tables {
            try database.execute(
                "CREATE TABLE t\(table)(id INTEGER PRIMARY KEY, body TEXT); INSERT INTO t\(table) VALUES (1, 'value 0')"
            )
        }
        try database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        return database
    }

    /// Returns the value in each page.
    static func values(_ database: Connection) throws -> [String] {
        let union = (1...tables).map { "SELECT body FROM t\($0)" }.joined(separator: " UNION ALL ")
        return try database.values("PRAGMA user_version") + database.values(union)
    }

    /// Returns the value in each page after a number of transactions.
    static func state(after count: Int) -> [String] {
        (0...tables).map { page in
            let last = (1...max(1, count)).last { $0 <= count && $0 % (tables + 1) == page } ?? 0
            return page == 0 ? "\(last)" : "value \(last)"
        }
    }
}

/// Another process that has a database open: it holds the locks by which SQLite detects other processes.
final class OtherProcess {
    private let process = Process()
    private let input = Pipe()

    static let isAvailable: Bool = {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["python3", "-c", ""]
        guard (try? process.run()) != nil else { return false }
        process.waitUntilExit()
        return process.terminationStatus == 0
    }()

    /// - Parameter path: A database with a log and its index.
    init(holding path: String) throws {
        // Take the SHARED lock of the database file, and the lock of processes that have mapped the index
        // (SQLite's os_unix.c).
        let script = """
            import fcntl, sys
            database, index = open(sys.argv[1], "r+b"), open(sys.argv[1] + "-shm", "r+b")
            fcntl.lockf(database, fcntl.LOCK_SH, 510, 0x40000002)
            fcntl.lockf(index, fcntl.LOCK_SH, 1, 128)
            print("ready", flush=True)
            sys.stdin.read()
            """
        let output = Pipe()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["python3", "-c", script, path]
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        guard output.fileHandleForReading.availableData.starts(with: Data("ready".utf8)) else {
            throw SQLiteFailure(code: SQLITE_CANTOPEN, message: "the other process did not start")
        }
    }

    deinit {
        try? input.fileHandleForWriting.close()
        process.waitUntilExit()
    }
}

extension Data {
    /// Returns the bytes of a log frame by its index from 0, with its header or only its page.
    func frame(_ index: Int, withHeader: Bool) -> Data {
        let range = Self.frameRange(index, withHeader: withHeader)
        return Data(self[startIndex + range.lowerBound..<startIndex + range.upperBound])
    }

    mutating func setFrame(_ index: Int, to bytes: Data, withHeader: Bool) {
        let range = Self.frameRange(index, withHeader: withHeader)
        replaceSubrange(startIndex + range.lowerBound..<startIndex + range.upperBound, with: bytes)
    }

    private static func frameRange(_ index: Int, withHeader: Bool) -> Range<Int> {
        let start = Int(FileFormat.frameOffset(index + 1))
        return start + (withHeader ? 0 : FileFormat.frameHeaderSize)..<start + FileFormat.frameSize
    }

    var frameCount: Int { (count - FileFormat.logHeaderSize) / FileFormat.frameSize }
}

/// Overwrites bytes of a file in place, as an attacker with write access to an open database could.
func overwrite(_ path: String, at offset: Int, with bytes: Data) throws {
    let file = try Foundation.FileHandle(forWritingTo: URL(fileURLWithPath: path))
    try file.seek(toOffset: UInt64(offset))
    try file.write(contentsOf: bytes)
    try file.close()
}
