import CSQLite
import Foundation
import Secrets
import Testing

@testable import EncryptedSQLite

@Suite("Encrypted databases under attack")
struct AttackTests {
    /// Returns the bytes and the key of a small, closed store.
    private func small(_ key: EncryptionKey = .generate()) throws -> (
        folder: Folder, bytes: [UInt8], key: EncryptionKey
    ) {
        let folder = try Folder()
        let database = try folder.database(key: key, mode: "delete")
        for row in 0..<8 { try database.execute("INSERT INTO t VALUES (\(row), 'row \(row)')") }
        database.close()
        return (folder, [UInt8](try Data(contentsOf: URL(fileURLWithPath: folder.path("a.db")))), key)
    }

    @Test("Every flipped bit of the key block is found or has no effect")
    func keyBlockBits() throws {
        let (_, bytes, key) = try small()
        let block = Array(bytes[..<FileFormat.keyBlockSize])
        let truth = try KeyBlock(bytes: block)
        let dataKey = try truth.dataKey(with: .key(key))
        var harmless = 0
        for bit in 0..<(block.count * 8) {
            var altered = block
            altered[bit / 8] ^= 1 << UInt8(bit % 8)
            guard let read = try? KeyBlock(bytes: altered), let found = try? read.dataKey(with: .key(key)) else {
                continue
            }
            #expect(found == dataKey && read.fileIdentity == truth.fileIdentity)
            harmless += 1
        }
        // Flips are harmless in the unused bytes behind header and slots, and in the empty slot.
        #expect(harmless == (FileFormat.keyBlockSize - KeyBlock.headerSize - KeyBlock.slotSize) * 8)
    }

    @Test("Every flipped bit of every page is found")
    func pageBits() throws {
        let (_, bytes, key) = try small()
        let block = try KeyBlock(bytes: Array(bytes[..<FileFormat.keyBlockSize]))
        let cipher = PageCipher(dataKey: try block.dataKey(with: .key(key)), fileIdentity: block.fileIdentity)
        let sealer = cipher.sealer(for: .main)
        var opened = 0
        for start in stride(from: FileFormat.keyBlockSize, to: bytes.count, by: FileFormat.pageSize) {
            let place = PageCipher.Place(kind: .main, offset: Int64(start - FileFormat.keyBlockSize))
            var page = Array(bytes[start..<(start + FileFormat.pageSize)])
            let data = cipher.withAssociatedData(of: place) { Array($0) }
            #expect(sealer.opened(page, authenticating: data) != nil)
            for bit in 0..<(FileFormat.pageSize * 8) {
                page[bit / 8] ^= 1 << UInt8(bit % 8)
                if sealer.opened(page, authenticating: data) != nil { opened += 1 }
                page[bit / 8] ^= 1 << UInt8(bit % 8)
            }
        }
        #expect(opened == 0)
    }

    @Test("Through SQLite, a flipped bit anywhere gives the whole content or an error", arguments: 0..<8)
    func bitsThroughSQLite(part: Int) throws {
        let fuzzing = try StoreFuzzing()
        for index in stride(from: part, to: 400, by: 8) {
            // A prime step spreads the flips over the database and the log.
            let place = index &* 40_031
            let change = [
                UInt8(truncatingIfNeeded: place >> 16), UInt8(truncatingIfNeeded: place >> 8),
                UInt8(truncatingIfNeeded: place), 1 << UInt8(index % 8),
            ]
            for kind: UInt8 in [1, 3, 5, 7] { #expect(fuzzing.run([kind] + change) != .wrong) }
        }
    }

    @Test("Random and randomly changed files never give wrong content")
    func randomFiles() throws {
        let fuzzing = try StoreFuzzing()
        #expect(fuzzing.run([]) == .whole)
        #expect(fuzzing.run([5]) == .whole)
        var outcomes: [StoreFuzzing.Outcome] = []
        for round in 0..<400 {
            let count = round % 5 == 0 ? Int.random(in: 0..<20_000) : Int.random(in: 0..<40)
            let kind = [UInt8(truncatingIfNeeded: round)]
            outcomes.append(fuzzing.run(kind + (0..<count).map { _ in UInt8.random(in: 0...255) }))
        }
        #expect(!outcomes.contains(.wrong))
        #expect(outcomes.contains(.refused))
    }

    @Test("A page copied over another page is SQLITE_IOERR_DATA")
    func repeatedPage() throws {
        let folder = try Folder()
        try folder.database(mode: "delete").insert(0..<500)
        let path = folder.path("a.db")
        try edit(path) { $0.replaceSubrange((4096 * 6)..<(4096 * 7), with: Data($0[(4096 * 5)..<(4096 * 6)])) }
        #expect {
            try Connection.encrypted(path).values("SELECT body FROM t")
        } throws: {
            ($0 as? SQLiteFailure)?.code == SQLITE_IOERR_DATA
        }
    }

    @Test("Pages, logs and key blocks of another store with the same key are refused")
    func sameKey() throws {
        let key = EncryptionKey.generate()
        let copies = try (0..<2).map { _ in
            let folder = try Folder()
            let database = try folder.database(key: key)
            try database.insert(0..<500)
            try database.execute("PRAGMA wal_checkpoint(TRUNCATE); INSERT INTO t VALUES (1000, 'logged')")
            return try folder.crashCopy()
        }
        let foreign = try copies[1].contents()
        func attacked(_ change: (Folder) throws -> Void) throws -> [String] {
            let copy = try copies[0].crashCopy()
            try? FileManager.default.removeItem(atPath: copy.path("a.db-shm"))
            try change(copy)
            try EncryptedDatabase.unlock(at: copy.path("a.db"), with: .key(key))
            return try Connection.encrypted(copy.path("a.db")).values("SELECT count(*), max(id) FROM t")
        }
        #expect(try attacked { _ in } == ["501", "1000"])
        // Replace a page.
        #expect(throws: SQLiteFailure.self) {
            try attacked { copy in
                try edit(copy.path("a.db")) {
                    $0.replaceSubrange(
                        (4096 * 6)..<(4096 * 7), with: foreign["a.db"]?[(4096 * 6)..<(4096 * 7)] ?? Data())
                }
            }
        }
        // Replace the log, which then ends before its first frame.
        let log = try #require(foreign["a.db-wal"])
        #expect(try attacked { try log.write(to: URL(fileURLWithPath: $0.path("a.db-wal"))) } == ["500", "499"])
        // Replace the key block, whose identity is authenticated with every page.
        #expect(throws: (any Error).self) {
            try attacked { copy in
                try edit(copy.path("a.db")) { $0.replaceSubrange(0..<4096, with: foreign["a.db"]?[0..<4096] ?? Data()) }
            }
        }
    }

    @Test("A log or journal of another moment gives committed rows or an error")
    func otherMoment() throws {
        var shown = 0
        for mode in ["wal", "delete"] {
            let key = EncryptionKey.generate()
            let folder = try Folder()
            let database = try folder.database(key: key, mode: mode)
            try database.insert(0..<300)
            try database.execute("PRAGMA cache_size = 5; BEGIN; UPDATE t SET body = 'second'")
            let early = try folder.crashCopy()
            try database.execute("COMMIT; UPDATE t SET body = 'third'; PRAGMA wal_checkpoint(TRUNCATE)")
            let late = try folder.crashCopy()
            let name = mode == "wal" ? "a.db-wal" : "a.db-journal"
            for suffix in ["a.db-wal", "a.db-journal", "a.db-shm"] {
                try? FileManager.default.removeItem(atPath: late.path(suffix))
            }
            try FileManager.default.copyItem(atPath: early.path(name), toPath: late.path(name))
            try EncryptedDatabase.unlock(at: late.path("a.db"), with: .key(key))
            let replayed = try Connection.encrypted(late.path("a.db"))
            guard let bodies = try? replayed.values("SELECT DISTINCT substr(body, 1, 3) FROM t") else { continue }
            #expect(Set(bodies).isSubset(of: ["row", "sec", "thi"]))
            #expect(!bodies.isEmpty)
            shown += 1
        }
        #expect(shown > 0, "one of them is read, so that something is compared")
    }

    @Test("Only keys of 32 bytes are accepted", arguments: [0, 1, 16, 24, 31, 33, 64])
    func keyLength(count: Int) {
        #expect(throws: SecretError.keyLength(bytes: count)) {
            try EncryptionKey(bytes: [UInt8](repeating: 1, count: count))
        }
    }

    @Test("Random changes of the key block are refused without a crash")
    func randomKeyBlocks() throws {
        let (_, bytes, _) = try small()
        let block = Array(bytes[..<FileFormat.keyBlockSize])
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<20_000 {
            var altered = block
            // Alter a byte in the header or in the valid slot.
            let place = Int(generator.next() % 1024)
            altered[place < 512 ? place : place + 512] ^= UInt8.random(in: 1...255, using: &generator)
            #expect(throws: KeyBlock.Refusal.self) { try KeyBlock(bytes: altered) }
        }
    }
}
