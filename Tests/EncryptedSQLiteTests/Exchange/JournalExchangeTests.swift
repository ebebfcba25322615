import CSQLite
import Foundation
import Secrets
import Testing

@testable import EncryptedSQLite

/// Rule 31 for the rollback journal: 40 records of seven transactions over 6 pages, in which every record
/// replaces every other.
@Suite("A misplaced journal record is not rolled back")
struct JournalExchangeTests {
    private static let recordCount = 40
    private static let pageCount = SixPages.tables + 1
    private static let recordSize = 4 + FileFormat.pageSize + 4

    /// A hot journal and its database, with an uncommitted transaction that has changed all pages.
    private struct Hot {
        var contents: [String: Data]
        /// The values before the transaction, and during it.
        var before: [String]
        var inside: [String]
    }

    private static func values(_ number: Int) -> [String] {
        ["\(number)"] + (1..<pageCount).map { "value \(number) of \($0)" }
    }

    private static func begin(_ number: Int, in database: Connection) throws {
        try database.execute("BEGIN; PRAGMA user_version = \(number)")
        for table in 1..<pageCount {
            try database.execute("UPDATE t\(table) SET body = 'value \(number) of \(table)'")
        }
        // Changed pages are written to the file before the commit, which makes the journal hot.
        #expect(sqlite3_db_cacheflush(database.handle) == SQLITE_OK)
    }

    /// Returns seven successive hot journals of one database.
    private static func journals(_ key: EncryptionKey, mode: String) throws -> [Hot] {
        let folder = try Folder(inMemory: true)
        let database = try SixPages.make(in: folder, key: key, mode: mode)
        var journals: [Hot] = []
        for number in 1...7 {
            let before = try SixPages.values(database)
            try begin(number, in: database)
            journals.append(Hot(contents: try folder.contents(), before: before, inside: values(number)))
            try database.execute("COMMIT")
        }
        return journals
    }

    private static func offset(_ record: Int) -> Int { 512 + record % pageCount * recordSize }

    private static func record(_ index: Int, of journals: [Hot]) -> Data {
        let journal = journals[index / pageCount].contents["a.db-journal"] ?? Data()
        return Data(journal[offset(index)..<(offset(index) + recordSize)])
    }

    /// Puts files into a folder and replaces existing ones.
    private func lay(_ contents: [String: Data], in folder: Folder) throws {
        for (name, content) in contents {
            if folder.names.contains(name) {
                try overwrite(folder.path(name), at: 0, with: content)
            } else {
                try content.write(to: URL(fileURLWithPath: folder.path(name)))
            }
        }
    }

    /// Checks that each page has its value from before the transaction or from it, and no other value.
    private func check(_ values: [String], _ hot: Hot, _ place: Comment) {
        for page in values.indices {
            #expect(values[page] == hot.before[page] || values[page] == hot.inside[page], place)
        }
    }

    @Test(
        "The database is not open, or an idle connection finds the log", arguments: ["delete", "truncate"])
    func hot(mode: String) throws {
        let key = EncryptionKey.generate()
        let journals = try Self.journals(key, mode: mode)
        for hot in journals { #expect(hot.contents["a.db-journal"]?.count ?? 0 >= 512 + 6 * Self.recordSize) }
        let folder = try Folder(inMemory: true)
        let path = folder.path("a.db")
        // An unchanged journal rolls back its transaction.
        for hot in journals {
            for name in folder.names { unlink(folder.path(name)) }
            try lay(hot.contents, in: folder)
            try EncryptedDatabase.unlock(at: path, with: .key(key))
            #expect(try EncryptedDatabase.verify(at: path) == [])
            #expect(try SixPages.values(try Connection.encrypted(path)) == hot.before)
        }
        for pair in chosenPairs(of: Self.recordCount, sample: 40, seed: 4) {
            let hot = journals[pair.target / Self.pageCount]
            var contents = hot.contents
            contents["a.db-journal"]?.replaceSubrange(
                Self.offset(pair.target)..<(Self.offset(pair.target) + Self.recordSize),
                with: Self.record(pair.source, of: journals))
            for name in folder.names { unlink(folder.path(name)) }
            try lay(contents, in: folder)
            try EncryptedDatabase.unlock(at: path, with: .key(key))
            let damages = try EncryptedDatabase.verify(at: path)
            #expect(damages.map(\.offset) == [Int64(Self.offset(pair.target))], "\(pair)")
            if let values = try? SixPages.values(try Connection.encrypted(path)) { check(values, hot, "\(pair)") }
        }
        // Repeat the test with a connection that already has the database open.
        for name in folder.names { unlink(folder.path(name)) }
        try lay(["a.db": journals[0].contents["a.db"] ?? Data(), "a.db-journal": Data()], in: folder)
        try EncryptedDatabase.unlock(at: path, with: .key(key))
        for pair in chosenPairs(of: Self.recordCount, sample: 40, seed: 5) {
            let hot = journals[pair.target / Self.pageCount]
            let idle = try Connection.encrypted(path)
            _ = try? idle.values("PRAGMA user_version")
            var contents = hot.contents
            contents["a.db-journal"]?.replaceSubrange(
                Self.offset(pair.target)..<(Self.offset(pair.target) + Self.recordSize),
                with: Self.record(pair.source, of: journals))
            try lay(contents, in: folder)
            if let values = try? SixPages.values(idle) { check(values, hot, "idle, \(pair)") }
        }
    }

    @Test(
        "Rolling back a running transaction shows no other transaction or page",
        arguments: ["delete", "truncate"])
    func live(mode: String) throws {
        let key = EncryptionKey.generate()
        let folder = try Folder(inMemory: true)
        let database = try SixPages.make(in: folder, key: key, mode: mode)
        var older: [Hot] = []
        for number in 1...6 {
            try Self.begin(number, in: database)
            older.append(Hot(contents: try folder.contents(), before: [], inside: Self.values(number)))
            try database.execute("COMMIT")
        }
        database.close()
        let files = try folder.contents()
        for pair in chosenPairs(of: Self.recordCount, sample: 40, seed: 6) {
            // The last journal is in use.
            let target = pair.target % Self.pageCount
            guard pair.source / Self.pageCount < older.count else { continue }
            let writer = try Connection.encrypted(folder.path("a.db"))
            let before = try SixPages.values(writer)
            try Self.begin(7, in: writer)
            try overwrite(
                folder.path("a.db-journal"), at: Self.offset(target), with: Self.record(pair.source, of: older))
            // SQLite does not report the failure, but the next read does.
            try? writer.execute("ROLLBACK")
            let hot = Hot(contents: [:], before: before, inside: Self.values(7))
            if let values = try? SixPages.values(writer) { check(values, hot, "\(pair)") }
            writer.close()
            // Restore the files for the next pair.
            for name in folder.names { unlink(folder.path(name)) }
            try lay(files, in: folder)
        }
    }
}
