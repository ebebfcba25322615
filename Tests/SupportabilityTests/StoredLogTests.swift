import Foundation
import Testing

@testable import Supportability

struct LogFolder: ~Copyable {
    let path = NSTemporaryDirectory() + "outpost-log-\(UUID().uuidString)"
    deinit { try? FileManager.default.removeItem(atPath: path) }

    var files: [String] { ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).sorted() }
    var segments: [String] { files.filter { $0.hasSuffix(".log") }.map { path + "/" + $0 } }
}

/// A cipher for tests that flips bits and adds a mark, which a wrong key does not find.
private func sealing(_ key: UInt8) -> LogSealing {
    LogSealing(
        seal: { ([0x55] + $0).map { $0 ^ key } },
        open: { bytes in
            let plain = bytes.map { $0 ^ key }
            guard plain.first == 0x55 else { throw StoredLogError.unwritable }
            return Array(plain.dropFirst())
        })
}

@Suite("A stored log")
struct StoredLogTests {
    @Test("After a partial write or a signal, the rest is written")
    func shortWrites() throws {
        var written: [UInt8] = []
        var results = [2, -1, 1, 4]
        try LogFile.writeAll([1, 2, 3, 4, 5, 6, 7], path: "p") { rest, done in
            #expect(done == written.count)
            let count = results.removeFirst()
            if count < 0 { errno = EINTR } else { written += rest.prefix(count) }
            return count
        }
        #expect(written == [1, 2, 3, 4, 5, 6, 7])
        for (result, code) in [(-1, ENOSPC), (0, EIO)] {
            #expect(throws: StoredLogError.system(operation: "writing", path: "p", code: code)) {
                try LogFile.writeAll([1], path: "p") { _, _ in
                    errno = ENOSPC
                    return result
                }
            }
        }
    }

    @Test("Bytes are written at an offset")
    func writeAtOffset() throws {
        let folder = LogFolder()
        try FileManager.default.createDirectory(atPath: folder.path, withIntermediateDirectories: true)
        let file = try LogFile(folder.path + "/file", O_RDWR | O_CREAT)
        try file.append([1, 2, 3, 4])
        try file.write([8, 9], at: 1)
        #expect(try file.read(from: 0, to: 9) == [1, 8, 9, 4])
    }

    @Test("Entries are read back by another object")
    func roundTrip() throws {
        let folder = LogFolder()
        let log = try StoredLog(folder: folder.path)
        var entry = record("zwei\nZeilen \u{1F600} \"quoted\"", .warning, correlation: "c")
        entry.time = Date(timeIntervalSince1970: 1_700_000_000.123456)
        entry.metadata = ["a": "b"]
        entry.location = LogRecord.Location(source: "S", function: "f(_:)", file: "M/F.swift", line: 3)
        try log.append(entry)
        let again = try StoredLog(folder: folder.path)
        #expect(try again.read().records == [entry])
        #expect(try again.count == 1)
    }

    @Test(
        "A foreign file with any number is ignored",
        arguments: ["18446744073709551615.log", "18446744073709551614.log", "7.log", "+0000000000000000007.log"])
    func strangeNumber(name: String) throws {
        let folder = LogFolder()
        try StoredLog(folder: folder.path).append(record("first", .error))
        try Data("{}\n".utf8).write(to: URL(fileURLWithPath: folder.path + "/" + name))
        let log = try StoredLog(folder: folder.path)
        #expect(try log.count == 1)
        try log.removeAll()
        try log.append(record("second", .error))
        #expect(try log.read().records.map(\.message) == ["second"])
        #expect(folder.files.contains(name))
    }

    @Test("Entries are found by level, tag, time, process and correlation id, and by all at once")
    func filters() throws {
        let folder = LogFolder()
        let log = try StoredLog(folder: folder.path)
        try log.append(record("a", .error, tag: "sync", at: 10, process: 1, correlation: "x"))
        try log.append(record("b", .warning, tag: "sync", at: 20, process: 2, correlation: "x"))
        try log.append(record("c", .debug, tag: "cache", at: 30, process: 1))
        func found(_ query: LogQuery) throws -> String { try log.read(query).records.map(\.message).joined() }
        #expect(try found(LogQuery()) == "abc")
        #expect(try found(LogQuery(severity: .atLeast(.warning))) == "ab")
        #expect(try found(LogQuery(tag: "sync")) == "ab")
        #expect(try found(LogQuery(from: Date(timeIntervalSince1970: 20))) == "bc")
        #expect(try found(LogQuery(until: Date(timeIntervalSince1970: 20))) == "a")
        #expect(try found(LogQuery(processID: 1)) == "ac")
        #expect(try found(LogQuery(correlationID: "x")) == "ab")
        #expect(try found(LogQuery(newest: 2)) == "bc")
        #expect(try found(LogQuery(newest: -1)) == "")
        #expect(try found(LogQuery(severity: .exactly(.error), tag: "sync", processID: 1, correlationID: "x")) == "a")
    }

    @Test("At 10,000 entries the next one drops the oldest 200")
    func rotation() throws {
        #expect(StoredLog.Limits() == StoredLog.Limits(entries: 10_000, dropped: 200, bytes: 32 << 20))
        let folder = LogFolder()
        let log = try StoredLog(folder: folder.path)
        for number in 0..<9_999 { try log.append(record("\(number)")) }
        #expect(try log.count == 9_999)
        try log.append(record("9999"))
        #expect(try log.count == 10_000)
        try log.append(record("10000"))
        #expect(try log.count == 9_801)
        let records = try log.read().records
        #expect(records.first?.message == "200")
        #expect(records.last?.message == "10000")
        #expect(folder.segments.count == 50)
    }

    @Test("The bytes on disk are limited, and the newest entries stay", arguments: [nil, UInt8(3)])
    func byteLimit(_ key: UInt8?) throws {
        let folder = LogFolder()
        let limits = StoredLog.Limits(bytes: StoredLog.Limits.leastBytes)
        let log = try StoredLog(folder: folder.path, limits: limits, sealing: key.map(sealing))
        var greatest = record(String(repeating: "\u{1}", count: LogRecord.maximumMessageByteCount))
        for number in 0..<LogRecord.maximumMetadataCount {
            let prefix = "\(number)-"
            let filler = String(repeating: "\u{1}", count: LogRecord.maximumFieldByteCount)
            greatest.metadata[prefix + filler] = filler
        }
        var sizes: [Int] = []
        for _ in 0..<20 {
            try log.append(greatest)
            sizes.append(
                try folder.segments.reduce(0) {
                    $0 + (try FileManager.default.attributesOfItem(atPath: $1)[.size] as? Int ?? 0)
                })
        }
        #expect(sizes.max() ?? 0 <= limits.bytes)
        #expect(sizes.max() ?? 0 > limits.bytes / 2, "the limit was reached at all")
        #expect(try log.read().records.last?.message == greatest.message)
        #expect(log.lost == 0)
    }

    @Test(
        "Invalid limits are refused", arguments: [(0, 0, 4 << 20), (1, 2, 4 << 20), (10, 2, (4 << 20) - 1)])
    func badLimits(_ entries: Int, _ dropped: Int, _ bytes: Int) {
        #expect(throws: StoredLogError.self) {
            try StoredLog(
                folder: "/nonexistent", limits: StoredLog.Limits(entries: entries, dropped: dropped, bytes: bytes))
        }
    }

    @Test("Clean-up removes entries below a threshold, and everything on request")
    func cleanUp() throws {
        let folder = LogFolder()
        let log = try StoredLog(folder: folder.path)
        let other = try StoredLog(folder: folder.path)
        for severity in LogSeverity.allCases { try log.append(record(severity.name, severity)) }
        try log.removeRecords(lessGraveThan: .warning)
        #expect(
            try other.read().records.map(\.message) == ["emergency", "alert", "critical", "error", "warning"])
        try other.append(record("more"))
        #expect(try log.count == 6)
        try log.removeAll()
        #expect(try other.count == 0)
        try other.append(record("again"))
        #expect(try log.read().records.map(\.message) == ["again"])
    }

    @Test("A damaged or truncated entry does not hide the others")
    func damaged() throws {
        let folder = LogFolder()
        let log = try StoredLog(folder: folder.path)
        try log.append(record("one"))
        let segment = try #require(folder.segments.first)
        let file = try #require(FileHandle(forWritingAtPath: segment))
        try file.seekToEnd()
        try file.write(contentsOf: Data("\u{0}\u{FF}rubbish\n{\"t\":1,\"s\":".utf8))
        try file.close()
        try log.append(record("two"))
        let reading = try log.read()
        #expect(reading.records.map(\.message) == ["one", "two"])
        #expect(reading.unreadable == 2)
    }

    @Test("Only the owner can read the files")
    func permissions() throws {
        let folder = LogFolder()
        let log = try StoredLog(folder: folder.path)
        try log.append(record("one"))
        try log.setHeader(.ofThisMachine(appName: "a", appVersion: "1"))
        func mode(_ path: String) throws -> Int? {
            try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        }
        #expect(try mode(folder.path) == 0o700)
        for name in folder.files { #expect(try mode(folder.path + "/" + name) == 0o600, "\(name)") }
        #expect(folder.files.count == 4)
    }

    @Test("A folder that cannot be used is a typed error, and logging continues without it")
    func unwritable() throws {
        let folder = LogFolder()
        try Data().write(to: URL(fileURLWithPath: folder.path))
        #expect(throws: StoredLogError.self) { try StoredLog(folder: folder.path) }
        #expect(throws: StoredLogError.self) { try StoredLog(folder: folder.path + "/below") }
        try FileManager.default.removeItem(atPath: folder.path)

        let log = try StoredLog(folder: folder.path)
        try FileManager.default.removeItem(atPath: folder.path)
        try Data().write(to: URL(fileURLWithPath: folder.path))
        log.write(record("lost"))
        #expect(log.lost == 1)
        #expect(log.lastFailure != nil)
    }

    @Test("A removed folder is created again")
    func removedFolder() throws {
        let folder = LogFolder()
        let log = try StoredLog(folder: folder.path)
        try log.append(record("one"))
        try FileManager.default.removeItem(atPath: folder.path)
        try log.append(record("two"))
        #expect(try log.read().records.map(\.message) == ["two"])
    }

    @Test("An encrypted log shows nothing on disk, and needs its key")
    func sealed() throws {
        let folder = LogFolder()
        let log = try StoredLog(folder: folder.path, sealing: sealing(7))
        try log.append(record("marker-of-an-entry"))
        try log.setHeader(
            LogHeader(
                systemVersion: "1", appName: "marker-of-an-app", appVersion: "2", hardwareVersion: "3", timeZone: "4",
                language: "5"))
        for name in folder.files {
            let bytes = try Data(contentsOf: URL(fileURLWithPath: folder.path + "/" + name))
            #expect(bytes.range(of: Data("marker".utf8)) == nil, "\(name)")
        }
        #expect(try StoredLog(folder: folder.path, sealing: sealing(7)).read().records.map(\.message).count == 1)
        #expect(try log.header?.appName == "marker-of-an-app")
        #expect(throws: StoredLogError.keyMissing(folder: folder.path)) { try StoredLog(folder: folder.path) }
        #expect(throws: StoredLogError.wrongKey(folder: folder.path)) {
            try StoredLog(folder: folder.path, sealing: sealing(8))
        }
    }

    @Test("An unencrypted log is not opened as encrypted, and nothing is deleted")
    func notSealed() throws {
        let folder = LogFolder()
        let log = try StoredLog(folder: folder.path)
        try log.append(record("stays"))
        #expect(throws: StoredLogError.notSealed(folder: folder.path)) {
            try StoredLog(folder: folder.path, sealing: sealing(7))
        }
        #expect(try log.count == 1)
    }

    @Test("A file of another version is not changed", arguments: ["{\"format\":2}", "rubbish", ""])
    func otherVersion(_ content: String) throws {
        let folder = LogFolder()
        _ = try StoredLog(folder: folder.path)
        try Data(content.utf8).write(to: URL(fileURLWithPath: folder.path + "/format"))
        #expect(throws: StoredLogError.unknownFormat(path: folder.path + "/format")) {
            try StoredLog(folder: folder.path)
        }
    }

    @Test("The text has nine labelled lines, an empty one, and a line for each entry")
    func text() throws {
        let folder = LogFolder()
        let log = try StoredLog(folder: folder.path)
        try log.setHeader(
            LogHeader(
                systemVersion: "Linux 6", appName: "Shop", appVersion: "2.1", hardwareVersion: "x86_64",
                timeZone: "UTC", language: "de-DE"))
        try log.updateHeader {
            $0.user = "ann"
            $0.baseURL = "https://ann:pw@host/service/?key=1"
        }
        var entry = record("line one\nline two", .warning, tag: "sync", at: 1_769_847_330.25, correlation: "c")
        entry.location = LogRecord.Location(source: "M", function: "send(_:)", file: "M/Uploader.swift", line: 12)
        entry.metadata = ["status": "503"]
        try log.append(entry)
        try log.append(record("bare", .info, at: -0.5))
        let zone = try #require(TimeZone(identifier: "UTC"))
        #expect(
            try log.text(formatter: PlainTextLogFormatter(timeZone: zone)) == """
                OS version: Linux 6
                App name: Shop
                App version: 2.1
                Third party: -
                HW version: x86_64
                User: ann
                Time zone: UTC
                Language: de-DE
                Base URL: https://‹redacted›@host/service/?key=‹redacted›

                2026-01-31 08:15:30.250 WARNING sync Uploader.send(_:)(Uploader.swift:12) line one\\nline two \
                status=503 correlation-id=c
                1969-12-31 23:59:59.500 INFO test - bare

                """)
    }

    @Test("The export goes to a private file, which is replaced as a whole, in the requested format")
    func export() throws {
        let folder = LogFolder()
        let log = try StoredLog(folder: folder.path)
        try log.append(record("a", .error))
        try log.append(record("b", .info))
        let path = folder.path + "/export.txt"
        try Data("older and longer than what comes now".utf8).write(to: URL(fileURLWithPath: path))
        try log.export(to: path, LogQuery(severity: .atLeast(.error)), formatter: JSONLogFormatter())
        #expect(
            try String(contentsOfFile: path, encoding: .utf8)
                == #"{"message":"a","metadata":{},"processID":1,"severity":"error","tag":"test","#
                + #""time":"1970-01-01T00:16:40.000Z"}"# + "\n")
    }

    @Test("An export can be compressed with gzip, and only its owner can read it")
    func packed() throws {
        let folder = LogFolder()
        let log = try StoredLog(folder: folder.path)
        for number in 0..<2000 { try log.append(record("entry \(number)", .error)) }
        let path = folder.path + "/export.txt.gz"
        try log.export(to: path, isPacked: true)
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/gzip")
        process.arguments = ["-dc", path]
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        #expect(text == (try log.text()))
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        #expect((attributes[.size] as? Int ?? .max) < text.utf8.count / 5)
        #expect(throws: StoredLogError.self) { try log.export(to: "/proc/none/export.gz", isPacked: true) }
    }

    @Test("An export follows links and writes into pipes and devices")
    func exportElsewhere() throws {
        let folder = LogFolder()
        let log = try StoredLog(folder: folder.path)
        try log.append(record("a", .error))
        let text = try log.text()
        for (link, target) in [("link", "file"), ("dangling", "none yet")] {
            let (link, file) = (folder.path + "/" + link, folder.path + "/" + target)
            if target == "file" { try Data("older".utf8).write(to: URL(fileURLWithPath: file)) }
            try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: target)
            try log.export(to: link)
            #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == target)
            #expect(try String(contentsOfFile: file, encoding: .utf8) == text)
        }
        let pipe = folder.path + "/pipe"
        try #require(mkfifo(pipe, 0o600) == 0)
        let reader = open(pipe, O_RDONLY | O_NONBLOCK)
        defer { close(reader) }
        try log.export(to: pipe)
        var bytes = [UInt8](repeating: 0, count: 65_536)
        let count = read(reader, &bytes, bytes.count)
        #expect(String(decoding: bytes.prefix(max(count, 0)), as: UTF8.self) == text)
        var status = stat()
        #expect(lstat(pipe, &status) == 0 && status.st_mode & S_IFMT == S_IFIFO)
    }

    @Test("Selected entries are exported alone with the header")
    func picked() throws {
        let folder = LogFolder()
        let log = try StoredLog(folder: folder.path)
        for message in ["a", "b", "c"] { try log.append(record(message, .error)) }
        let path = folder.path + "/export.txt"
        try log.export(try log.read().records.filter { $0.message != "b" }, to: path)
        let lines = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n")
        #expect(lines.count == 11)
        #expect(lines.suffix(2).map { $0.last } == ["a", "c"])
    }

    @Test("A header of this machine has its fields filled")
    func machine() {
        let header = LogHeader.ofThisMachine(appName: "a", appVersion: "1", thirdParty: "lib 2")
        #expect(header.fields.count == 9)
        for (label, value) in header.fields where label != "User" && label != "Base URL" {
            #expect(value?.isEmpty == false, "\(label)")
        }
    }

    @Test("Several objects with threads on one folder lose nothing")
    func threads() async throws {
        let folder = LogFolder()
        let path = folder.path
        await withTaskGroup(of: Void.self) { group in
            for writer in 0..<4 {
                group.addTask {
                    guard let log = try? StoredLog(folder: path, limits: StoredLog.Limits(dropped: 50)) else { return }
                    for number in 0..<100 { log.write(record("\(number)", tag: "\(writer)")) }
                }
            }
        }
        let records = try StoredLog(folder: path).read().records
        for writer in 0..<4 {
            #expect(records.filter { $0.tag == "\(writer)" }.map(\.message) == (0..<100).map { "\($0)" })
        }
    }
}
