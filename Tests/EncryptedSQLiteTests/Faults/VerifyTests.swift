import CSQLite
import Foundation
import Secrets
import Testing

@testable import EncryptedSQLite

@Suite("Verifying a database finds altered bytes")
struct VerifyTests {
    private let key = EncryptionKey.generate()

    /// Returns the files of a database with a log or a hot journal, and with an unused page.
    private func files(mode: String) throws -> Folder {
        let folder = try Folder()
        let database = try folder.database(key: key, mode: mode)
        try database.insert(0..<60)
        try database.execute("DELETE FROM t WHERE id > 10")
        if mode == "wal" {
            try database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            for row in 100..<104 { try database.execute("INSERT INTO t VALUES (\(row), 'row')") }
        } else {
            try database.execute("PRAGMA cache_size = 1; BEGIN; UPDATE t SET body = body || 'changed'")
            try database.insert(200..<900)
        }
        let copy = try folder.crashCopy()
        try? FileManager.default.removeItem(atPath: copy.path("a.db-shm"))
        try EncryptedDatabase.unlock(at: copy.path("a.db"), with: .key(key))
        return copy
    }

    @Test(
        "A check of an intact database, log and journal finds no damage and writes nothing",
        arguments: ["wal", "delete"])
    func whole(mode: String) throws {
        let folder = try files(mode: mode)
        let before = try folder.contents()
        #expect(before.keys.contains(mode == "wal" ? "a.db-wal" : "a.db-journal"))
        #expect(try EncryptedDatabase.verify(at: folder.path("a.db")).map(\.description) == [])
        #expect(try folder.contents() == before)
    }

    /// Returns the expected result of verifying a flipped bit: the region that contains the bit, or an
    /// unreadable key block.
    private func expected(
        _ name: String, _ place: Int, in folder: Folder
    ) -> Result<[EncryptedDatabase.Damage], EncryptedDatabaseError> {
        func damage(_ offset: Int, _ expected: EncryptedDatabase.Damage.Expectation) -> EncryptedDatabase.Damage {
            EncryptedDatabase.Damage(path: folder.path(name), offset: Int64(offset), expected: expected)
        }
        switch (name, place) {
        case ("a.db-wal", 0..<32): return .success([damage(0, .logHeader)])
        case ("a.db-wal", _): return .success([damage(32 + (place - 32) / 4120 * 4120, .logFrame)])
        case ("a.db-journal", 0..<512): return .success([damage(0, .journalHeader)])
        case ("a.db-journal", _): return .success([damage(512 + (place - 512) / 4104 * 4104, .journalRecord)])
        case (_, 0..<512), (_, 1024..<1536): return .failure(.damagedKeyBlock(path: folder.path(name)))
        case (_, ..<4096): return .success([damage(0, .keyBlock)])
        default: return .success([damage(place / 4096 * 4096, .page)])
        }
    }

    @Test("A flipped bit in any file is found at its place", arguments: ["wal", "delete"])
    func flippedBits(mode: String) throws {
        let folder = try files(mode: mode)
        let journal = try folder.contents()["a.db-journal"] ?? Data(count: 12)
        let records = journal[8..<12].reduce(0) { $0 << 8 | Int($1) }
        #expect(records > 0 || mode == "wal")
        for (name, content) in try folder.contents() {
            // The places cover every region: the key block, each page, and the headers of the log, its frames
            // and the journal.
            var places = Array(stride(from: 0, to: content.count, by: 509))
            if name != "a.db" { places += Array(0..<60) }
            if name == "a.db-wal" {
                places += (0..<content.count).filter { $0 > 32 && ($0 - 32) % FileFormat.frameSize < 24 }
            }
            for place in places {
                // The number of records in a journal is not authenticated; fewer records mean a truncated
                // journal. SQLite never writes the area behind the records of a header.
                if name == "a.db-journal", (8..<12).contains(place) || place >= 512 + records * 4104 { continue }
                try edit(folder.path(name)) { $0[place] ^= 0x04 }
                let found = Result { () throws(EncryptedDatabaseError) -> [EncryptedDatabase.Damage] in
                    try EncryptedDatabase.verify(at: folder.path("a.db"))
                }
                #expect(found == expected(name, place, in: folder), "\(name), byte \(place)")
                try edit(folder.path(name)) { $0[place] ^= 0x04 }
            }
        }
        #expect(try EncryptedDatabase.verify(at: folder.path("a.db")) == [])
    }

    @Test("A truncated page, a locked file and a newer version are reported")
    func others() throws {
        let folder = try files(mode: "wal")
        let path = folder.path("a.db")
        try edit(path) { $0.removeLast(100) }
        #expect(try EncryptedDatabase.verify(at: path).map(\.expected) == [.page])
        try EncryptedDatabase.lock(at: path)
        #expect(throws: EncryptedDatabaseError.locked(path: path)) { try EncryptedDatabase.verify(at: path) }
        try EncryptedDatabase.unlock(at: path, with: .key(key))
        try edit(path) {
            $0[17] = 3
            $0[1535] ^= 1
        }
        #expect(throws: EncryptedDatabaseError.unsupportedFormat(path: path, version: 3)) {
            try EncryptedDatabase.verify(at: path)
        }
    }

    @Test("With the key, a flipped bit in a derivable field is reported as damage of the key block only")
    func constants() throws {
        let folder = try files(mode: "wal")
        let path = folder.path("a.db")
        let found = EncryptedDatabase.Damage(path: path, offset: 0, expected: .keyBlock)
        // The places are in the magic, the version, the header's zeros, and the slot's zeros and digest.
        for place in [3, 16, 17, 300, 1035, 1300, 1530, 3500] {
            try edit(path) { $0[place] ^= 0x20 }
            #expect(try EncryptedDatabase.verify(at: path, with: .key(key)) == [found], "byte \(place)")
            if place != 3500 {
                #expect(throws: EncryptedDatabaseError.self) { try EncryptedDatabase.unlock(at: path, with: .key(key)) }
            }
            #expect(throws: EncryptedDatabaseError.self) {
                try EncryptedDatabase.verify(at: path, with: .key(.generate()))
            }
            try edit(path) { $0[place] ^= 0x20 }
        }
        // Identity, sequence number and envelope cannot be reconstructed.
        for place in [24, 39, 1031, 1040, 1100, 1131] {
            try edit(path) { $0[place] ^= 0x20 }
            #expect(throws: EncryptedDatabaseError.damagedKeyBlock(path: path), "byte \(place)") {
                try EncryptedDatabase.verify(at: path, with: .key(key))
            }
            try edit(path) { $0[place] ^= 0x20 }
        }
        #expect(try EncryptedDatabase.verify(at: path, with: .key(key)) == [])
    }

    @Test("A file that is cut between two pages is too short, unless the log has the rest")
    func cut() throws {
        let folder = try files(mode: "wal")
        let path = folder.path("a.db")
        let size = try #require(try folder.contents()["a.db"]).count
        for pages in [1, 3] {
            let copy = try folder.crashCopy()
            let path = copy.path("a.db")
            try edit(path) { $0.removeLast(pages * FileFormat.pageSize) }
            let found = try EncryptedDatabase.verify(at: path, with: .key(key))
            #expect(found.map(\.expected) == [.rest])
            #expect(found.map(\.missingPages) == [pages])
            #expect(found.map(\.offset) == [Int64(size - pages * FileFormat.pageSize)])
            let words = pages == 1 ? "1 page is missing" : "3 pages are missing"
            #expect(found.first?.description.hasSuffix(words) == true)
        }
        // A crash that interrupts a checkpoint leaves all new data only in the log.
        try EncryptedDatabase.lock(at: path)
        let other = try Folder()
        let database = try other.database(key: key)
        try database.insert(0..<200)
        let copy = try other.crashCopy()
        #expect(try EncryptedDatabase.verify(at: copy.path("a.db"), with: .key(key)) == [])
        database.close()
    }

    @Test("Frames of an older log and of a rolled back transaction are no damage")
    func leftovers() throws {
        let folder = try Folder()
        let database = try folder.database(key: key)
        try database.execute("PRAGMA cache_size = 5; PRAGMA wal_autocheckpoint = 0")
        try database.insert(0..<400)
        // The log restarts, and its old frames remain behind the new ones.
        try database.execute("PRAGMA wal_checkpoint(RESTART); INSERT INTO t VALUES (1000, 'new')")
        #expect(try EncryptedDatabase.verify(at: folder.path("a.db")) == [])
        try database.execute(
            "BEGIN; UPDATE t SET body = body || 'spilled'; ROLLBACK; INSERT INTO t VALUES (1001, 'new')")
        #expect(try EncryptedDatabase.verify(at: folder.path("a.db")) == [])
    }
}
