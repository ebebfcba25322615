import CSQLite
import EncryptedSQLite
import FaultInjection
import Foundation
import Secrets
import Testing

@Suite("A failed sync")
struct FailedSyncTests {
    @Test("loses no later commit, even if the system has discarded its pages")
    func behind() throws {
        FaultDisk.register()
        try EncryptedDatabase.stack(over: FaultDisk.vfsName)
        let key = EncryptionKey.generate()
        let folder = try Folder(inMemory: true)
        try EncryptedDatabase.create(at: folder.path("a.db"), key: .key(key))
        let before = try Connection.encrypted(folder.path("a.db"))
        try before.execute("PRAGMA journal_mode = wal; CREATE TABLE t(id INTEGER PRIMARY KEY)")
        before.close()
        let disk = try FaultDisk(folder: folder.url.path)
        let database = try Connection.encrypted(folder.path("a.db"))
        try database.execute("PRAGMA wal_autocheckpoint = 0; PRAGMA synchronous = FULL; INSERT INTO t VALUES (1)")
        // As in bulk loading, transactions are not synced one by one (rule 4).
        try database.execute("PRAGMA synchronous = NORMAL; INSERT INTO t VALUES (2); PRAGMA synchronous = FULL")
        disk.break(.failedSync(at: disk.operations + 1))
        #expect(throws: SQLiteFailure.self) { try database.execute("INSERT INTO t VALUES (3)") }
        #expect(disk.fired.count == 1)
        try database.execute("INSERT INTO t VALUES (4)")
        // The power fails, and data that was not durable is lost.
        let rest = try Folder(inMemory: true)
        try disk.restart(into: rest.url.path, with: .nothing)
        try EncryptedDatabase.unlock(at: rest.path("a.db"), with: .key(key))
        let after = try Connection.encrypted(rest.path("a.db"))
        #expect(try after.values("SELECT id FROM t") == ["1", "2", "4"])
        after.close()
        database.close()
    }
}
