import Foundation
import Testing

@testable import Supportability

/// The executable `LogProbe`, which is in the same folder as the tests.
private enum Probe {
    static let executable: URL = {
        let candidates = [CommandLine.arguments[0], Bundle.main.bundlePath] + Bundle.allBundles.map(\.bundlePath)
        for candidate in candidates {
            let tool = URL(fileURLWithPath: candidate).deletingLastPathComponent().appendingPathComponent("LogProbe")
            if FileManager.default.isExecutableFile(atPath: tool.path) { return tool }
        }
        return URL(fileURLWithPath: "LogProbe")
    }()

    static func start(_ arguments: String...) throws -> Process {
        let process = Process()
        process.executableURL = executable
        process.arguments = arguments
        try process.run()
        return process
    }
}

@Suite("A log of several processes")
struct LogProcessTests {
    @Test("Concurrent processes lose nothing, keep their order and are distinguished")
    func together() throws {
        let folder = LogFolder()
        let log = try StoredLog(folder: folder.path)
        let processes = try ["a", "b", "c"].map { try Probe.start(folder.path, $0, "700") }
        for number in 0..<700 { try log.append(record("entry \(number)", tag: "own")) }
        for process in processes {
            process.waitUntilExit()
            #expect(process.terminationStatus == 0)
        }
        let reading = try log.read()
        #expect(reading.unreadable == 0)
        for tag in ["a", "b", "c", "own"] {
            #expect(reading.records.filter { $0.tag == tag }.map(\.message) == (0..<700).map { "entry \($0)" })
        }
        for (process, tag) in zip(processes, ["a", "b", "c"]) {
            let found = try log.read(LogQuery(processID: process.processIdentifier)).records
            #expect(found.count == 700 && found.allSatisfy { $0.tag == tag && $0.correlationID == tag })
        }
    }

    @Test("Killed writers leave a readable and writable log with all their entries")
    func killed() throws {
        let folder = LogFolder()
        let log = try StoredLog(folder: folder.path)
        for round in 0..<5 {
            let process = try Probe.start(folder.path, "k\(round)")
            let deadline = Date(timeIntervalSinceNow: 20)
            while try log.read(LogQuery(tag: "k\(round)")).records.count < 50, Date() < deadline { usleep(2000) }
            kill(process.processIdentifier, SIGKILL)
            process.waitUntilExit()
            try log.append(record("after \(round)", tag: "own"))
        }
        let reading = try log.read()
        #expect(reading.records.filter { $0.tag == "own" }.map(\.message) == (0..<5).map { "after \($0)" })
        for round in 0..<5 {
            let messages = reading.records.filter { $0.tag == "k\(round)" }.map(\.message)
            #expect(messages.count >= 50)
            #expect(messages == (0..<messages.count).map { "entry \($0)" })
        }
        #expect(reading.unreadable <= 5)
    }
}
