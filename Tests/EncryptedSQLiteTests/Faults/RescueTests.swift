import CSQLite
import Foundation
import Secrets
import Testing

@testable import EncryptedSQLite

@Suite("What is left of damaged files is copied without opening them")
struct RescueTests {
    private let key = EncryptionKey.generate()

    /// A database with ten rows, of which the last four are in the log alone, a transaction each.
    private func files() throws -> Folder {
        let folder = try Folder()
        let database = try folder.database(key: key)
        for row in 0..<6 { try database.execute("INSERT INTO t VALUES (\(row), 'row')") }
        try database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        for row in 6..<10 { try database.execute("INSERT INTO t VALUES (\(row), 'row')") }
        let copy = try folder.crashCopy()
        try? FileManager.default.removeItem(atPath: copy.path("a.db-shm"))
        return copy
    }

    /// Copies what is left, and reads it.
    private func saved(_ folder: Folder) throws -> (rows: [String], leftOut: Int) {
        let before = try folder.contents()
        defer { unlink(folder.path("copy.db")) }
        let exclusive = try ExclusiveDatabase(path: folder.path("a.db"))
        let leftOut = try exclusive.copyContent(to: folder.path("copy.db"), openedWith: .key(key))
        var after = try folder.contents()
        after["copy.db"] = nil
        #expect(after == before)
        try EncryptedDatabase.unlock(at: folder.path("copy.db"), with: .key(key))
        #expect(try EncryptedDatabase.verify(at: folder.path("copy.db")) == [])
        let database = try Connection.encrypted(folder.path("copy.db"))
        defer {
            database.close()
            for suffix in ["-wal", "-shm"] { unlink(folder.path("copy.db" + suffix)) }
        }
        #expect(try database.values("PRAGMA integrity_check") == ["ok"])
        return (try database.values("SELECT id FROM t ORDER BY id"), leftOut)
    }

    @Test("A flipped bit anywhere in the log takes its frame along, and nothing behind it")
    func log() throws {
        let folder = try files()
        let all = (0..<10).map(String.init)
        #expect(try saved(folder) == (all, 0))
        // Each frame has the page of the table anew. Header of the log, then number, mark and checksum of a frame, and its page.
        for place in [0, 5, 17, 27] {
            try edit(folder.path("a.db-wal")) { $0[place] ^= 0x20 }
            #expect(try saved(folder) == (all, 0), "byte \(place)")
            try edit(folder.path("a.db-wal")) { $0[place] ^= 0x20 }
        }
        for frame in 0..<3 {
            for place in [1, 6, 9, 20, 24, 2000] {
                let place = 32 + frame * FileFormat.frameSize + place
                try edit(folder.path("a.db-wal")) { $0[place] ^= 0x20 }
                let found = try saved(folder)
                // Where the frame before the last does not tell what the last goes on from, nothing vouches for that.
                if frame == 2, found.leftOut == 2 {
                    #expect(found.rows == Array(all.prefix(8)))
                } else {
                    #expect(found == (all, 1), "frame \(frame), byte \(place)")
                }
                try edit(folder.path("a.db-wal")) { $0[place] ^= 0x20 }
            }
        }
        try edit(folder.path("a.db-wal")) { $0[32 + 3 * FileFormat.frameSize + 99] ^= 1 }
        #expect(try saved(folder) == (Array(all.dropLast()), 1))
    }

    @Test("While a connection is open nothing is copied, and no connection is opened meanwhile")
    func exclusive() throws {
        let folder = try files()
        let path = folder.path("a.db")
        try EncryptedDatabase.unlock(at: path, with: .key(key))
        let database = try Connection.encrypted(path)
        #expect(try database.values("SELECT count(*) FROM t") == ["10"])
        #expect(throws: EncryptedDatabaseError.busy(path: path)) { try ExclusiveDatabase(path: path) }
        database.close()
        var exclusive: ExclusiveDatabase? = try ExclusiveDatabase(path: path)
        let second = try Connection.encrypted(path)
        try second.execute("PRAGMA busy_timeout = 10")
        #expect(throws: SQLiteFailure.self) { try second.values("SELECT count(*) FROM t") }
        withExtendedLifetime(exclusive) {}
        exclusive = nil
        #expect(try second.values("SELECT count(*) FROM t") == ["10"])
    }
}
