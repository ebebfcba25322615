import Foundation
import Testing

@testable import Supportability

@Suite("Opening a log")
struct LogOpeningTests {
    private let limits = StoredLog.Limits(entries: 1_000, dropped: 20)

    /// Fills and closes a log of fifty files.
    private func fill(_ folder: borrowing LogFolder) throws {
        let log = try StoredLog(folder: folder.path, limits: limits)
        for number in 0..<1_000 { try log.append(record("\(number)")) }
        #expect(folder.segments.count == 50)
    }

    /// Overwrites the bytes of a file from an offset on.
    private func overwrite(_ path: String, at offset: Int = 0, _ bytes: (Int) -> [UInt8]) throws {
        let size = try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int ?? 0
        let file = try #require(FileHandle(forUpdatingAtPath: path))
        try file.seek(toOffset: UInt64(offset))
        try file.write(contentsOf: Data(bytes(size - offset)))
        try file.close()
    }

    @Test("Only the newest file is read, and closed files have stored counts")
    func newestAlone() throws {
        let folder = LogFolder()
        try fill(folder)
        // Reading these files would find no entries.
        for path in folder.segments.dropLast() { try overwrite(path) { [UInt8](repeating: 0x78, count: $0) } }
        let log = try StoredLog(folder: folder.path, limits: limits)
        #expect(try log.count == 1_000)
        try log.append(record("1000"))
        #expect(try log.count == 981)
        #expect(folder.segments.count == 50)
    }

    @Test("Files of an older version are read once")
    func withoutCounts() throws {
        let folder = LogFolder()
        try fill(folder)
        let lock = folder.path + "/lock"
        try #require(FileHandle(forUpdatingAtPath: lock)).truncate(atOffset: 8)
        #expect(try StoredLog(folder: folder.path, limits: limits).count == 1_000)
        for path in folder.segments.dropLast() { try overwrite(path) { [UInt8](repeating: 0x78, count: $0) } }
        #expect(try StoredLog(folder: folder.path, limits: limits).count == 1_000)
    }

    @Test("A damaged count is ignored", arguments: [UInt8(0), 0xFF, 1])
    func damagedCounts(_ byte: UInt8) throws {
        let folder = LogFolder()
        try fill(folder)
        try overwrite(folder.path + "/lock", at: 8) { [UInt8](repeating: byte, count: $0) }
        let log = try StoredLog(folder: folder.path, limits: limits)
        #expect(try log.count == 1_000)
        try log.append(record("1000"))
        #expect(try log.count == 981)
    }

    @Test("A file with another size than its count is read")
    func otherSize() throws {
        let folder = LogFolder()
        try fill(folder)
        let first = try #require(folder.segments.first)
        let lines = try String(contentsOfFile: first, encoding: .utf8).split(separator: "\n")
        try Data((lines.dropLast(5).joined(separator: "\n") + "\n").utf8).write(to: URL(fileURLWithPath: first))
        #expect(try StoredLog(folder: folder.path, limits: limits).count == 995)
    }

    @Test("After a clean-up, files are counted again, for other objects too")
    func afterCleanUp() throws {
        let folder = LogFolder()
        let log = try StoredLog(folder: folder.path, limits: limits)
        let other = try StoredLog(folder: folder.path, limits: limits)
        for number in 0..<100 { try log.append(record("\(number)", number % 4 == 0 ? .error : .info)) }
        try log.removeRecords(lessGraveThan: .warning)
        #expect(try other.count == 25)
        #expect(try StoredLog(folder: folder.path, limits: limits).count == 25)
        try other.removeAll()
        #expect(try StoredLog(folder: folder.path, limits: limits).count == 0)
    }

    @Test("Files beyond the number of counts are counted as well")
    func manyFiles() throws {
        let folder = LogFolder()
        let limits = StoredLog.Limits(entries: 700, dropped: 1)
        let log = try StoredLog(folder: folder.path, limits: limits)
        for number in 0..<700 { try log.append(record("\(number)")) }
        #expect(folder.segments.count == 700)
        #expect(try StoredLog(folder: folder.path, limits: limits).count == 700)
    }
}
