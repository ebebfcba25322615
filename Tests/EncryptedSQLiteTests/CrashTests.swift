import EncryptedSQLite
import Foundation
import Secrets
import Testing

@Suite("A crash loses no committed data and keeps no uncommitted data")
struct CrashTests {
    @Test("Files copied during a transaction recover to the last commit", arguments: journalModes)
    func midTransaction(mode: String) throws {
        let folder = try Folder()
        let key = EncryptionKey.generate()
        let database = try folder.database(key: key, mode: mode)
        try database.execute("PRAGMA cache_size = 8; PRAGMA wal_autocheckpoint = 50")
        try database.insert(0..<1500)
        let committed = try database.values("SELECT count(*), sum(length(body)) FROM t")
        try database.execute("BEGIN; UPDATE t SET body = body || 'changed' WHERE id % 2 = 0")
        try database.insert(2000..<3000)
        let copy = try folder.crashCopy()
        try database.execute("COMMIT")
        let after = try database.values("SELECT count(*), sum(length(body)) FROM t")
        let afterCopy = try folder.crashCopy()

        for (crashed, expected) in [(copy, committed), (afterCopy, after)] {
            try EncryptedDatabase.unlock(at: crashed.path("a.db"), with: .key(key))
            let again = try Connection.encrypted(crashed.path("a.db"))
            #expect(try again.values("SELECT count(*), sum(length(body)) FROM t") == expected)
            #expect(try again.values("PRAGMA integrity_check") == ["ok"])
        }
    }

    @Test("A log cut at any byte recovers to a commit", arguments: [0, 1, 31, 32, 33, 55, 56, 4000, 4151, 4152, 4153])
    func tornLog(from end: Int) throws {
        let folder = try Folder()
        let key = EncryptionKey.generate()
        let database = try folder.database(key: key)
        try database.execute("PRAGMA wal_autocheckpoint = 0; PRAGMA wal_checkpoint(TRUNCATE)")
        for row in 0..<5 { try database.execute("INSERT INTO t VALUES (\(row), 'row')") }
        let copy = try folder.crashCopy()
        try FileManager.default.removeItem(atPath: copy.path("a.db-shm"))
        try edit(copy.path("a.db-wal")) { $0.removeLast(end) }
        try EncryptedDatabase.unlock(at: copy.path("a.db"), with: .key(key))
        let again = try Connection.encrypted(copy.path("a.db"))
        let expected = 5 - (end + 4119) / 4120
        #expect(try again.values("SELECT count(*) FROM t") == ["\(expected)"])
        #expect(try again.values("PRAGMA integrity_check") == ["ok"])
        try again.execute("INSERT INTO t VALUES (100, 'after')")
        #expect(try again.values("SELECT count(*) FROM t") == ["\(expected + 1)"])
    }

    @Test("A log with a half-written last frame recovers to the commit before")
    func tornFrame() throws {
        let folder = try Folder()
        let key = EncryptionKey.generate()
        let database = try folder.database(key: key)
        try database.insert(0..<100)
        try database.execute("PRAGMA wal_checkpoint(TRUNCATE); INSERT INTO t VALUES (1000, 'one')")
        try database.execute("INSERT INTO t VALUES (1001, 'two')")
        let copy = try folder.crashCopy()
        try FileManager.default.removeItem(atPath: copy.path("a.db-shm"))
        try edit(copy.path("a.db-wal")) { data in
            let half = data.count - 2000
            data.replaceSubrange(half..., with: Data(count: 2000))
        }
        try EncryptedDatabase.unlock(at: copy.path("a.db"), with: .key(key))
        let again = try Connection.encrypted(copy.path("a.db"))
        #expect(try again.values("SELECT max(id) FROM t") == ["1000"])
    }

    @Test("A journal torn before its sync leaves the database as it was", arguments: [100, 3000, 4100])
    func tornJournal(cut: Int) throws {
        let folder = try Folder()
        let key = EncryptionKey.generate()
        let database = try folder.database(key: key, mode: "delete")
        try database.insert(0..<200)
        let before = try folder.contents()["a.db"]
        try database.execute("BEGIN; UPDATE t SET body = 'x' WHERE id < 100")
        let copy = try folder.crashCopy()
        // No page was spilled: the pages of the database are unchanged.
        #expect(try copy.contents()["a.db"] == before)
        try edit(copy.path("a.db-journal")) { $0.removeLast(min(cut, $0.count)) }
        try EncryptedDatabase.unlock(at: copy.path("a.db"), with: .key(key))
        let again = try Connection.encrypted(copy.path("a.db"))
        #expect(try again.values("SELECT count(*) FROM t WHERE body LIKE 'row%'") == ["200"])
        #expect(try again.values("PRAGMA integrity_check") == ["ok"])
    }

    @Test(
        "A torn first page is repaired from the log or the journal",
        arguments: ["wal", "delete"])
    func tornFirstPage(mode: String) throws {
        let folder = try Folder()
        let key = EncryptionKey.generate()
        let database = try folder.database(key: key, mode: mode)
        try database.insert(0..<300)
        if mode == "delete" {
            // The journal contains page 1 because of the new table. Changes that exceed the cache make the
            // journal hot.
            try database.execute(
                "PRAGMA cache_size = 5; BEGIN; CREATE TABLE u(x); UPDATE t SET body = body || 'changed'")
        }
        let copy = try folder.crashCopy()
        try? FileManager.default.removeItem(atPath: copy.path("a.db-shm"))
        try edit(copy.path("a.db")) { $0.replaceSubrange(4096..<4608, with: Data(count: 512)) }
        try EncryptedDatabase.unlock(at: copy.path("a.db"), with: .key(key))
        let again = try Connection.encrypted(copy.path("a.db"))
        #expect(try again.values("SELECT count(*) FROM t WHERE body NOT LIKE '%changed'") == ["300"])
        #expect(try again.values("PRAGMA integrity_check") == ["ok"])
    }

    @Test("Rule 31: a forged shared-memory index is not trusted after a crash")
    func forgedIndex() throws {
        let folder = try Folder()
        let key = EncryptionKey.generate()
        let database = try folder.database(key: key)
        try database.insert(0..<500)
        let copy = try folder.crashCopy()
        try edit(copy.path("a.db-shm")) { data in
            for index in data.indices { data[index] = UInt8(truncatingIfNeeded: index &* 31) }
        }
        try EncryptedDatabase.unlock(at: copy.path("a.db"), with: .key(key))
        let again = try Connection.encrypted(copy.path("a.db"))
        #expect(try again.values("SELECT count(*) FROM t") == ["500"])
        #expect(try again.values("PRAGMA integrity_check") == ["ok"])
    }
}
