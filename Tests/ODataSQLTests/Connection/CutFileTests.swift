import EncryptedSQLite
import Foundation
import GRDB
import Secrets
import Testing

@testable import ODataSQL

@Suite("A truncated database beside its log")
struct CutFileTests {
    private let key = EncryptionKey.generate()
    private let folder: URL

    init() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("cut-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    private func path(_ name: String) -> String { folder.appendingPathComponent(name).path }

    private func open(_ name: String) throws -> StoreDatabase {
        var options = StoreDatabase.Options()
        options.createsFile = false
        return try StoreDatabase.open(path: path(name), protection: .encrypted(.key(key)), options: options)
    }

    /// Returns the files of a killed process. The last page of a long text is the last page of the file, and a
    /// newer row is only in the log.
    private func crashedFiles() async throws -> [String: Data] {
        let store = try StoreDatabase.open(path: path("made.db"), protection: .encrypted(.key(key)))
        try await store.write { database in
            try database.execute(sql: "CREATE TABLE note (id INTEGER PRIMARY KEY, body TEXT)")
            for id in 1...2 {
                let text = String(repeating: "A", count: 30_000)
                try database.execute(sql: "INSERT INTO note VALUES (?, ?)", arguments: [id, text])
            }
        }
        _ = try await store.pool.writeWithoutTransaction { try $0.checkpoint(.truncate) }
        try await store.write { try $0.execute(sql: "INSERT INTO note VALUES (3, 'new')") }
        defer { try? store.close() }
        return try files("made.db")
    }

    private func files(_ name: String) throws -> [String: Data] {
        var files: [String: Data] = [:]
        for suffix in ["", "-wal"] { files[suffix] = try Data(contentsOf: URL(fileURLWithPath: path(name) + suffix)) }
        return files
    }

    private func write(_ files: [String: Data], _ name: String) throws {
        for (suffix, data) in files { try data.write(to: URL(fileURLWithPath: path(name) + suffix)) }
    }

    @Test("is refused as damaged, and neither file changes")
    func cut() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let whole = try await crashedFiles()
        let size = try #require(whole[""]?.count)
        let pages = size / EncryptedDatabase.pageSize - 1
        #expect(pages > 10)
        // The lengths range from one missing byte to a single remaining page, with and without partial pages.
        let lengths =
            (1..<pages).map { size - $0 * EncryptedDatabase.pageSize } + [size - 1, size - 2 * 4096 - 100, 8292]
        for length in lengths {
            var cut = whole
            cut[""] = cut[""]?.prefix(length)
            let name = "cut\(length).db"
            try write(cut, name)
            #expect {
                try open(name).close()
            } throws: {
                guard case StoreError.corrupt? = $0 as? StoreError else { return false }
                return true
            }
            #expect(try files(name) == cut, "\(length) of \(size) bytes")
        }
    }

    @Test("opens if the log has the missing pages, as after a crash in a checkpoint")
    func checkpoint() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let store = try StoreDatabase.open(path: path("made.db"), protection: .encrypted(.key(key)))
        try await store.write { try $0.execute(sql: "CREATE TABLE note (id INTEGER PRIMARY KEY, body TEXT)") }
        for id in 1...5 {
            try await store.write { database in
                let text = String(repeating: "A", count: 9000)
                try database.execute(sql: "INSERT INTO note VALUES (?, ?)", arguments: [id, text])
            }
        }
        let before = try files("made.db")
        _ = try await store.pool.writeWithoutTransaction { try $0.checkpoint(.passive) }
        let moved = try files("made.db")
        try store.close()
        #expect(before["-wal"] == moved["-wal"])
        let (start, end) = (try #require(before[""]?.count), try #require(moved[""]?.count))
        #expect(start + 8 * EncryptedDatabase.pageSize < end)
        // The process may end after the checkpoint has written any part of the file, and the last page may be
        // incomplete.
        for length in Array(stride(from: start, through: end, by: EncryptedDatabase.pageSize)) + [end - 1, end - 5000] {
            var part = moved
            part[""] = moved[""]?.prefix(length)
            let name = "part\(length).db"
            try write(part, name)
            let opened = try open(name)
            let sum = try await opened.read { try Int.fetchOne($0, sql: "SELECT SUM(LENGTH(body)) FROM note") }
            #expect(sum == 45_000, "\(length) of \(end) bytes")
            try opened.close()
            #expect(try EncryptedDatabase.verify(at: path(name)) == [])
        }
    }
}
