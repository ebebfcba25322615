import Foundation
import Logging
import Synchronization
import Testing

@testable import Supportability

/// An app's own sink.
private final class ForeignSink: LogSink {
    private let kept = Mutex<[LogRecord]>([])
    func write(_ record: LogRecord) { kept.withLock { $0.append(record) } }
    var records: [LogRecord] { kept.withLock { $0 } }
}

private struct ForeignFormatter: LogFormatter {
    func line(of record: LogRecord) -> String { "<\(record.message)>" }
}

private struct OnlyTag: LogFilter {
    let tag: String
    func admits(_ record: LogRecord) -> Bool { record.tag == tag }
}

private struct Upper: LogRedaction {
    func redacted(_ record: LogRecord) -> LogRecord {
        var record = record
        record.message = record.message.uppercased()
        return record
    }
}

@Suite("The pipeline of a log record")
struct LogPipelineTests {
    private let memory = MemoryLogSink()

    private func logger(_ pipeline: LogPipeline, _ label: String = "sync") -> Logger {
        Logger(label: label) { pipeline.handler(label: $0) }
    }

    @Test("There are eight levels with the numbers of syslog, and more severe levels compare as greater")
    func levels() {
        #expect(LogSeverity.allCases.map(\.rawValue) == Array(0...7))
        #expect(LogSeverity.emergency > .alert)
        #expect(LogSeverity.error > .warning)
        #expect(LogSeverity.debug < .info)
        #expect(LogSeverity(name: "Warning") == .warning)
        #expect(LogSeverity(name: "loud") == nil)
    }

    @Test(
        "Severity filters select by severity",
        arguments: [
            (SeverityFilter.atLeast(.error), [0, 1, 2, 3]), (.graverThan(.error), [0, 1, 2]),
            (.exactly(.error), [3]), (.atMost(.error), [3, 4, 5, 6, 7]), (.lessGraveThan(.error), [4, 5, 6, 7]),
        ])
    func filters(_ filter: SeverityFilter, _ numbers: [Int]) {
        #expect(LogSeverity.allCases.filter(filter.admits).map(\.rawValue) == numbers)
    }

    @Test("Every swift-log level has its severity, including alert and emergency")
    func mapping() {
        let log = logger(LogPipeline(threshold: .debug, sinks: [memory]))
        for level in Logger.Level.allCases { log.log(level: level, "\(level)") }
        log.alert("alert")
        log.emergency("emergency", metadata: ["a": "b"])
        #expect(
            memory.records().map(\.severity) == [
                .debug, .debug, .info, .notice, .warning, .error, .critical, .alert, .emergency,
            ])
        #expect(memory.records().last?.metadata == ["a": "b"])
    }

    @Test("The default threshold is error, a change applies at once, and alerts always pass")
    func threshold() {
        let pipeline = LogPipeline(sinks: [memory])
        let log = logger(pipeline)
        #expect(log.logLevel == .error)
        log.warning("not this")
        log.error("this")
        pipeline.threshold = .info
        log.info("this too")
        log.debug("not that")
        pipeline.threshold = .emergency
        log.critical("no")
        log.alert("always")
        #expect(memory.records().map(\.message) == ["this", "this too", "always"])
    }

    @Test("A logger keeps its own level")
    func ownLevel() {
        var log = logger(LogPipeline(threshold: .error, sinks: [memory]))
        log.logLevel = .debug
        log.debug("detail")
        #expect(memory.records().map(\.message) == ["detail"])
    }

    @Test("A disabled pipeline records nothing")
    func enabled() {
        let pipeline = LogPipeline(threshold: .debug, sinks: [memory])
        pipeline.isEnabled = false
        logger(pipeline).emergency("no")
        pipeline.isEnabled = true
        logger(pipeline).debug("yes")
        #expect(memory.records().map(\.message) == ["yes"])
    }

    @Test("A record has its source location unless disabled or given")
    func location() {
        let pipeline = LogPipeline(threshold: .debug, sinks: [memory])
        let log = logger(pipeline)
        log.info("here")
        log.info("there", file: "App/There.swift", function: "go()", line: 7)
        pipeline.recordsLocation = false
        log.info("nowhere")
        let locations = memory.records().map(\.location)
        #expect(locations[0]?.file == "SupportabilityTests/LogPipelineTests.swift")
        #expect(locations[0]?.function == "location()")
        #expect(locations[1]?.line == 7)
        #expect(locations[2] == nil)
    }

    @Test("Metadata come from logger, task and call, and the correlation id is separate")
    func metadata() {
        let provider = Logger.MetadataProvider { ["correlation-id": "c-1", "task": "t"] }
        let pipeline = LogPipeline(threshold: .debug, sinks: [memory])
        var log = Logger(label: "x", factory: { pipeline.handler(label: $0, metadataProvider: provider) })
        log[metadataKey: "own"] = "o"
        log.info("m", metadata: ["request": ["method": "GET", "ids": ["1", "2"]]])
        let record = memory.records()[0]
        #expect(record.correlationID == "c-1")
        #expect(
            record.metadata == [
                "own": "o", "task": "t", "request.method": "GET", "request.ids.0": "1", "request.ids.1": "2",
            ])
        #expect(record.processID == ProcessInfo.processInfo.processIdentifier)
        #expect(record.tag == "x")
    }

    @Test("An app can replace sink, filter, formatter and redaction")
    func foreign() {
        let sink = ForeignSink()
        let lines = Mutex<[String]>([])
        let text = TextLogSink(ForeignFormatter()) { line in lines.withLock { $0.append(line) } }
        let pipeline = LogPipeline(
            threshold: .debug, redaction: Upper(), filter: OnlyTag(tag: "a"), sinks: [sink, text])
        logger(pipeline, "a").info("one")
        logger(pipeline, "b").info("two")
        #expect(sink.records.map(\.message) == ["ONE"])
        #expect(lines.withLock { $0 } == ["<ONE>"])
        pipeline.filter = nil
        pipeline.sinks = [memory]
        logger(pipeline, "b").info("three")
        #expect(memory.records().map(\.message) == ["THREE"])
        #expect(sink.records.count == 1)
    }

    @Test("Redaction comes before a filter and before every sink")
    func redactionFirst() {
        struct Watcher: LogFilter {
            let seen: MemoryLogSink
            func admits(_ record: LogRecord) -> Bool {
                seen.write(record)
                return true
            }
        }
        let seen = MemoryLogSink()
        let sink = ForeignSink()
        let pipeline = LogPipeline(threshold: .debug, filter: Watcher(seen: seen), sinks: [sink])
        logger(pipeline).info("password=hunter2", metadata: ["token": "abc", "Authorization": "Bearer xyz"])
        for record in seen.records() + sink.records {
            #expect(!"\(record)".contains("hunter2") && !"\(record)".contains("abc") && !"\(record)".contains("xyz"))
        }
        #expect(seen.records().count == 1)
    }

    @Test("The pipeline works within a MultiplexLogHandler")
    func multiplex() {
        let other = MemoryLogSink()
        let one = LogPipeline(threshold: .debug, sinks: [memory])
        let two = LogPipeline(threshold: .debug, sinks: [other])
        let log = Logger(label: "m") { MultiplexLogHandler([one.handler(label: $0), two.handler(label: $0)]) }
        log.error("both")
        #expect(memory.records().map(\.message) == ["both"])
        #expect(other.records().map(\.message) == ["both"])
    }

    @Test("Entries, exits, nested objects and durations are logged at detail level")
    func tracing() {
        struct Order { let id = 7, lines = [1, 2] }
        var log = logger(LogPipeline(threshold: .debug, sinks: [memory]))
        log.logLevel = .trace
        log.entering(["id": 7])
        log.exiting("done")
        log.nested(level: .debug, "state", ["order": Order()])
        log.performance("load", took: .milliseconds(1250))
        let records = memory.records()
        #expect(records.map(\.message) == ["entering tracing()", "exiting tracing()", "state", "load"])
        #expect(records[0].metadata == ["id": "7"])
        #expect(records[1].metadata == ["result": "done"])
        #expect(records[2].metadata["order"]?.contains("id: 7") == true)
        #expect(records[3].metadata == ["duration-ms": "1250"])
        log.logLevel = .info
        log.entering()
        log.performance("no", took: .zero)
        #expect(memory.records().count == 4)
    }

    @Test("The memory sink keeps at most its capacity", arguments: [2, 3, 4])
    func ring(_ count: Int) {
        let sink = MemoryLogSink(capacity: 3)
        for number in 0..<count { sink.write(record("\(number)")) }
        #expect(sink.records().map(\.message) == (max(0, count - 3)..<count).map { "\($0)" })
        #expect(sink.records(LogQuery(newest: 1)).map(\.message) == ["\(count - 1)"])
        sink.removeAll()
        #expect(sink.records().isEmpty)
    }

    @Test("A message of the maximum size is kept, and a longer one is cut between characters")
    func cutting() {
        let limit = LogRecord.maximumMessageByteCount
        let pipeline = LogPipeline(threshold: .debug, sinks: [memory])
        for size in [limit - 1, limit, limit + 1] {
            pipeline.write(record(String(repeating: "x", count: size)))
        }
        pipeline.write(record(String(repeating: "é", count: limit)))
        let sizes = memory.records().map(\.message.utf8.count)
        #expect(sizes[0...2] == [limit - 1, limit, limit])
        #expect(sizes[3] <= limit && sizes[3] > limit - 4)
        #expect(memory.records()[3].message.hasSuffix("é…"))
    }

    @Test("Each level has its priority in the system log")
    func systemLog() {
        SystemLogSink(subsystem: "outpost.tests").write(record("100 % done %s"))
        #if !canImport(os)
            #expect(LogSeverity.allCases.map(SystemLogSink.priority) == [8, 9, 10, 11, 12, 13, 14, 15])
        #endif
    }

    @Test("The system log has metadata, correlation id and location of a record on one line")
    func systemLogText() {
        var entry = record("done\nroot: forged", correlation: "c\n1")
        entry.metadata = ["status": "503", "host": "a\0b"]
        let text = "done\\nroot: forged host=a\\u{0}b status=503 correlation-id=c\\n1"
        #expect(SystemLogSink.text(of: entry) == text)
        entry.location = LogRecord.Location(source: "Sync", function: "send(_:)", file: "Sync/Uploader.swift", line: 12)
        #expect(SystemLogSink.text(of: entry) == text + " Uploader.send(_:)(Uploader.swift:12)")
    }

    @Test("A stopwatch gives whole milliseconds of a monotonic clock")
    func stopwatch() {
        let clock = Mutex(ContinuousClock().now)
        var watch = Stopwatch(now: { clock.withLock { $0 } })
        clock.withLock { $0 += .microseconds(12_999) }
        #expect(watch.elapsedMilliseconds == 12)
        #expect(watch.elapsed == .microseconds(12_999))
        watch.reset()
        #expect(watch.elapsedMilliseconds == 0)
    }
}

func record(
    _ message: String, _ severity: LogSeverity = .info, tag: String = "test", at time: Double = 1000,
    process: Int32 = 1, correlation: String? = nil
) -> LogRecord {
    LogRecord(
        time: Date(timeIntervalSince1970: time), severity: severity, tag: tag, message: message, processID: process,
        correlationID: correlation)
}
