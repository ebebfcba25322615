import CSQLite
import EncryptedSQLite
import Foundation
import Secrets
import Testing

@Suite("Keys of encrypted databases")
struct KeyTests {
    @Test("A wrong key is a typed error, and no file changes", arguments: ["wal", "delete"])
    func wrongKey(mode: String) throws {
        let folder = try Folder()
        let database = try folder.database(mode: mode)
        try database.insert(0..<500)
        try database.execute("PRAGMA cache_size = 5; BEGIN; UPDATE t SET body = body || 'x'")
        // Use a copy, so that a hot journal or a log has to be recovered.
        let copy = try folder.crashCopy()
        let before = try copy.contents()
        let path = copy.path("a.db")
        #expect(throws: EncryptedDatabaseError.wrongKey(path: path)) {
            try EncryptedDatabase.unlock(at: path, with: .key(.generate()))
        }
        #expect(throws: EncryptedDatabaseError.wrongKindOfKey(path: path, expected: .key)) {
            try EncryptedDatabase.unlock(at: path, with: .passphrase(Secret("guess")))
        }
        #expect(throws: EncryptedDatabaseError.wrongKey(path: path)) {
            try EncryptedDatabase.rekey(at: path, from: .key(.generate()), to: .key(.generate()))
        }
        #expect { try Connection.encrypted(path) } throws: { ($0 as? SQLiteFailure)?.code == SQLITE_AUTH }
        #expect(!EncryptedDatabase.isUnlocked(at: path))
        #expect(try copy.contents() == before)
    }

    @Test("The error for a file that is no encrypted database states the actual kind of file")
    func otherFiles() throws {
        let folder = try Folder()
        let path = folder.path("x.db")
        let key = KeySource.key(.generate())
        #expect(throws: EncryptedDatabaseError.notFound(path: path)) {
            try EncryptedDatabase.unlock(at: path, with: key)
        }
        #expect(throws: EncryptedDatabaseError.notFound(path: path)) { try EncryptedDatabase.isEncrypted(at: path) }
        #expect {
            try EncryptedDatabase.isEncrypted(at: folder.url.path)
        } throws: {
            guard case .sqlite(folder.url.path, _, _)? = $0 as? EncryptedDatabaseError else { return false }
            return true
        }
        #expect(throws: EncryptedDatabaseError.notFound(path: "")) { try EncryptedDatabase.isEncrypted(at: "") }
        #expect(throws: EncryptedDatabaseError.notFound(path: "a\0b")) {
            try EncryptedDatabase.isEncrypted(at: "a\0b")
        }

        try Connection(path, flags: SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE).execute("CREATE TABLE t(i)")
        #expect(try !EncryptedDatabase.isEncrypted(at: path))
        #expect(throws: EncryptedDatabaseError.plainDatabase(path: path)) {
            try EncryptedDatabase.unlock(at: path, with: key)
        }
        for content in [Data(), Data("hello".utf8), Data(count: 10_000)] {
            try content.write(to: URL(fileURLWithPath: path))
            #expect(try !EncryptedDatabase.isEncrypted(at: path))
            #expect(throws: EncryptedDatabaseError.notADatabase(path: path)) {
                try EncryptedDatabase.unlock(at: path, with: key)
            }
        }
    }

    @Test("A damaged key block, a wrong key and a newer format have different errors")
    func damagedKeyBlock() throws {
        let folder = try Folder()
        let key = EncryptionKey.generate()
        try folder.database(key: key).close()
        let path = folder.path("a.db")
        let whole = try Data(contentsOf: URL(fileURLWithPath: path))
        let versions: [((inout Data) -> Void, EncryptedDatabaseError)] = [
            ({ ($0[17], $0[1535]) = (3, $0[1535] ^ 1) }, .unsupportedFormat(path: path, version: 3)),
            // An intact slot shows that the version was different.
            ({ $0[17] = 3 }, .damagedKeyBlock(path: path)),
            ({ $0[17] = 1 }, .damagedKeyBlock(path: path)),
            ({ $0[3] ^= 1 }, .damagedKeyBlock(path: path)),
            ({ $0[18] ^= 1 }, .damagedKeyBlock(path: path)),
            ({ $0[24] ^= 1 }, .damagedKeyBlock(path: path)),
            ({ $0[1024 + 80] ^= 1 }, .damagedKeyBlock(path: path)),
            ({ $0 = $0.prefix(100) }, .damagedKeyBlock(path: path)),
        ]
        for (change, expected) in versions {
            try whole.write(to: URL(fileURLWithPath: path))
            try edit(path, change)
            #expect(throws: expected) { try EncryptedDatabase.unlock(at: path, with: .key(key)) }
            #expect(try EncryptedDatabase.isEncrypted(at: path))
        }
    }

    @Test("Re-keying rewrites the key block alone; the new key opens the file and the old one does not")
    func rekey() throws {
        let folder = try Folder()
        let path = folder.path("a.db")
        var key = EncryptionKey.generate()
        let database = try folder.database(key: key)
        try database.insert(0..<100)
        for _ in 0..<3 {
            let before = try folder.contents()
            let new = EncryptionKey.generate()
            // The connection stays open and continues to work.
            try EncryptedDatabase.rekey(at: path, from: .key(key), to: .key(new))
            var after = try folder.contents()
            #expect(after["a.db"]?.prefix(4096) != before["a.db"]?.prefix(4096))
            #expect(after["a.db"]?.dropFirst(4096) == before["a.db"]?.dropFirst(4096))
            after["a.db"] = before["a.db"]
            #expect(after == before)
            #expect(throws: EncryptedDatabaseError.wrongKey(path: path)) {
                try EncryptedDatabase.unlock(at: path, with: .key(key))
            }
            try EncryptedDatabase.unlock(at: path, with: .key(new))
            key = new
        }
        try database.execute("DELETE FROM t WHERE id > 9")
        #expect(try Connection.encrypted(path).values("SELECT count(*) FROM t") == ["10"])
    }

    @Test("A crash anywhere in a re-keying leaves either the old or the new key")
    func interruptedRekey() throws {
        let folder = try Folder()
        let path = folder.path("a.db")
        let old = EncryptionKey.generate()
        let new = EncryptionKey.generate()
        try folder.database(key: old).close()
        let before = try Data(contentsOf: URL(fileURLWithPath: path))
        try EncryptedDatabase.rekey(at: path, from: .key(old), to: .key(new))
        let after = try Data(contentsOf: URL(fileURLWithPath: path))
        for torn in stride(from: 0, through: 1024, by: 64) {
            // First the new slot is written (at 3072), then the old one (at 1024) is erased.
            var state = before
            let first = 3072..<(3072 + min(torn, 512))
            state.replaceSubrange(first, with: after[first])
            let second = 1024..<(1024 + max(0, torn - 512))
            state.replaceSubrange(second, with: after[second])
            try state.write(to: URL(fileURLWithPath: path))
            // 480 bytes of zeros precede the 32 bytes of the digest, so the slot is intact only with its last
            // piece.
            let inForce = torn >= 512 ? new : old
            try EncryptedDatabase.unlock(at: path, with: .key(inForce))
            #expect(throws: EncryptedDatabaseError.wrongKey(path: path)) {
                try EncryptedDatabase.unlock(at: path, with: .key(inForce == old ? new : old))
            }
        }
    }

    @Test("Re-keying fails with busy while another connection writes with a journal")
    func busyRekey() throws {
        let folder = try Folder()
        let key = EncryptionKey.generate()
        let database = try folder.database(key: key, mode: "delete")
        try database.execute("BEGIN IMMEDIATE")
        let path = folder.path("a.db")
        #expect(throws: EncryptedDatabaseError.busy(path: path)) {
            try EncryptedDatabase.rekey(at: path, from: .key(key), to: .key(.generate()))
        }
        // Reading the file did not release the writer's lock.
        let other = try Connection.encrypted(path)
        sqlite3_busy_timeout(other.handle, 0)
        #expect(throws: SQLiteFailure.self) { try other.execute("BEGIN IMMEDIATE") }
        try database.execute("COMMIT")
        try EncryptedDatabase.rekey(at: path, from: .key(key), to: .key(.generate()))
    }

    @Test("A path that is not unlocked is refused, and the VFS never creates files")
    func neverPlain() throws {
        let folder = try Folder()
        let create = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
        try EncryptedDatabase.register()
        #expect { try Connection(folder.path("new.db"), vfs: EncryptedDatabase.vfsName, flags: create) } throws: {
            ($0 as? SQLiteFailure)?.code == SQLITE_AUTH
        }
        let database = try folder.database()
        #expect(throws: SQLiteFailure.self) {
            try database.execute("ATTACH '\(EncryptedDatabase.uri(forPath: folder.path("b.db")))' AS b")
        }
        #expect(throws: SQLiteFailure.self) { try database.execute("VACUUM INTO '\(folder.path("c.db"))'") }
        database.close()
        #expect(folder.names == ["a.db"])

        // A file that was deleted after unlocking is not created.
        try FileManager.default.removeItem(atPath: folder.path("a.db"))
        #expect(throws: SQLiteFailure.self) {
            try Connection(folder.path("a.db"), vfs: EncryptedDatabase.vfsName, flags: create)
        }
        // A file that was replaced after unlocking is refused before a page is read.
        try EncryptedDatabase.create(at: folder.path("b.db"), key: .key(.generate()))
        try FileManager.default.moveItem(atPath: folder.path("b.db"), toPath: folder.path("a.db"))
        #expect { try Connection.encrypted(folder.path("a.db")) } throws: {
            ($0 as? SQLiteFailure)?.code == SQLITE_NOTADB
        }
    }

    @Test("After a lock, open connections continue and new ones are refused")
    func lock() throws {
        let folder = try Folder()
        let database = try folder.database(mode: "delete")
        let path = folder.path("a.db")
        #expect(EncryptedDatabase.isUnlocked(at: path))
        try EncryptedDatabase.lock(at: path)
        #expect(!EncryptedDatabase.isUnlocked(at: path))
        try database.insert(0..<10)
        #expect(throws: SQLiteFailure.self) { try Connection.encrypted(path) }
    }

    @Test("A creation replaces no file, and removes the logs of a deleted database")
    func create() throws {
        let folder = try Folder()
        for name in ["a.db", "a.db-wal", "a.db-journal"] {
            try Data("precious".utf8).write(to: URL(fileURLWithPath: folder.path(name)))
            #expect(throws: EncryptedDatabaseError.alreadyExists(path: folder.path(name))) {
                try EncryptedDatabase.create(at: folder.path("a.db"), key: .key(.generate()))
            }
            #expect(folder.names == [name])
            try FileManager.default.removeItem(atPath: folder.path(name))
        }
        #expect(throws: EncryptedDatabaseError.self) {
            try EncryptedDatabase.create(at: folder.path("no/such/folder.db"), key: .key(.generate()))
        }
        #expect(throws: EncryptedDatabaseError.secret(.emptyPassphrase)) {
            try EncryptedDatabase.create(at: folder.path("a.db"), key: .passphrase(Secret("")))
        }
        #expect(folder.names == [])
    }

    @Test("A file name with any characters opens exactly this file")
    func uris() throws {
        let folder = try Folder()
        for name in ["a b.db", "a?b#c%41&d=e.db", "ä漢🦊.db", "quote'\".db", "x:y;z.db"] {
            try folder.database(name).close()
            let database = try Connection.encrypted(folder.path(name))
            let opened = try database.values("SELECT file FROM pragma_database_list")
            #expect(opened == [folder.path(name)])
        }
        #expect(EncryptedDatabase.uri(forPath: "/a b\u{1}") == "file:///a%20b%01?vfs=outpost")
    }

    @Test("A symbolic link and a relative path lead to the same unlocked file")
    func symbolicLink() throws {
        let folder = try Folder()
        try folder.database().close()
        let link = folder.path("link.db")
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: folder.path("a.db"))
        #expect(EncryptedDatabase.isUnlocked(at: link))
        #expect(try Connection.encrypted(link).values("SELECT count(*) FROM t") == ["0"])
        #expect(try Connection.encrypted(folder.path("./x/../a.db")).values("SELECT count(*) FROM t") == ["0"])
    }
}

@Suite("Rule 32: passphrases", .serialized)
struct PassphraseTests {
    @Test("A passphrase costs one derivation for ten connections")
    func oneDerivation() throws {
        let cost = try ScryptParameters(costExponent: 12, blockSize: 8, parallelization: 1)
        // The deriver is shared with other tests of the process, so the minimum of several attempts is used.
        var least = Int.max
        for _ in 0..<5 where least > 1 {
            let folder = try Folder()
            let path = folder.path("a.db")
            let source = KeySource.passphrase(Secret("correct horse"))
            let before = PassphraseDeriver.shared.derivationCount
            try EncryptedDatabase.create(at: path, key: source, derivation: cost)
            var connections: [Connection] = []
            for _ in 0..<10 {
                try EncryptedDatabase.unlock(at: path, with: source)
                connections.append(try Connection.encrypted(path))
                #expect(try connections.last?.values("SELECT count(*) FROM sqlite_schema") == ["0"])
            }
            least = min(least, PassphraseDeriver.shared.derivationCount - before)
            #expect(throws: EncryptedDatabaseError.wrongKey(path: path)) {
                try EncryptedDatabase.unlock(at: path, with: .passphrase(Secret("wrong horse")))
            }
        }
        #expect(least == 1)
    }

    @Test("A key is changed to a passphrase and back at the standard cost")
    func rekeyBetweenKinds() throws {
        let folder = try Folder()
        let path = folder.path("a.db")
        let key = KeySource.key(.generate())
        let passphrase = KeySource.passphrase(Secret("battery staple"))
        try EncryptedDatabase.create(at: path, key: key)
        try EncryptedDatabase.rekey(at: path, from: key, to: passphrase)
        #expect(throws: EncryptedDatabaseError.wrongKindOfKey(path: path, expected: .passphrase)) {
            try EncryptedDatabase.unlock(at: path, with: key)
        }
        try EncryptedDatabase.unlock(at: path, with: passphrase)
        try EncryptedDatabase.rekey(at: path, from: passphrase, to: key)
        try EncryptedDatabase.unlock(at: path, with: key)
    }
}
