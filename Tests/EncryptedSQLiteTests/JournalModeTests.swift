import CSQLite
import EncryptedSQLite
import Foundation
import Secrets
import Testing

@Suite("SQLite works through the encrypting VFS as usual")
struct JournalModeTests {
    @Test(
        "Every journal mode keeps committed changes and rolls back uncommitted ones",
        arguments: journalModes + ["memory", "off"])
    func everyMode(mode: String) throws {
        let folder = try Folder()
        let database = try folder.database(mode: mode)
        #expect(try database.values("PRAGMA journal_mode") == [mode])
        try database.insert(0..<3000)
        try database.execute("CREATE INDEX i ON t(body)")
        try database.execute("UPDATE t SET body = body || 'x' WHERE id % 3 = 0; DELETE FROM t WHERE id % 5 = 0")
        if mode != "off" {
            try database.execute("BEGIN; DELETE FROM t; ROLLBACK")
        }
        #expect(try database.values("SELECT count(*) FROM t") == ["2400"])
        #expect(try database.values("PRAGMA integrity_check") == ["ok"])
        database.close()

        let again = try Connection.encrypted(folder.path("a.db"))
        #expect(try again.values("SELECT count(*), sum(id % 3 = 0) FROM t WHERE body LIKE 'row%'") == ["2400", "800"])
        #expect(try again.values("PRAGMA integrity_check") == ["ok"])
    }

    @Test("A savepoint is rolled back after its pages were spilled", arguments: journalModes)
    func savepointWithSpill(mode: String) throws {
        let folder = try Folder()
        let database = try folder.database(mode: mode)
        try database.execute("PRAGMA cache_size = 10")
        try database.insert(0..<2000)
        let before = try database.values("SELECT count(*), sum(length(body)) FROM t")
        try database.execute("BEGIN")
        try database.insert(2000..<2500)
        let inside = try database.values("SELECT count(*), sum(length(body)) FROM t")
        try database.execute("SAVEPOINT s; UPDATE t SET body = upper(body) || 'more'; DELETE FROM t WHERE id % 2 = 0")
        try database.insert(5000..<7000)
        try database.execute("ROLLBACK TO s")
        #expect(try database.values("SELECT count(*), sum(length(body)) FROM t") == inside)
        #expect(try database.values("PRAGMA integrity_check") == ["ok"])
        try database.execute("ROLLBACK")
        #expect(try database.values("SELECT count(*), sum(length(body)) FROM t") == before)
        try database.execute("BEGIN; SAVEPOINT s; UPDATE t SET body = lower(body); ROLLBACK TO s")
        try database.insert(9000..<9500)
        try database.execute("COMMIT")
        #expect(try database.values("PRAGMA integrity_check") == ["ok"])
        let other = try Connection.encrypted(folder.path("a.db"))
        #expect(try other.values("SELECT count(*) FROM t") == ["2500"])
    }

    @Test("VACUUM works with temporary files on and off disk", arguments: journalModes, [0, 2])
    func vacuum(mode: String, temporaryStore: Int) throws {
        let folder = try Folder()
        let database = try folder.database(mode: mode)
        try database.execute("PRAGMA temp_store = \(temporaryStore); PRAGMA cache_size = 20")
        try database.insert(0..<3000)
        try database.execute("DELETE FROM t WHERE id % 2 = 0; VACUUM")
        #expect(try database.values("SELECT count(*) FROM t") == ["1500"])
        #expect(try database.values("PRAGMA integrity_check") == ["ok"])
        #expect(folder.names.allSatisfy { $0.hasPrefix("a.db") })
    }

    @Test("Full-text search, large values and incremental vacuum work")
    func features() throws {
        let folder = try Folder()
        let database = try folder.database()
        try database.execute("PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = DELETE; VACUUM")
        try database.execute("CREATE VIRTUAL TABLE f USING fts5(body); INSERT INTO f VALUES ('quick brown fox')")
        #expect(try database.values("SELECT rowid FROM f WHERE f MATCH 'brown'") == ["1"])
        try database.execute("INSERT INTO t VALUES (1, hex(randomblob(1000000))); DELETE FROM t")
        try database.execute("PRAGMA incremental_vacuum")
        #expect(try database.values("PRAGMA integrity_check") == ["ok"])
    }

    @Test("An unused page is no damage, so that a backup can copy it", arguments: journalModes)
    func holes(mode: String) throws {
        let folder = try Folder()
        let database = try folder.database(mode: mode)
        try database.execute("PRAGMA secure_delete = OFF; BEGIN")
        try database.insert(0..<500)
        try database.execute("DELETE FROM t WHERE id > 3; COMMIT")
        try database.insert(1000..<1003)
        try database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        database.close()
        let size = try Data(contentsOf: URL(fileURLWithPath: folder.path("a.db"))).count
        #expect(size % 4096 == 0)

        try EncryptedDatabase.create(at: folder.path("b.db"), key: .key(.generate()))
        let source = try Connection.encrypted(folder.path("a.db"))
        let target = try Connection.encrypted(folder.path("b.db"))
        let backup = sqlite3_backup_init(target.handle, "main", source.handle, "main")
        #expect(sqlite3_backup_step(backup, -1) == SQLITE_DONE)
        #expect(sqlite3_backup_finish(backup) == SQLITE_OK)
        #expect(try target.values("SELECT count(*) FROM t") == ["7"])
        #expect(try target.values("PRAGMA integrity_check") == ["ok"])
    }

    @Test("A backup from a plain database without reserved bytes is refused and changes nothing")
    func plainBackup() throws {
        let folder = try Folder()
        let plain = try Connection(folder.path("plain.db"), flags: SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE)
        try plain.execute("CREATE TABLE t(id INTEGER PRIMARY KEY, body TEXT)")
        try plain.insert(0..<1000)
        let target = try folder.database(mode: "delete")
        try target.insert(0..<10)
        let backup = sqlite3_backup_init(target.handle, "main", plain.handle, "main")
        #expect(sqlite3_backup_step(backup, -1) != SQLITE_DONE)
        sqlite3_backup_finish(backup)
        target.close()
        let again = try Connection.encrypted(folder.path("a.db"))
        #expect(try again.values("SELECT count(*) FROM t") == ["10"])
        #expect(try again.values("PRAGMA integrity_check") == ["ok"])
    }

    @Test("Rule 31: ATTACH opens a second encrypted database, and one transaction spans both", arguments: journalModes)
    func attach(mode: String) throws {
        let folder = try Folder()
        let first = try folder.database("a.db", mode: mode)
        try folder.database("b b?.db", mode: mode).close()
        try first.execute("ATTACH '\(EncryptedDatabase.uri(forPath: folder.path("b b?.db")))' AS b")
        try first.execute(
            "BEGIN; INSERT INTO t VALUES (1, 'MARKER one'); INSERT INTO b.t VALUES (2, 'MARKER two'); COMMIT")
        try first.execute("BEGIN; DELETE FROM t; DELETE FROM b.t; ROLLBACK")
        #expect(try first.values("SELECT body FROM t UNION ALL SELECT body FROM b.t") == ["MARKER one", "MARKER two"])
        #expect(try folder.files(containing: "MARKER") == [])
    }

    @Test("Readers and a writer on many connections see consistent data", arguments: ["wal", "delete"])
    func concurrency(mode: String) async throws {
        let folder = try Folder()
        let database = try folder.database(mode: mode)
        try database.insert(0..<1000)
        let path = folder.path("a.db")
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    for _ in 0..<30 {
                        // Opening reads the header without a lock, concurrently with the writer.
                        let reader = try Connection.encrypted(path)
                        #expect(try reader.values("SELECT sum(length(body) - length(body)) FROM t") == ["0"])
                    }
                }
            }
            group.addTask {
                let writer = try Connection.encrypted(path)
                for step in 0..<60 {
                    try writer.execute("UPDATE t SET body = 'row \(step)' WHERE id % 7 = \(step % 7)")
                    if step % 10 == 0 { try writer.execute("PRAGMA wal_checkpoint(PASSIVE)") }
                }
            }
            try await group.waitForAll()
        }
        #expect(try database.values("PRAGMA integrity_check") == ["ok"])
    }
}
