import CSQLite
import Foundation
import Secrets
import Testing

@testable import EncryptedSQLite

/// Rule 31: a log of 40 frames over 6 pages, in which every frame replaces every other frame.
@Suite("A misplaced log frame is an error on every read")
struct FrameExchangeTests {
    private static let frameCount = 40
    private static let lastFrames = frameCount - SixPages.tables - 1..<frameCount

    /// Returns the files of a database with 40 transactions of one frame each in its log.
    private static func files(_ key: EncryptionKey) throws -> (database: Connection, folder: Folder) {
        let folder = try Folder(inMemory: true)
        let database = try SixPages.make(in: folder, key: key, mode: "wal")
        for number in 1...frameCount { try database.execute(SixPages.change(number)) }
        let log = try #require(try folder.contents()["a.db-wal"])
        #expect(log.frameCount == frameCount)
        let pages = Set((0..<frameCount).map { log.frame($0, withHeader: true).prefix(4) })
        #expect(pages.count == SixPages.tables + 1)
        return (database, folder)
    }

    private static let frameOrPage = [true, false]

    /// Exchanges frames of a log whose index is in use, and reads with a new connection each time.
    private func exchange(_ folder: Folder, seed: UInt64) throws {
        let path = folder.path("a.db")
        let log = try #require(try folder.contents()["a.db-wal"])
        var errors = 0
        for pair in chosenPairs(of: Self.frameCount, sample: 60, seed: seed) {
            for withHeader in Self.frameOrPage {
                var altered = log
                altered.setFrame(
                    pair.target, to: log.frame(pair.source, withHeader: withHeader), withHeader: withHeader)
                try overwrite(path + "-wal", at: 0, with: altered)
                let damages = try EncryptedDatabase.verify(at: path)
                #expect(damages.map(\.offset) == [FileFormat.frameOffset(pair.target + 1)])
                do {
                    let values = try SixPages.values(try Connection.encrypted(path))
                    #expect(values == SixPages.state(after: Self.frameCount), "\(pair)")
                    #expect(!Self.lastFrames.contains(pair.target), "\(pair)")
                } catch let failure as SQLiteFailure {
                    #expect(failure.code == damagedPage)
                    errors += 1
                }
            }
        }
        try overwrite(path + "-wal", at: 0, with: log)
        #expect(errors > 0)
        #expect(try SixPages.values(try Connection.encrypted(path)) == SixPages.state(after: Self.frameCount))
    }

    @Test("The database is open in this process")
    func openHere() throws {
        let (database, folder) = try Self.files(.generate())
        try exchange(folder, seed: 1)
        #expect(try SixPages.values(database) == SixPages.state(after: Self.frameCount))
    }

    @Test("The database is open in another process", .enabled(if: OtherProcess.isAvailable, "python3 is needed"))
    func openElsewhere() throws {
        let key = EncryptionKey.generate()
        let (database, folder) = try Self.files(key)
        let copy = try folder.crashCopy()
        database.close()
        let other = try OtherProcess(holding: copy.path("a.db"))
        try EncryptedDatabase.unlock(at: copy.path("a.db"), with: .key(key))
        try exchange(copy, seed: 2)
        #expect(copy.names.contains("a.db-wal"))
        withExtendedLifetime(other) {}
    }

    @Test("In a closed database, frames before the exchange are recovered, and the log is kept aside")
    func closed() throws {
        let key = EncryptionKey.generate()
        let (database, original) = try Self.files(key)
        let contents = try original.contents()
        let log = try #require(contents["a.db-wal"])
        database.close()
        let folder = try Folder(inMemory: true)
        let path = folder.path("a.db")
        for pair in chosenPairs(of: Self.frameCount, sample: 60, seed: 3) {
            for withHeader in Self.frameOrPage {
                for name in folder.names { unlink(folder.path(name)) }
                var altered = log
                altered.setFrame(
                    pair.target, to: log.frame(pair.source, withHeader: withHeader), withHeader: withHeader)
                try contents["a.db"]?.write(to: URL(fileURLWithPath: path))
                try altered.write(to: URL(fileURLWithPath: path + "-wal"))
                try EncryptedDatabase.unlock(at: path, with: .key(key))
                let damages = try EncryptedDatabase.verify(at: path)
                #expect(damages.map(\.offset) == [FileFormat.frameOffset(pair.target + 1)])
                let values = try SixPages.values(try Connection.encrypted(path))
                #expect(values == SixPages.state(after: pair.target), "\(pair)")
                // Only behind the last transaction there is no known commit.
                let kept = EncryptedDatabase.lostLogs(besides: path)
                #expect(kept.count == (pair.target == Self.frameCount - 1 ? 0 : 1))
                if let name = kept.first {
                    #expect(try Data(contentsOf: URL(fileURLWithPath: name)) == altered)
                }
            }
        }
    }
}
