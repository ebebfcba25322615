import EncryptedSQLite
import Foundation
import Secrets
import Testing

@Suite("No plain text reaches any file")
struct PrivacyTests {
    private let marker = "MARKERMARKER"

    private func leaks(_ folder: Folder) throws -> [String] {
        try folder.files(containing: marker) + folder.files(containing: "CREATE TABLE")
            + folder.files(containing: "SQLite format 3")
    }

    @Test("No plain text is in the files during a transaction, after a spill, or after VACUUM", arguments: journalModes)
    func noPlainText(mode: String) throws {
        let folder = try Folder()
        let database = try folder.database(mode: mode)
        try database.execute("PRAGMA cache_size = 10")
        try database.insert(0..<1000, marker: marker)
        #expect(try leaks(folder) == [])

        try database.execute("BEGIN; UPDATE t SET body = body || '\(marker)'")
        try database.insert(1000..<2000, marker: marker)
        #expect(folder.names.contains { $0.hasSuffix("-wal") || $0.hasSuffix("-journal") })
        #expect(try leaks(folder) == [])
        try database.execute("SAVEPOINT s; DELETE FROM t WHERE id % 2 = 0; ROLLBACK TO s; COMMIT")
        #expect(try leaks(folder) == [])

        try database.execute("DELETE FROM t WHERE id % 3 = 0; VACUUM; PRAGMA wal_checkpoint(TRUNCATE)")
        #expect(try leaks(folder) == [])
        #expect(try database.values("SELECT count(*) FROM t WHERE body LIKE '\(marker)%'") == ["1333"])
    }

    @Test("Without encryption, the same search finds the plain text")
    func control() throws {
        let folder = try Folder()
        let plain = try Connection(folder.path("a.db"), flags: 0x6)
        try plain.execute("PRAGMA journal_mode = wal; CREATE TABLE t(id INTEGER PRIMARY KEY, body TEXT)")
        try plain.insert(0..<1000, marker: marker)
        #expect(try folder.files(containing: marker) == ["a.db-wal"])
    }

    @Test("Rule 31: the checksums in a log are not those of plain pages")
    func maskedChecksums() throws {
        let folder = try Folder()
        let database = try folder.database()
        try database.insert(0..<10)
        #expect(try !headerChecksumFits(folder))

        let control = try Folder()
        let plain = try Connection(control.path("a.db"), flags: 0x6)
        try plain.execute("PRAGMA journal_mode = wal; CREATE TABLE t(id INTEGER PRIMARY KEY, body TEXT)")
        #expect(try headerChecksumFits(control))
    }

    /// Returns whether the checksum in a log's header is the one that SQLite computes from the 24 bytes before
    /// it.
    private func headerChecksumFits(_ folder: Folder) throws -> Bool {
        let log = try #require(try folder.contents()["a.db-wal"])
        func word(_ offset: Int) -> UInt32 {
            log[offset..<(offset + 4)].reduce(0) { $0 << 8 | UInt32($1) }
        }
        var sums: (UInt32, UInt32) = (0, 0)
        let isBigEndian = word(0) & 1 == 1
        for offset in stride(from: 0, to: 24, by: 8) {
            let first = isBigEndian ? word(offset) : word(offset).byteSwapped
            let second = isBigEndian ? word(offset + 4) : word(offset + 4).byteSwapped
            sums.0 = sums.0 &+ first &+ sums.1
            sums.1 = sums.1 &+ second &+ sums.0
        }
        return (word(24), word(28)) == sums
    }

    @Test("Only the owner can read database, log and journal", arguments: ["wal", "persist"])
    func permissions(mode: String) throws {
        let folder = try Folder()
        let database = try folder.database(mode: mode)
        try database.insert(0..<10)
        for name in folder.names {
            let attributes = try FileManager.default.attributesOfItem(atPath: folder.path(name))
            #expect(attributes[.posixPermissions] as? Int == 0o600, "\(name)")
        }
    }

    @Test("Equal pages are sealed differently each time")
    func freshNonces() throws {
        let folder = try Folder()
        let key = EncryptionKey.generate()
        try folder.database("a.db", key: key, mode: "delete").close()
        let before = try folder.contents()["a.db"]
        let database = try Connection.encrypted(folder.path("a.db"))
        try database.execute("VACUUM")
        let after = try folder.contents()["a.db"]
        #expect(before?.prefix(4096) == after?.prefix(4096))
        #expect(before?[4096..<4108] != after?[4096..<4108])
    }
}
