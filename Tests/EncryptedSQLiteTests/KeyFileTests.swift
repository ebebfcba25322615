import EncryptedSQLite
import Foundation
import Secrets
import Testing

@Suite("Rule 32: key files of earlier versions", .serialized)
struct KeyFileTests {
    /// Returns the key source of a file by the rule before headers existed. A file of exactly 32 bytes, or of
    /// 64 hexadecimal digits with an optional line end, was a key. Any other file was a passphrase without one
    /// line end.
    private func former(_ content: [UInt8]) throws -> KeySource {
        if content.count == 32 { return .key(try EncryptionKey(bytes: content)) }
        let text = String(decoding: content.last == UInt8(ascii: "\n") ? content.dropLast() : content, as: UTF8.self)
        if let key = try? EncryptionKey(hexadecimal: text) { return .key(key) }
        return .passphrase(Secret(text))
    }

    @Test(
        "A database opens with its original key file, and the next key file follows the new rule",
        arguments: [
            "a passphrase of just 32 letters!", "correct horse battery staple 12\n",
            "correct horse battery staples 12\n",
            String(repeating: "0f", count: 32), String(repeating: "0f", count: 32) + "\n",
        ])
    func opened(text: String) throws {
        let folder = try Folder()
        let path = folder.path("a.db")
        let cost = try ScryptParameters(costExponent: 10, blockSize: 8, parallelization: 1)
        try EncryptedDatabase.create(at: path, key: try former(Array(text.utf8)), derivation: cost)
        try EncryptedDatabase.lock(at: path)

        let file = KeySource.file(try KeyFile(content: Array(text.utf8), path: "key"))
        try EncryptedDatabase.unlock(at: path, with: file)
        #expect(try EncryptedDatabase.verify(at: path, with: file).isEmpty)
        try EncryptedDatabase.lock(at: path)

        // After re-keying, the same file is a passphrase.
        let line = text.hasSuffix("\n") ? String(text.dropLast()) : text
        try EncryptedDatabase.rekey(at: path, from: file, to: file, derivation: cost)
        try EncryptedDatabase.unlock(at: path, with: file)
        try EncryptedDatabase.unlock(at: path, with: .passphrase(Secret(line)))

        let made = KeySource.file(try KeyFile(content: KeyFile.content(for: .generate()).reveal(), path: "new"))
        try EncryptedDatabase.rekey(at: path, from: file, to: made)
        try EncryptedDatabase.unlock(at: path, with: made)
        #expect(throws: EncryptedDatabaseError.wrongKindOfKey(path: path, expected: .key)) {
            try EncryptedDatabase.unlock(at: path, with: .passphrase(Secret(line)))
        }
    }

    @Test("A short passphrase makes no database, and nothing is left behind")
    func shortPassphrase() throws {
        let folder = try Folder()
        #expect(throws: EncryptedDatabaseError.secret(.shortPassphrase(length: 7, minimum: 8))) {
            try EncryptedDatabase.create(at: folder.path("a.db"), key: .passphrase(Secret("1234567")))
        }
        #expect(folder.names.isEmpty)
    }

    @Test("A database with a linked log, index or journal is not opened")
    func filesBeside() throws {
        for suffix in ["-wal", "-shm", "-journal"] {
            for isSoft in [true, false] {
                let folder = try Folder()
                let (path, precious) = (folder.path("a.db"), folder.path("precious"))
                let key = KeySource.key(.generate())
                try EncryptedDatabase.create(at: path, key: key)
                try Data("the only copy".utf8).write(to: URL(fileURLWithPath: precious))
                if isSoft {
                    try FileManager.default.createSymbolicLink(atPath: path + suffix, withDestinationPath: precious)
                } else {
                    try FileManager.default.linkItem(atPath: precious, toPath: path + suffix)
                }
                #expect(throws: (any Error).self) {
                    try Connection.encrypted(path).execute("PRAGMA journal_mode = WAL; CREATE TABLE t(a)")
                }
                #expect(try Data(contentsOf: URL(fileURLWithPath: precious)) == Data("the only copy".utf8))
            }
        }
    }
}
