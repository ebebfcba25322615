import EncryptedSQLite
import Foundation
import Secrets
import Testing

/// `Format.md` is sufficient to write a decoder: `Tests/Decoder/decode.py` is one, and shares no code with this
/// package.
@Suite("A decoder written from the documentation reads the files")
struct DecoderTests {
    private static let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().appendingPathComponent("Decoder/decode.py").path

    /// Runs Python and returns whether it succeeded.
    @discardableResult
    private static func python(_ arguments: [String]) -> Bool {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["python3"] + arguments
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        guard (try? process.run()) != nil else { return false }
        process.waitUntilExit()
        return process.terminationStatus == 0
    }

    private static let hasPython = python(["-c", "import cryptography"])

    private static let missing: Comment =
        "python3 with the module cryptography is needed (Debian: python3-cryptography)"

    /// Decodes a copy of the current files and opens the result with plain SQLite.
    private func decoded(_ folder: Folder, key: String) throws -> (connection: Connection, folder: Folder) {
        let plain = try Folder()
        #expect(Self.python([Self.script, folder.path("a.db"), key, plain.path("plain.db")]))
        return (try Connection(plain.path("plain.db")), plain)
    }

    @Test("Database and log under a key", .enabled(if: hasPython, missing))
    func logged() throws {
        let folder = try Folder()
        let key = EncryptionKey.generate()
        let database = try folder.database(key: key)
        try database.insert(0..<500)
        try database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        for row in 500..<520 { try database.execute("INSERT INTO t VALUES (\(row), 'in the log')") }
        let expected = try database.values("SELECT id, body FROM t ORDER BY id")
        let (plain, decodedFolder) = try decoded(folder.crashCopy(), key: key.hexadecimal.reveal())
        #expect(decodedFolder.names.contains("plain.db-wal"))
        #expect(try plain.values("SELECT id, body FROM t ORDER BY id") == expected)
        #expect(try plain.values("PRAGMA integrity_check") == ["ok"])
    }

    @Test(
        "Database and hot journal under a passphrase, which plain SQLite rolls back", .enabled(if: hasPython, missing))
    func journaled() throws {
        let folder = try Folder()
        let passphrase = "correct horse grün"
        try EncryptedDatabase.create(at: folder.path("a.db"), key: .passphrase(Secret(passphrase)))
        let database = try Connection.encrypted(folder.path("a.db"))
        try database.execute("PRAGMA journal_mode = delete; CREATE TABLE t(id INTEGER PRIMARY KEY, body TEXT)")
        try database.insert(0..<500)
        let expected = try database.values("SELECT id, body FROM t ORDER BY id")
        // The spill syncs the journal and writes pages of the database.
        try database.execute("PRAGMA cache_size = 5; BEGIN; UPDATE t SET body = body || 'changed'")
        let (plain, files) = try decoded(folder.crashCopy(), key: "passphrase:" + passphrase)
        defer { withExtendedLifetime(files) {} }
        #expect(try plain.values("SELECT id, body FROM t ORDER BY id") == expected)
        #expect(try plain.values("PRAGMA integrity_check") == ["ok"])
    }

    @Test("Database and log of format 1, which release 0.1.0 wrote", .enabled(if: hasPython, missing))
    func firstFormat() throws {
        let folder = try Folder()
        let fixtures = URL(fileURLWithPath: Self.script).deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent("Fixtures/format-1")
        for (name, copy) in [("store.db", "a.db"), ("store.db-wal", "a.db-wal")] {
            try FileManager.default.copyItem(
                at: fixtures.appendingPathComponent(name), to: folder.url.appendingPathComponent(copy))
        }
        let key = "0123456789abcdef0123456789abcdef".utf8.map { String($0, radix: 16) }.joined()
        let (plain, files) = try decoded(folder, key: key)
        defer { withExtendedLifetime(files) {} }
        #expect(try plain.values("SELECT Text FROM Notes ORDER BY ID") == ["uno", "due"])
        #expect(try plain.values("PRAGMA integrity_check") == ["ok"])
    }

    @Test("A wrong key decodes nothing", .enabled(if: hasPython, missing))
    func wrongKey() throws {
        let folder = try Folder()
        try folder.database(mode: "delete").close()
        let key = EncryptionKey.generate().hexadecimal.reveal()
        #expect(!Self.python([Self.script, folder.path("a.db"), key, folder.path("plain.db")]))
    }
}
