import CSQLite
import Crypto
import FaultInjection
import Foundation
import Secrets
import Testing

@testable import EncryptedSQLite

/// The way in which release 0.1.0 reads a key block: it knows one header and checks the slots with it.
private enum FirstRelease {
    enum Verdict: Equatable {
        case opens, unsupportedFormat(Int), damagedKeyBlock
    }

    static func verdict(_ block: [UInt8]) -> Verdict {
        var header = Array(block[..<KeyBlock.headerSize])
        header.replaceSubrange(16..<18, with: [0, 1])
        let isVouchedFor = KeyBlock.slotOffsets.contains { offset in
            let slot = block[offset..<(offset + KeyBlock.slotSize)]
            let digest = SHA256.hash(data: header + slot.dropLast(32))
            return slot[offset..<(offset + 8)].contains { $0 != 0 } && Array(digest) == Array(slot.suffix(32))
        }
        let version = Int(block[16]) << 8 | Int(block[17])
        guard version == 1 || isVouchedFor else { return .unsupportedFormat(version) }
        return isVouchedFor && version == 1 ? .opens : .damagedKeyBlock
    }
}

extension Folder {
    /// Creates a database in the format of release 0.1.0 with an empty table `t`, without unlocking it.
    fileprivate func makeOld(_ key: KeySource, mode: String) throws {
        let path = path("a.db")
        let identity = (0..<16).map { _ in UInt8.random(in: 0...255) }
        try EncryptedDatabase.create(at: path, dataKey: .generate(), fileIdentity: identity, version: .one) {
            (block, dataKey) throws(SecretError) in
            _ = try block.addSlot(dataKey, with: key, derivation: .standard)
        }
        let database = try Connection.encrypted(path)
        try database.execute("PRAGMA journal_mode = \(mode); CREATE TABLE t(id INTEGER PRIMARY KEY, body TEXT)")
        database.close()
        try EncryptedDatabase.lock(at: path)
    }

    fileprivate func keyBlock() throws -> [UInt8] {
        Array(try Data(contentsOf: URL(fileURLWithPath: path("a.db"))).prefix(FileFormat.keyBlockSize))
    }
}

@Suite("A database of format 1 is upgraded to format 2")
struct FormatUpgradeTests {
    @Test("A file whose lookup fails does not count as missing")
    func unknownFile() throws {
        let folder = try Folder()
        try Data([1]).write(to: URL(fileURLWithPath: folder.path("file")))
        try Data().write(to: URL(fileURLWithPath: folder.path("empty")))
        #expect(try FileContent.isEmpty(folder.path("none")))
        #expect(try FileContent.isEmpty(folder.path("empty")))
        #expect(try !FileContent.isEmpty(folder.path("file")))
        // A file is no folder, in which there could be one.
        let path = folder.path("file") + "/a.db-wal"
        #expect(throws: EncryptedDatabaseError.sqlite(path: path, operation: "looking at", code: SQLITE_IOERR)) {
            try FileContent.isEmpty(path)
        }
    }

    private let key = EncryptionKey.generate()

    @Test(
        "Unlocking upgrades the file without rewriting pages, and release 0.1.0 refuses it with an error",
        arguments: journalModes)
    func unlocking(mode: String) throws {
        let folder = try Folder()
        let path = folder.path("a.db")
        try folder.makeOld(.key(key), mode: mode)
        try EncryptedDatabase.unlock(at: path, with: .key(key), upgradesFormat: false)
        #expect(try EncryptedDatabase.formatVersion(at: path) == 1)
        #expect(FirstRelease.verdict(try folder.keyBlock()) == .opens)
        let old = try Connection.encrypted(path)
        try old.insert(0..<300)
        old.close()
        let before = try folder.contents()
        try EncryptedDatabase.unlock(at: path, with: .key(key))
        #expect(try EncryptedDatabase.formatVersion(at: path) == 2)
        #expect(FirstRelease.verdict(try folder.keyBlock()) == .unsupportedFormat(2))
        #expect(try folder.contents()["a.db"]?.dropFirst(4096) == before["a.db"]?.dropFirst(4096))
        #expect(try EncryptedDatabase.verify(at: path) == [])
        let database = try Connection.encrypted(path)
        #expect(try database.values("SELECT count(*) FROM t") == ["300"])
        try database.insert(300..<400)
        #expect(try EncryptedDatabase.verify(at: path) == [])
        #expect(throws: EncryptedDatabaseError.wrongKey(path: path)) {
            try EncryptedDatabase.unlock(at: path, with: .key(.generate()))
        }
    }

    @Test("A passphrase opens the upgraded file with the same salt, without a second derivation")
    func passphrase() throws {
        let folder = try Folder()
        let path = folder.path("a.db")
        let passphrase = KeySource.passphrase(Secret("correct horse battery staple"))
        try folder.makeOld(passphrase, mode: "wal")
        let before = try KeyBlock(bytes: folder.keyBlock())
        try EncryptedDatabase.unlock(at: path, with: passphrase)
        let after = try KeyBlock(bytes: folder.keyBlock())
        #expect(after.version == .two)
        let salts = [before, after].compactMap { block in
            block.active.flatMap { block.slots[$0] }.map { Array($0.envelope.bytes[16..<32]) }
        }
        #expect(salts.count == 2 && salts[0] == salts[1])
        try EncryptedDatabase.rekey(at: path, from: passphrase, to: .key(key))
        try EncryptedDatabase.unlock(at: path, with: .key(key))
        #expect(try EncryptedDatabase.formatVersion(at: path) == 2)
    }

    @Test("The file stays at format 1 while a connection has it open, and the next unlocking upgrades it")
    func inUse() throws {
        let folder = try Folder()
        let path = folder.path("a.db")
        try folder.makeOld(.key(key), mode: "wal")
        try EncryptedDatabase.unlock(at: path, with: .key(key), upgradesFormat: false)
        let first = try Connection.encrypted(path)
        try first.insert(0..<10)
        try EncryptedDatabase.unlock(at: path, with: .key(key))
        #expect(try EncryptedDatabase.formatVersion(at: path) == 1)
        let second = try Connection.encrypted(path)
        try second.insert(10..<20)
        #expect(try first.values("SELECT count(*) FROM t") == ["20"])
        #expect(try EncryptedDatabase.verify(at: path) == [])
        let copy = try folder.crashCopy()
        first.close()
        second.close()
        try EncryptedDatabase.unlock(at: path, with: .key(key))
        #expect(try EncryptedDatabase.formatVersion(at: path) == 2)
        // After a crash, the log of format 1 is first checkpointed into the database.
        #expect(copy.names.contains("a.db-wal"))
        try EncryptedDatabase.unlock(at: copy.path("a.db"), with: .key(key))
        #expect(try EncryptedDatabase.formatVersion(at: copy.path("a.db")) == 2)
        #expect(try Connection.encrypted(copy.path("a.db")).values("SELECT count(*) FROM t") == ["20"])
    }

    @Test("A damaged log of format 1 is left as it is")
    func damagedLog() throws {
        let folder = try Folder()
        let path = folder.path("a.db")
        try folder.makeOld(.key(key), mode: "wal")
        try EncryptedDatabase.unlock(at: path, with: .key(key), upgradesFormat: false)
        let database = try Connection.encrypted(path)
        for row in 0..<4 { try database.execute("INSERT INTO t VALUES (\(row), 'row')") }
        let copy = try folder.crashCopy()
        database.close()
        unlink(copy.path("a.db-shm"))
        try edit(copy.path("a.db-wal")) { $0[32 + 4120 + 200] ^= 1 }
        let before = try copy.contents()
        try EncryptedDatabase.unlock(at: copy.path("a.db"), with: .key(key))
        #expect(try copy.contents() == before)
        // Recovery ends at the damage and keeps a copy of the rest of the log.
        #expect(try Connection.encrypted(copy.path("a.db")).values("SELECT count(*) FROM t") == ["1"])
        #expect(EncryptedDatabase.lostLogs(besides: copy.path("a.db")).count == 1)
    }

    @Test("An idle connection with a rollback journal continues in the new format")
    func idle() throws {
        let folder = try Folder()
        let path = folder.path("a.db")
        try folder.makeOld(.key(key), mode: "delete")
        try EncryptedDatabase.unlock(at: path, with: .key(key), upgradesFormat: false)
        let idle = try Connection.encrypted(path)
        try idle.insert(0..<200)
        // The connection holds no lock between two transactions.
        try EncryptedDatabase.unlock(at: path, with: .key(key))
        #expect(try EncryptedDatabase.formatVersion(at: path) == 2)
        try idle.execute("PRAGMA cache_size = 5; BEGIN; UPDATE t SET body = body || 'changed'")
        let copy = try folder.crashCopy()
        try EncryptedDatabase.unlock(at: copy.path("a.db"), with: .key(key))
        #expect(try EncryptedDatabase.verify(at: copy.path("a.db")) == [])
        #expect(
            try Connection.encrypted(copy.path("a.db")).values("SELECT count(*) FROM t WHERE body LIKE '%changed'")
                == ["0"])
        try idle.execute("ROLLBACK")
        #expect(try idle.values("SELECT count(*) FROM t WHERE body LIKE '%changed'") == ["0"])
    }

    @Test("A hot journal that release 0.1.0 left in an upgraded database is played back")
    func oldJournal() throws {
        let folder = try Folder()
        try folder.makeOld(.key(key), mode: "delete")
        try EncryptedDatabase.unlock(at: folder.path("a.db"), with: .key(key), upgradesFormat: false)
        let old = try Connection.encrypted(folder.path("a.db"))
        try old.insert(0..<200)
        try old.execute("PRAGMA cache_size = 5; BEGIN; UPDATE t SET body = body || 'changed'")
        let copy = try folder.crashCopy()
        let path = copy.path("a.db")
        // The upgrade does not ignore a journal that has to be played back.
        try EncryptedDatabase.unlock(at: path, with: .key(key))
        #expect(try EncryptedDatabase.formatVersion(at: path) == 1)
        let upgraded = try KeyBlock(bytes: copy.keyBlock()).upgraded(to: .two, with: .key(key)).block
        try overwrite(path, at: 0, with: Data(upgraded.bytes))
        try EncryptedDatabase.unlock(at: path, with: .key(key))
        #expect(try EncryptedDatabase.verify(at: path) == [])
        let database = try Connection.encrypted(path)
        #expect(try database.values("SELECT count(*) FROM t WHERE body LIKE '%changed'") == ["0"])
        #expect(try database.values("PRAGMA integrity_check") == ["ok"])
    }

    @Test("New connections refuse a key block that claims format 1 for a format 2 database")
    func downgrade() throws {
        let folder = try Folder()
        let path = folder.path("a.db")
        try folder.database(key: key).close()
        // The digest of a slot is not secret, so an attacker with write access can compute a valid one.
        var block = try KeyBlock(bytes: folder.keyBlock())
        let old = KeyBlock(fileIdentity: block.fileIdentity, version: .one)
        let slot = try #require(block.active.flatMap { block.slots[$0] })
        block = old
        _ = block.place(slot)
        try overwrite(path, at: 0, with: Data(block.bytes))
        #expect(try KeyBlock(bytes: folder.keyBlock()).version == .one)
        #expect { try Connection.encrypted(path).values("SELECT * FROM t") } throws: {
            ($0 as? SQLiteFailure)?.code == SQLITE_NOTADB
        }
        #expect(throws: EncryptedDatabaseError.wrongKey(path: path)) {
            try EncryptedDatabase.unlock(at: path, with: .key(key))
        }
    }

    /// The files of a store of release 0.1.0 with two notes. A process changed one of them and was killed. The
    /// key is the digits 0 to f, twice, as text.
    private static let fixture = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appendingPathComponent("Fixtures/format-1")

    @Test(
        "A store of release 0.1.0 with a killed process opens with its log and is upgraded",
        arguments: [true, false])
    func firstRelease(upgrades: Bool) throws {
        let folder = try Folder()
        for (name, copy) in [("store.db", "a.db"), ("store.db-wal", "a.db-wal")] {
            try FileManager.default.copyItem(
                at: Self.fixture.appendingPathComponent(name), to: folder.url.appendingPathComponent(copy))
        }
        let path = folder.path("a.db")
        let key = KeySource.key(try EncryptionKey(bytes: Array("0123456789abcdef0123456789abcdef".utf8)))
        #expect(FirstRelease.verdict(try folder.keyBlock()) == .opens)
        #expect(try EncryptedDatabase.verify(at: path, with: key) == [])
        try EncryptedDatabase.unlock(at: path, with: key, upgradesFormat: upgrades)
        #expect(try EncryptedDatabase.formatVersion(at: path) == (upgrades ? 2 : 1))
        let database = try Connection.encrypted(path)
        #expect(try database.values("SELECT Text FROM Notes ORDER BY ID") == ["uno", "due"])
        #expect(try database.values("PRAGMA integrity_check") == ["ok"])
        try database.execute("UPDATE Notes SET Text = 'tre' WHERE ID = 2")
        #expect(try EncryptedDatabase.verify(at: path) == [])
        if upgrades { #expect(FirstRelease.verdict(try folder.keyBlock()) == .unsupportedFormat(2)) }
    }

    // MARK: On a disk that fails

    /// Returns a database of format 1 with a log left by a crash, on a disk that can fail.
    private func onDisk() throws -> (folder: Folder, path: String, disk: FaultDisk) {
        FaultDisk.register()
        try EncryptedDatabase.stack(over: FaultDisk.vfsName)
        let folder = try Folder(inMemory: true)
        try folder.makeOld(.key(key), mode: "wal")
        try EncryptedDatabase.unlock(at: folder.path("a.db"), with: .key(key), upgradesFormat: false)
        let database = try Connection.encrypted(folder.path("a.db"))
        for row in 0..<3 { try database.execute("INSERT INTO t VALUES (\(row), 'row')") }
        let copy = try Folder(inMemory: true)
        for name in ["a.db", "a.db-wal"] {
            try FileManager.default.copyItem(atPath: folder.path(name), toPath: copy.path(name))
        }
        database.close()
        return (copy, copy.path("a.db"), try FaultDisk(folder: copy.url.path))
    }

    /// Checks that the key opens the files in their current format, and that the rows exist.
    private func check(_ folder: Folder, _ place: Comment) throws {
        let path = folder.path("a.db")
        let first = FirstRelease.verdict(try folder.keyBlock())
        let version = try EncryptedDatabase.formatVersion(at: path)
        // Release 0.1.0 opens only format 1. During the upgrade it reports a damaged key block.
        #expect(version == 1 ? first == .opens : first != .opens, place)
        // Without its log, the database must not appear in its earlier state.
        try EncryptedDatabase.unlock(at: path, with: .key(key))
        let database = try Connection.encrypted(path)
        #expect(try database.values("SELECT count(*) FROM t") == ["3"], place)
        try database.execute("INSERT INTO t VALUES (10, 'row'); DELETE FROM t WHERE id = 10")
        database.close()
        try EncryptedDatabase.unlock(at: path, with: .key(key))
        #expect(FirstRelease.verdict(try folder.keyBlock()) == .unsupportedFormat(2), place)
        #expect(try EncryptedDatabase.verify(at: path) == [], place)
        #expect(throws: EncryptedDatabaseError.wrongKey(path: path), place) {
            try EncryptedDatabase.unlock(at: path, with: .key(.generate()))
        }
    }

    @Test("A crash or fault at any step of the upgrade leaves a readable database with all rows")
    func everyOperation() throws {
        let (folder, path, whole) = try onDisk()
        try EncryptedDatabase.unlock(at: path, with: .key(key))
        let count = whole.operations
        #expect(try EncryptedDatabase.formatVersion(at: path) == 2)
        withExtendedLifetime(folder) {}
        // The new slot, the version and the old slot are each written and synced.
        #expect(count >= 6)
        var verdicts: Set<String> = []
        for number in 1...count {
            let faults: [Fault] = [
                .crash(at: number), .failedSync(at: number), .shortWrite(at: number), .diskFull(from: number),
            ]
            for fault in faults {
                let (folder, path, disk) = try onDisk()
                disk.break(fault)
                try? EncryptedDatabase.unlock(at: path, with: .key(key))
                for remains in Remains.allCases {
                    let rest = try Folder(inMemory: true)
                    try disk.restart(into: rest.url.path, with: remains)
                    verdicts.insert("\(FirstRelease.verdict(try rest.keyBlock()))")
                    try check(rest, "\(fault) \(remains)")
                }
                if !disk.isOver {
                    disk.mend()
                    try check(folder, "\(fault), mended")
                }
            }
        }
        // Every state of the documentation's crash table occurred.
        #expect(verdicts == ["opens", "damagedKeyBlock", "unsupportedFormat(2)"])
    }

    @Test("Writes after an upgrade with a fault survive the loss of power")
    func writesBehindFault() throws {
        let (folder, _, whole) = try onDisk()
        try EncryptedDatabase.unlock(at: folder.path("a.db"), with: .key(key))
        let count = whole.operations
        for number in 1...count {
            let (folder, path, disk) = try onDisk()
            disk.break(.failedSync(at: number))
            guard (try? EncryptedDatabase.unlock(at: path, with: .key(key))) != nil else { continue }
            let database = try Connection.encrypted(path)
            try database.execute("PRAGMA synchronous = FULL; INSERT INTO t VALUES (100, 'behind')")
            for remains in Remains.allCases {
                let rest = try Folder(inMemory: true)
                try disk.restart(into: rest.url.path, with: remains)
                try EncryptedDatabase.unlock(at: rest.path("a.db"), with: .key(key))
                let after = try Connection.encrypted(rest.path("a.db"))
                #expect(
                    try after.values("SELECT count(*) FROM t WHERE id = 100") == ["1"], "sync \(number), \(remains)")
            }
            database.close()
            withExtendedLifetime(folder) {}
        }
    }
}
