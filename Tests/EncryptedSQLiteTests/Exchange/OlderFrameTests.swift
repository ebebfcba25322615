import CSQLite
import Foundation
import Secrets
import Testing

@testable import EncryptedSQLite

@Suite("Frames of an older log, or of a rolled back transaction, are errors in the live log")
struct OlderFrameTests {
    private let key = EncryptionKey.generate()

    /// Returns a database with two equal tables of one page each, and an empty log.
    private func database(_ folder: Folder) throws -> Connection {
        let database = try folder.database(key: key)
        try database.execute(
            """
            PRAGMA wal_autocheckpoint = 0;
            CREATE TABLE admins(id INTEGER PRIMARY KEY, name TEXT); INSERT INTO admins VALUES (1, 'root'), (2, 'ops');
            CREATE TABLE guests(id INTEGER PRIMARY KEY, name TEXT);
            INSERT INTO guests VALUES (1, 'visitor'), (2, 'mallory');
            """)
        return database
    }

    private func log(_ folder: Folder) throws -> Data { try #require(try folder.contents()["a.db-wal"]) }

    private func page(_ frame: Data) -> UInt32 { frame.prefix(4).reduce(0) { $0 << 8 | UInt32($1) } }

    private func rootPage(_ table: String, _ database: Connection) throws -> UInt32 {
        UInt32(try database.values("SELECT rootpage FROM sqlite_master WHERE name = '\(table)'").first ?? "") ?? 0
    }

    @Test("A page of an older log is not shown as rows of another table (C3)", arguments: [true, false])
    func olderLog(withHeader: Bool) throws {
        let folder = try Folder()
        let database = try database(folder)
        try database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        for number in 0..<12 { try database.execute("UPDATE guests SET name = 'visitor\(number)' WHERE id = 1") }
        let older = try log(folder)
        try database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        for number in 0..<12 { try database.execute("UPDATE admins SET name = 'root\(number)' WHERE id = 1") }
        let live = try log(folder)
        let last = live.frameCount - 1
        #expect(page(live.frame(last, withHeader: true)) != page(older.frame(last, withHeader: true)))
        var altered = live
        altered.setFrame(last, to: older.frame(last, withHeader: withHeader), withHeader: withHeader)
        try overwrite(folder.path("a.db-wal"), at: 0, with: altered)
        let other = try Connection.encrypted(folder.path("a.db"))
        #expect { try other.values("SELECT name FROM admins") } throws: { ($0 as? SQLiteFailure)?.code == damagedPage }
        let found = try EncryptedDatabase.verify(at: folder.path("a.db")).map(\.expected)
        #expect(found == [withHeader ? .newestCommits : .logFrame])
        // A checkpoint does not make the frame genuine.
        #expect(throws: SQLiteFailure.self) { try other.execute("PRAGMA wal_checkpoint(FULL)") }
        #expect(throws: SQLiteFailure.self) { try other.values("SELECT name FROM admins") }
        try overwrite(folder.path("a.db-wal"), at: 0, with: live)
        #expect(try other.values("SELECT name FROM admins") == ["root11", "ops"])
    }

    @Test("A frame that was rolled back, with the salts of this log, is not shown as another page")
    func rolledBack() throws {
        let folder = try Folder()
        let database = try database(folder)
        try database.execute("CREATE TABLE big(id INTEGER PRIMARY KEY, body BLOB); PRAGMA cache_size = 5")
        try database.execute(
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 60) "
                + "INSERT INTO big SELECT i, zeroblob(3000) FROM n")
        let before = try log(folder).frameCount
        try database.execute("BEGIN; UPDATE guests SET name = name || '!'; UPDATE big SET body = randomblob(3000)")
        let spilled = try log(folder)
        try database.execute("ROLLBACK")
        let (guests, admins) = (try rootPage("guests", database), try rootPage("admins", database))
        let frame = try #require(
            (before..<spilled.frameCount).first { page(spilled.frame($0, withHeader: true)) == guests })
        for number in 0...(frame - before) {
            try database.execute("UPDATE admins SET name = 'root\(number)' WHERE id = 1")
        }
        let live = try log(folder)
        #expect(page(live.frame(frame, withHeader: true)) == admins)
        #expect(live[16..<24] == Data(spilled.frame(frame, withHeader: true)[8..<16]))
        var altered = live
        altered.setFrame(frame, to: spilled.frame(frame, withHeader: true), withHeader: true)
        try overwrite(folder.path("a.db-wal"), at: 0, with: altered)
        let other = try Connection.encrypted(folder.path("a.db"))
        #expect { try other.values("SELECT name FROM admins") } throws: { ($0 as? SQLiteFailure)?.code == damagedPage }
        #expect(try EncryptedDatabase.verify(at: folder.path("a.db")) != [])
    }

    @Test("Damage to a frame before its checksum is rewritten ends the transaction without a commit")
    func damagedBeforeCommit() throws {
        let folder = try Folder()
        let database = try database(folder)
        try database.execute("PRAGMA cache_size = 5")
        try database.insert(0..<300)
        let before = try log(folder).frameCount
        // The pages spill and are changed again in place. Their checksums are written at the commit.
        try database.execute("BEGIN; UPDATE t SET body = body || 'one'")
        try database.execute("UPDATE t SET body = body || 'two' WHERE id < 20")
        let spilled = try log(folder)
        #expect(spilled.frameCount > before + 2)
        for frame in before..<spilled.frameCount {
            let place = Int(FileFormat.frameOffset(frame + 1)) + 100
            try overwrite(folder.path("a.db-wal"), at: place, with: Data([1, 2, 3]))
        }
        #expect(throws: SQLiteFailure.self) {
            try database.execute("UPDATE t SET body = body || 'three' WHERE id < 40; COMMIT")
        }
        try? database.execute("ROLLBACK")
        let copy = try folder.crashCopy()
        unlink(copy.path("a.db-shm"))
        try EncryptedDatabase.unlock(at: copy.path("a.db"), with: .key(key))
        let after = try Connection.encrypted(copy.path("a.db"))
        #expect(try after.values("SELECT count(*) FROM t WHERE body LIKE 'row%' AND body NOT LIKE '%one%'") == ["300"])
        #expect(try after.values("PRAGMA integrity_check") == ["ok"])
    }
}

@Suite("The log without shared memory and with an index of several regions")
struct LogIndexTests {
    @Test("In exclusive mode, with SQLite's own index, spills, savepoints and crashes work as usual")
    func exclusive() throws {
        let folder = try Folder()
        let key = EncryptionKey.generate()
        try folder.database(key: key).close()
        let database = try Connection.encrypted(folder.path("a.db"))
        try database.execute("PRAGMA locking_mode = EXCLUSIVE; PRAGMA cache_size = 6; PRAGMA wal_autocheckpoint = 0")
        try database.insert(0..<300)
        #expect(!folder.names.contains("a.db-shm"))
        for round in 0..<3 {
            try database.execute("BEGIN; UPDATE t SET body = 'round \(round) ' || body; SAVEPOINT s")
            try database.insert((1000 * (round + 1))..<(1000 * (round + 1) + 300))
            try database.execute("UPDATE t SET body = upper(body); ROLLBACK TO s")
            try database.execute("UPDATE t SET body = body || 'x'; COMMIT")
            if round == 1 { try database.execute("PRAGMA wal_checkpoint(RESTART)") }
        }
        #expect(try database.values("SELECT count(*) FROM t WHERE body LIKE 'round 2%xxx'") == ["300"])
        #expect(try database.values("PRAGMA integrity_check") == ["ok"])
        let copy = try folder.crashCopy()
        try EncryptedDatabase.unlock(at: copy.path("a.db"), with: .key(key))
        #expect(try EncryptedDatabase.verify(at: copy.path("a.db")) == [])
        let crashed = try Connection.encrypted(copy.path("a.db"))
        try crashed.execute("PRAGMA locking_mode = EXCLUSIVE")
        #expect(try crashed.values("SELECT count(*) FROM t WHERE body LIKE 'round 2%xxx'") == ["300"])
        #expect(EncryptedDatabase.lostLogs(besides: copy.path("a.db")) == [])
    }

    @Test("A connection that was exclusive for a while reads later writes of other connections")
    func exclusiveForAWhile() throws {
        let folder = try Folder()
        let first = try folder.database()
        try first.execute("PRAGMA locking_mode = EXCLUSIVE; PRAGMA wal_autocheckpoint = 0")
        for row in 0..<30 { try first.execute("INSERT INTO t VALUES (\(row), 'first')") }
        try first.execute("PRAGMA locking_mode = NORMAL")
        #expect(try first.values("SELECT count(*) FROM t") == ["30"])
        let second = try Connection.encrypted(folder.path("a.db"))
        try second.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        for row in 30..<80 { try second.execute("INSERT INTO t VALUES (\(row), 'second')") }
        #expect(try first.values("SELECT count(*) FROM t") == ["80"])
        try first.execute("INSERT INTO t VALUES (100, 'first')")
        #expect(try second.values("SELECT count(*) FROM t") == ["81"])
    }

    @Test("A log with more frames than one index region is read, written and recovered")
    func largeLog() throws {
        let folder = try Folder(inMemory: true)
        let key = EncryptionKey.generate()
        let database = try folder.database(key: key)
        try database.execute("PRAGMA wal_autocheckpoint = 0; PRAGMA synchronous = OFF; PRAGMA cache_size = 50")
        for round in 0..<5 { try database.insert((20_000 * round)..<(20_000 * (round + 1))) }
        let log = try #require(try folder.contents()["a.db-wal"])
        #expect(log.frameCount > 4062)
        let other = try Connection.encrypted(folder.path("a.db"))
        #expect(try other.values("SELECT count(*), max(id) FROM t") == ["100000", "99999"])
        try other.execute("UPDATE t SET body = 'new' WHERE id % 1000 = 0")
        #expect(try database.values("SELECT count(*) FROM t WHERE body = 'new'") == ["100"])
        let copy = try folder.crashCopy()
        unlink(copy.path("a.db-shm"))
        try EncryptedDatabase.unlock(at: copy.path("a.db"), with: .key(key))
        let crashed = try Connection.encrypted(copy.path("a.db"))
        #expect(try crashed.values("SELECT count(*) FROM t WHERE body = 'new'") == ["100"])
    }
}
