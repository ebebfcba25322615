import EncryptedSQLite
import Foundation
import Secrets
import Testing

private let damaged: Int32 = 10 | 32 << 8

@Suite("Altered files give errors, never wrong data")
struct TamperTests {
    /// Creates a closed database of a few hundred pages and returns its content.
    private func sample(_ folder: Folder) throws -> [String] {
        let database = try folder.database(mode: "delete")
        try database.insert(0..<1000)
        return try database.values("SELECT id, body FROM t")
    }

    @Test("A flipped bit anywhere in a page is SQLITE_IOERR_DATA", arguments: [0, 11, 12, 2000, 4079, 4080, 4095])
    func flippedBit(position: Int) throws {
        let folder = try Folder()
        _ = try sample(folder)
        let path = folder.path("a.db")
        try edit(path) { $0[4096 * 6 + position] ^= 0x10 }
        let database = try Connection.encrypted(path)
        #expect { try database.values("SELECT id, body FROM t") } throws: {
            ($0 as? SQLiteFailure)?.code == damaged
        }
    }

    @Test("Two swapped pages are SQLITE_IOERR_DATA (rule 31)")
    func swappedPages() throws {
        let folder = try Folder()
        _ = try sample(folder)
        let path = folder.path("a.db")
        try edit(path) { data in
            let fifth = Data(data[(4096 * 5)..<(4096 * 6)])
            let sixth = Data(data[(4096 * 6)..<(4096 * 7)])
            data.replaceSubrange((4096 * 5)..<(4096 * 6), with: sixth)
            data.replaceSubrange((4096 * 6)..<(4096 * 7), with: fifth)
        }
        let database = try Connection.encrypted(path)
        #expect { try database.values("SELECT id, body FROM t") } throws: {
            ($0 as? SQLiteFailure)?.code == damaged
        }
    }

    @Test("A page of zeros, a page of another database and a cut page are refused (rule 31)")
    func foreignPages() throws {
        let folder = try Folder()
        let content = try sample(folder)
        let path = folder.path("a.db")
        let whole = try Data(contentsOf: URL(fileURLWithPath: path))
        let other = try Folder()
        _ = try sample(other)
        let foreign = try Data(contentsOf: URL(fileURLWithPath: other.path("a.db")))
        let last = whole.count - 4096
        let versions: [(inout Data) -> Void] = [
            { $0.replaceSubrange((4096 * 6)..<(4096 * 7), with: Data(count: 4096)) },
            { $0.replaceSubrange((4096 * 6)..<(4096 * 7), with: foreign[(4096 * 6)..<(4096 * 7)]) },
            { $0.replaceSubrange(4096..<8192, with: foreign[4096..<8192]) },
            { $0.removeLast(1000) },
            { $0.removeLast(4096) },
            { $0.removeSubrange(last...) },
        ]
        for version in versions {
            try whole.write(to: URL(fileURLWithPath: path))
            try edit(path, version)
            #expect(throws: SQLiteFailure.self) {
                try Connection.encrypted(path).values("SELECT id, body FROM t")
            }
        }
        try whole.write(to: URL(fileURLWithPath: path))
        #expect(try Connection.encrypted(path).values("SELECT id, body FROM t") == content)
    }

    @Test("A flipped bit anywhere in a log loses only the commits from there on", arguments: 0..<24)
    func flippedBitInLog(seed: Int) throws {
        let folder = try Folder()
        let key = EncryptionKey.generate()
        let database = try folder.database(key: key)
        try database.execute("PRAGMA wal_autocheckpoint = 0")
        for row in 0..<8 { try database.execute("INSERT INTO t VALUES (\(row), 'row \(row)')") }
        let copy = try folder.crashCopy()
        let size = try #require(try copy.contents()["a.db-wal"]).count
        try FileManager.default.removeItem(atPath: copy.path("a.db-shm"))
        try edit(copy.path("a.db-wal")) { data in
            // Alternate between every field of the log's header and of a frame's header, and places in pages.
            let place = seed < 8 ? seed * 4 : 32 + 4120 * (seed % 5) + (seed < 16 ? (seed - 8) * 3 : seed * 170)
            data[place % size] ^= 1
        }
        try EncryptedDatabase.unlock(at: copy.path("a.db"), with: .key(key))
        let crashed = try Connection.encrypted(copy.path("a.db"))
        do {
            let rows = try crashed.values("SELECT id FROM t ORDER BY id")
            #expect(rows == (0..<rows.count).map(String.init))
            #expect(try crashed.values("PRAGMA integrity_check") == ["ok"])
        } catch let failure as SQLiteFailure {
            // The table itself may be lost too, because its commit is also in the log. SQLite refuses a log
            // with another format version in its header.
            #expect(failure.message.contains("no such table") || failure.code == 14)
        }
    }

    @Test("A journal record that was moved to another page is not played back (rule 31)")
    func movedJournalRecord() throws {
        let folder = try Folder()
        let key = EncryptionKey.generate()
        let database = try folder.database(key: key, mode: "delete")
        try database.insert(0..<500)
        try database.execute("PRAGMA cache_size = 5; BEGIN; UPDATE t SET body = body || 'changed'")
        let copy = try folder.crashCopy()
        try edit(copy.path("a.db-journal")) { $0[512 + 3] ^= 1 }
        try EncryptedDatabase.unlock(at: copy.path("a.db"), with: .key(key))
        let crashed = try Connection.encrypted(copy.path("a.db"))
        // The first record is refused, so nothing is rolled back. The result must not pass as an intact
        // database.
        let check = (try? crashed.values("PRAGMA integrity_check")) ?? ["error"]
        let rows = (try? crashed.values("SELECT count(*) FROM t WHERE body LIKE 'row%'")) ?? ["error"]
        #expect(check != ["ok"] || rows == ["500"])
    }

    @Test(
        "A journal with a forged database size does not fill the disk", arguments: [12, 16, 17, 20, 24, 28])
    func forgedJournalHeader(position: Int) throws {
        let folder = try Folder()
        let key = EncryptionKey.generate()
        let database = try folder.database(key: key, mode: "delete")
        try database.insert(0..<500)
        try database.execute("PRAGMA cache_size = 5; BEGIN; UPDATE t SET body = body || 'changed'")
        let copy = try folder.crashCopy()
        let size = try #require(try copy.contents()["a.db"]).count
        try edit(copy.path("a.db-journal")) { $0[position] ^= 0x40 }
        try EncryptedDatabase.unlock(at: copy.path("a.db"), with: .key(key))
        // The effect is the same as deleting the journal: the changes before the crash remain, and the
        // integrity check reports them.
        _ = try? Connection.encrypted(copy.path("a.db")).values("SELECT count(*) FROM t")
        #expect(try #require(try copy.contents()["a.db"]).count <= size)
    }
}
