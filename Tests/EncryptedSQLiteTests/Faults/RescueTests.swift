import CSQLite
import Foundation
import Secrets
import Testing

@testable import EncryptedSQLite

@Suite("The readable parts of damaged files are copied without opening them")
struct RescueTests {
    private let key = EncryptionKey.generate()

    /// Returns a database with ten rows. The last four are only in the log, one transaction each.
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

    /// Copies the remaining content and reads the copy.
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

    @Test("A flipped bit anywhere in the log loses only its frame")
    func log() throws {
        let folder = try files()
        let all = (0..<10).map(String.init)
        #expect(try saved(folder) == (all, 0))
        // Each frame contains the table's page. The places are in the header of the log, and in number, mark,
        // checksum and page of a frame.
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
                // The last frame cannot be verified if the frame before it does not provide the checksum that
                // it continues.
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

    @Test("While a connection is open, nothing is copied and no other connection is opened")
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
