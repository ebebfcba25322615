import Foundation
import Testing

@testable import Supportability

@Suite("An altered encrypted log")
struct AlteredLogTests {
    /// A cipher for tests that detects data that it has not sealed.
    private static let sealing = LogSealing(
        seal: { [0x55] + $0.map { $0 ^ 0x2A } },
        open: { bytes in
            guard bytes.first == 0x55 else { throw StoredLogError.unwritable }
            return bytes.dropFirst().map { $0 ^ 0x2A }
        })
    private static let limits = StoredLog.Limits(entries: 100, dropped: 5)

    private func log(_ folder: borrowing LogFolder) throws -> StoredLog {
        try StoredLog(folder: folder.path, limits: Self.limits, sealing: Self.sealing)
    }

    /// Fills a log with 12 entries in three files.
    private func filled(_ folder: borrowing LogFolder) throws {
        let log = try log(folder)
        for number in 0..<12 { try log.append(record("entry \(number)", .error)) }
        #expect(folder.segments.count == 3)
        #expect(try log.read().breaks == 0)
    }

    private static func lines(_ path: String) throws -> [Substring] {
        try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n")
    }

    private static func write(_ lines: [Substring], to path: String) throws {
        try Data(lines.map { $0 + "\n" }.joined().utf8).write(to: URL(fileURLWithPath: path))
    }

    /// The alterations of the lines of a file.
    enum Alteration: CaseIterable {
        case swapped, droppedFirst, droppedInside, droppedLast, doubled, doubledAtEnd, movedToOtherFile, emptied
    }

    @Test("Swapped, dropped, doubled and moved lines are detected in each file", arguments: Alteration.allCases)
    func altered(_ alteration: Alteration) throws {
        for file in 0..<3 {
            let folder = LogFolder()
            try filled(folder)
            let path = folder.segments[file]
            var lines = try Self.lines(path)
            let others = 12 - lines.count
            switch alteration {
            case .swapped: lines.swapAt(0, 1)
            case .droppedFirst: lines.removeFirst()
            case .droppedInside: lines.remove(at: lines.count - 2)
            case .droppedLast: lines.removeLast()
            case .doubled: lines.insert(lines[0], at: 1)
            case .doubledAtEnd: lines.append(lines[lines.count - 1])
            case .movedToOtherFile: lines[0] = try #require(try Self.lines(folder.segments[(file + 1) % 3]).first)
            case .emptied: lines = []
            }
            try Self.write(lines, to: path)
            let reading = try log(folder).read()
            #expect(reading.breaks > 0, "file \(file)")
            #expect(reading.unreadable == 0)
            #expect(reading.records.count == others + lines.count, "what is left can be read")
        }
    }

    @Test("A missing file is detected in the middle and at the end")
    func files() throws {
        for file in [1, 2] {
            let folder = LogFolder()
            try filled(folder)
            try FileManager.default.removeItem(atPath: folder.segments[file])
            #expect(try log(folder).read().breaks > 0, "file \(file)")
        }
    }

    @Test(
        "The log's own operations are no alteration: dropping, removing by level, clearing and a cut line")
    func own() throws {
        let folder = LogFolder()
        let log = try log(folder)
        for number in 0..<230 { try log.append(record("entry \(number)", number % 3 == 0 ? .error : .info)) }
        #expect(try log.read().breaks == 0)
        try log.removeRecords(lessGraveThan: .error)
        #expect(try log.read().records.allSatisfy { $0.severity == .error })
        #expect(try log.read().breaks == 0)
        try log.append(record("next", .error))
        let newest = try #require(folder.segments.last)
        let handle = try #require(FileHandle(forWritingAtPath: newest))
        try handle.seekToEnd()
        try handle.write(contentsOf: Data("VVV".utf8))
        try handle.close()
        for number in 0..<12 { try log.append(record("after \(number)", .error)) }
        let reading = try log.read()
        #expect(reading.unreadable == 1 && reading.breaks == 0)
        let other = try StoredLog(folder: folder.path, limits: Self.limits, sealing: Self.sealing)
        try other.removeAll()
        #expect(try log.read().breaks == 0)
        try log.append(record("last", .error))
        #expect(try other.read().records.map(\.message) == ["last"])
        #expect(try other.read().breaks == 0)
    }

    @Test("Entries of an earlier version are read and continued, and misplaced ones are detected")
    func earlier() throws {
        func line(_ number: Int) throws -> Substring {
            let encoded = Array(try JSONEncoder().encode(record("old \(number)", .error)))
            return Substring(Data(try Self.sealing.seal(encoded)).base64EncodedString())
        }
        let folder = LogFolder()
        _ = try log(folder)
        let first = folder.path + "/00000000000000000001.log"
        try Self.write(try (0..<3).map(line), to: first)
        let log = try log(folder)
        #expect(try log.read().records.map(\.message) == ["old 0", "old 1", "old 2"])
        #expect(try log.read().breaks == 0)
        for number in 0..<4 { try log.append(record("new \(number)", .error)) }
        let reading = try log.read()
        #expect(reading.records.count == 7 && reading.breaks == 0)
        let newest = try #require(folder.segments.last)
        try Self.write(try Self.lines(newest) + [try line(9)], to: newest)
        #expect(try self.log(folder).read().breaks == 1)
    }
}
