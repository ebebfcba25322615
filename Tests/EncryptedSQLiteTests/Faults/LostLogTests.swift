import CSQLite
import FaultInjection
import Foundation
import Secrets
import Testing

@testable import EncryptedSQLite

@Suite("Commits behind the end of a log are reported and saved")
struct LostLogTests {
    private let key = EncryptionKey.generate()

    /// Returns the files of a database with ten rows in its log, one transaction each, and the log's index as a
    /// crash leaves it.
    private func files(rows: Int = 10) throws -> Folder {
        let folder = try Folder()
        let database = try folder.database(key: key)
        try database.execute("PRAGMA wal_autocheckpoint = 0; PRAGMA wal_checkpoint(TRUNCATE)")
        for row in 0..<rows { try database.execute("INSERT INTO t VALUES (\(row), 'row')") }
        return try folder.crashCopy()
    }

    private func open(_ folder: Folder) throws -> Connection {
        try EncryptedDatabase.unlock(at: folder.path("a.db"), with: .key(key))
        return try Connection.encrypted(folder.path("a.db"))
    }

    private func verification(_ folder: Folder) throws -> EncryptedDatabase.Verification {
        try EncryptedDatabase.verification(at: folder.path("a.db"), with: .key(key))
    }

    @Test("A lost write that reveals an older log is reported, and the log is kept")
    func droppedWrite() throws {
        let folder = try files()
        let path = folder.path("a.db")
        unlink(path + "-shm")
        let older = try files()
        try edit(path + "-wal") { log in
            let frame = (try? older.contents()["a.db-wal"])?.frame(5, withHeader: true) ?? Data()
            log.setFrame(5, to: frame, withHeader: true)
        }
        let damaged = try #require(try folder.contents()["a.db-wal"])
        let found = try verification(folder)
        #expect(found.damages.map(\.offset) == [FileFormat.frameOffset(6)])
        #expect(found.damages.map(\.expected) == [.logFrame])
        #expect(found.unfinishedTransaction == nil)
        let database = try open(folder)
        #expect(try database.values("SELECT count(*) FROM t") == ["5"])
        let kept = EncryptedDatabase.lostLogs(besides: path)
        let salts = damaged[16..<24].map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        #expect(kept == [path + "-wal-lost-" + salts])
        #expect(try Data(contentsOf: URL(fileURLWithPath: kept.first ?? "")) == damaged)
        let attributes = try FileManager.default.attributesOfItem(atPath: kept.first ?? "")
        #expect((attributes[.posixPermissions] as? Int) == 0o600)
        // Later writes are not reported as a second loss.
        try database.execute("INSERT INTO t VALUES (20, 'new')")
        #expect(try verification(folder).damages == [])
        let again = try folder.crashCopy()
        unlink(again.path("a.db-shm"))
        #expect(try open(again).values("SELECT count(*) FROM t") == ["6"])
        #expect(EncryptedDatabase.lostLogs(besides: again.path("a.db")).count == 1)
    }

    @Test("The error for an unreadable log contains its path")
    func unreadable() throws {
        let folder = try Folder()
        // A file whose functions are all missing fails to be read.
        var methods = sqlite3_io_methods()
        withUnsafePointer(to: &methods) { methods in
            var file = sqlite3_file(pMethods: methods)
            withUnsafeMutablePointer(to: &file) { file in
                let cipher = PageCipher(
                    dataKey: key, fileIdentity: [UInt8](repeating: 0, count: 16), version: .latest)
                let path = folder.path("a.db-wal")
                let log = LostLog(
                    file: BaseFile(pointer: file), path: path, size: 64, cipher: cipher, version: .latest)
                #expect(
                    throws: EncryptedDatabaseError.sqlite(path: path, operation: "reading", code: SQLITE_IOERR)
                ) { try log.keep(besides: folder.path("a.db"), salts: 1) }
            }
        }
        #expect(folder.names == [])
    }

    @Test("A second loss in the same log is saved beside the first")
    func secondLoss() throws {
        let folder = try files()
        for place in [7, 4] {
            unlink(folder.path("a.db-shm"))
            try edit(folder.path("a.db-wal")) { $0[Int(FileFormat.frameOffset(place)) + 99] ^= 1 }
            let database = try open(folder)
            #expect(try database.values("SELECT count(*) FROM t") == ["\(place - 1)"])
            // Restore the state after the end of the process.
            let copy = try folder.crashCopy()
            database.close()
            for name in copy.names { try copy.contents()[name]?.write(to: URL(fileURLWithPath: folder.path(name))) }
        }
        #expect(EncryptedDatabase.lostLogs(besides: folder.path("a.db")).count == 2)
    }

    @Test("A damaged log header loses no data", arguments: [0, 17, 25])
    func header(place: Int) throws {
        let folder = try files()
        unlink(folder.path("a.db-shm"))
        try edit(folder.path("a.db-wal")) { $0[place] ^= 1 }
        #expect(try verification(folder).damages.map(\.expected) == [.logHeader])
        _ = try? open(folder).values("SELECT count(*) FROM t")
        #expect(EncryptedDatabase.lostLogs(besides: folder.path("a.db")).count == 1)
    }

    @Test("Without room for the copy, nothing is recovered and nothing is lost")
    func noRoom() throws {
        let folder = try files()
        unlink(folder.path("a.db-shm"))
        let path = folder.path("a.db")
        try edit(path + "-wal") { $0[Int(FileFormat.frameOffset(4)) + 99] ^= 1 }
        let log = try folder.contents()["a.db-wal"]
        // The name of the database has the maximum length, so no copy of the log can be created.
        let long = String(repeating: "n", count: 255 - "-journal".utf8.count)
        let other = try Folder()
        for suffix in ["", "-wal"] {
            try FileManager.default.copyItem(atPath: path + suffix, toPath: other.path(long + suffix))
        }
        try EncryptedDatabase.unlock(at: other.path(long), with: .key(key))
        #expect(throws: (any Error).self) {
            try Connection.encrypted(other.path(long)).values("SELECT count(*) FROM t")
        }
        #expect(try other.contents()[long + "-wal"] == log)
    }

    @Test("Reading on a full disk saves no copies and changes nothing")
    func quiet() throws {
        let folder = try files()
        let path = folder.path("a.db")
        unlink(path + "-shm")
        try edit(path + "-wal") { $0[Int(FileFormat.frameOffset(4)) + 99] ^= 1 }
        let before = try folder.contents()
        let exclusive = try ExclusiveDatabase(path: path)
        try EncryptedDatabase.unlock(at: path, with: .key(key))
        let database = try Connection(EncryptedDatabase.quietURI(forPath: path), flags: SQLITE_OPEN_READONLY)
        #expect(try database.values("SELECT count(*) FROM t") == ["3"])
        database.close()
        #expect(try folder.contents() == before)
        withExtendedLifetime(exclusive) {}
    }

    @Test(
        "While the index of the log exists, the loss of the newest commits is reported", arguments: [true, false])
    func newestCommits(isCut: Bool) throws {
        let folder = try files()
        #expect(try verification(folder).damages == [])
        let older = try files()
        try edit(folder.path("a.db-wal")) { log in
            if isCut {
                log.removeLast(FileFormat.frameSize)
            } else {
                let frame = (try? older.contents()["a.db-wal"])?.frame(9, withHeader: true) ?? Data()
                log.setFrame(9, to: frame, withHeader: true)
            }
        }
        let found = try verification(folder).damages
        #expect(found.map(\.expected) == [.newestCommits])
        #expect(found.map(\.offset) == [FileFormat.frameOffset(10)])
        #expect(found.first?.description.hasSuffix("the newest commits of the log are missing") == true)
        unlink(folder.path("a.db-shm"))
        #expect(try verification(folder).damages == [])
    }

    @Test("A transaction that a crash ended is reported and is no damage")
    func unfinished() throws {
        let folder = try Folder()
        let database = try folder.database(key: key)
        try database.execute("PRAGMA cache_size = 5; PRAGMA wal_autocheckpoint = 0; INSERT INTO t VALUES (1, 'r')")
        #expect(try verification(folder).note == nil)
        let end = try #require(try folder.contents()["a.db-wal"]).count
        try database.execute("BEGIN")
        try database.insert(2000..<3000)
        let copy = try folder.crashCopy()
        try database.execute("ROLLBACK")
        let found = try verification(copy)
        #expect(found.damages == [])
        #expect(found.unfinishedTransaction == Int64(end))
        #expect(found.note?.contains("byte \(end)") == true)
        #expect(try open(copy).values("SELECT count(*) FROM t") == ["1"])
        #expect(EncryptedDatabase.lostLogs(besides: copy.path("a.db")) == [])
    }

    @Test("A failed commit is not mistaken for a lost one")
    func failedCommit() throws {
        FaultDisk.register()
        try EncryptedDatabase.stack(over: FaultDisk.vfsName)
        let folder = try Folder(inMemory: true)
        let before = try folder.database(key: key)
        try before.execute("CREATE TABLE u(id INTEGER PRIMARY KEY); CREATE TABLE v(id INTEGER PRIMARY KEY)")
        before.close()
        let disk = try FaultDisk(folder: folder.url.path)
        let database = try Connection.encrypted(folder.path("a.db"))
        try database.execute("PRAGMA wal_autocheckpoint = 0; PRAGMA synchronous = FULL; INSERT INTO t VALUES (1, 'r')")
        disk.break(.failedSync(at: disk.operations + 1))
        #expect(throws: SQLiteFailure.self) {
            try database.execute("BEGIN; INSERT INTO t VALUES (2, 'row'); INSERT INTO u VALUES (1)")
            try database.execute("INSERT INTO v VALUES (1); COMMIT")
        }
        #expect(disk.fired.count == 1)
        try database.execute("INSERT INTO t VALUES (3, 'row')")
        #expect(try EncryptedDatabase.verify(at: folder.path("a.db")) == [])
        let copy = try folder.crashCopy()
        database.close()
        unlink(copy.path("a.db-shm"))
        #expect(try open(copy).values("SELECT id FROM t ORDER BY id") == ["1", "3"])
        #expect(EncryptedDatabase.lostLogs(besides: copy.path("a.db")) == [])
    }

    @Test("After a power failure without syncs, the commits on disk are kept and never reported as complete")
    func powerFailure() throws {
        FaultDisk.register()
        try EncryptedDatabase.stack(over: FaultDisk.vfsName)
        let folder = try Folder(inMemory: true)
        try folder.database(key: key).close()
        let disk = try FaultDisk(folder: folder.url.path)
        let database = try Connection.encrypted(folder.path("a.db"))
        try database.execute("PRAGMA wal_autocheckpoint = 0; PRAGMA synchronous = NORMAL")
        for row in 0..<12 { try database.execute("INSERT INTO t VALUES (\(row), 'row')") }
        var (losses, wholes) = (0, 0)
        for seed in 0..<40 {
            let rest = try Folder(inMemory: true)
            try disk.restart(into: rest.url.path, with: .sectors(seed: UInt64(seed)))
            let found = try verification(rest)
            let count = try open(rest).values("SELECT count(*) FROM t").first.flatMap(Int.init) ?? -1
            let kept = EncryptedDatabase.lostLogs(besides: rest.path("a.db"))
            if found.damages == [] { wholes += 1 }
            if !kept.isEmpty {
                losses += 1
                #expect(found.damages != [], "seed \(seed)")
                #expect(count < 12)
            }
        }
        let all = try Folder(inMemory: true)
        try disk.restart(into: all.url.path, with: .everything)
        #expect(try verification(all).damages == [])
        #expect(try open(all).values("SELECT count(*) FROM t") == ["12"])
        database.close()
        #expect(losses + wholes > 0)
    }
}
