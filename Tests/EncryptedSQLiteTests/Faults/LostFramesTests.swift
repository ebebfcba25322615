import CSQLite
import EncryptedSQLite
import FaultInjection
import Foundation
import Secrets
import Testing

@Suite("Log frames that a read lost")
struct LostFramesTests {
    private let key = EncryptionKey.generate()

    /// The outcome of a transaction during which the disk was full for one statement.
    private struct Outcome {
        /// Whether only the statement failed and the transaction continued.
        var wentOn: Bool
        var isCommitted: Bool
        /// The rows after the end of the process.
        var rows: [String]
    }

    /// Returns a database with a log and a cache of ten pages, on a disk that can fail.
    private func logged() throws -> (folder: Folder, disk: FaultDisk, database: Connection) {
        let folder = try Folder(inMemory: true)
        try EncryptedDatabase.create(at: folder.path("a.db"), key: .key(key))
        let before = try Connection.encrypted(folder.path("a.db"))
        try before.execute("PRAGMA journal_mode = wal; CREATE TABLE t(id INTEGER PRIMARY KEY, body TEXT)")
        before.close()
        let disk = try FaultDisk(folder: folder.url.path)
        let database = try Connection.encrypted(folder.path("a.db"))
        try database.execute("PRAGMA wal_autocheckpoint = 0; PRAGMA synchronous = FULL; PRAGMA cache_size = 10")
        return (folder, disk, database)
    }

    /// Runs a transaction that exceeds the cache. The disk is full while one statement reads, and has space
    /// again afterwards.
    private func transaction(of rowCount: Int) throws -> Outcome {
        let (folder, disk, database) = try logged()
        try database.execute("INSERT INTO t VALUES (0, 'first'); BEGIN")
        try database.insert(1..<rowCount)
        disk.break(.diskFull(from: disk.operations + 1))
        // The statement can fail at any of several rows, so SQLite can roll it back alone. It also reads the
        // rows that it changes.
        let statement = Result { try database.execute("UPDATE t SET id = -id WHERE id > 0 AND id < 40") }
        disk.mend()
        let wentOn = (try? statement.get()) == nil && sqlite3_get_autocommit(database.handle) == 0
        let commit = Result { try database.execute("COMMIT") }
        let copy = try folder.crashCopy()
        try? FileManager.default.removeItem(atPath: copy.path("a.db-shm"))
        database.close()
        try EncryptedDatabase.unlock(at: copy.path("a.db"), with: .key(key))
        let after = try Connection.encrypted(copy.path("a.db"))
        #expect(try after.values("PRAGMA integrity_check") == ["ok"])
        return Outcome(
            wentOn: wentOn, isCommitted: (try? commit.get()) != nil,
            rows: try after.values("SELECT count(*), min(id) FROM t"))
    }

    @Test("A transaction that lost frames does not commit, and a committed one survives a crash")
    func commit() throws {
        FaultDisk.register()
        try EncryptedDatabase.stack(over: FaultDisk.vfsName)
        var wentOn = 0
        for rowCount in stride(from: 600, to: 1000, by: 17) {
            let outcome = try transaction(of: rowCount)
            if outcome.wentOn { wentOn += 1 }
            guard outcome.isCommitted else { continue }
            #expect(outcome.rows.first == "\(rowCount)", "\(rowCount) rows: \(outcome)")
        }
        #expect(wentOn > 5)
    }

    @Test("The next transactions of the connection are written as usual")
    func next() throws {
        FaultDisk.register()
        try EncryptedDatabase.stack(over: FaultDisk.vfsName)
        let (folder, disk, database) = try logged()
        for round in 0..<20 {
            try database.execute("BEGIN")
            try database.insert((1000 * round + 1)..<(1000 * round + 600 + 17 * round))
            disk.break(.diskFull(from: disk.operations + 1))
            try? database.execute("UPDATE t SET id = -id WHERE id > 0 AND id % 1000 < 40")
            disk.mend()
            try? database.execute("ROLLBACK")
            try database.execute("INSERT INTO t VALUES (\(1000 * round), 'kept')")
        }
        let copy = try folder.crashCopy()
        try? FileManager.default.removeItem(atPath: copy.path("a.db-shm"))
        database.close()
        try EncryptedDatabase.unlock(at: copy.path("a.db"), with: .key(key))
        let after = try Connection.encrypted(copy.path("a.db"))
        #expect(try after.values("SELECT count(*), max(id) FROM t") == ["20", "19000"])
    }
}
