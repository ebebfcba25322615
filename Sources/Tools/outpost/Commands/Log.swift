import ArgumentParser
import Foundation
import OfflineOData
import Supportability
import ToolLanguage

struct Log: AsyncParsableCommand, CloneCommand {
    static let configuration = CommandConfiguration(
        commandName: "log",
        abstract: translated("Show the events of a clone, or the log of the tool."),
        discussion: translated(
            paragraphs: """
                With a directory, the log shows the events of that clone, newest first. Without one, it shows the log \
                of the tool itself for all its runs, newest first; JSON and exports are oldest first. The tool keeps \
                the newest 10,000 entries, encrypted and without secrets.

                A time is an instant such as 2026-01-31T08:15:00Z, or an age: 90s, 15m, 2h, 7d. The variable \
                OUTPOST_LOG_LEVEL sets the lowest level that the tool logs, or off; without it the level is notice.

                EXAMPLE
                  outpost log shop --last 20
                  outpost log --level error --since 2d
                  outpost log --export report.txt.gz
                  outpost log --since 7d --export report.html
                """))

    @Argument(help: .text("The directory of a clone."), completion: .directory)
    var directory: String?
    var cloneDirectory: String? { directory }

    @OptionGroup var key: KeyOptions
    @Option(help: .text("The number of events.")) var last = 50
    @Flag(help: .text("Report as JSON.")) var json = false
    @OptionGroup var filter: LogFilterOptions

    @Option(
        name: .customLong("export"),
        help: .text(
            "Write the entries to a file: .html for a page in a browser, .gz to compress, else text.",
            valueName: "file"))
    var exportFile: String?

    @Option(
        help: .text(
            "The language of the page: \(LogPageLanguage.allCases.map(\.rawValue).joined(separator: ", ")).",
            valueName: "tag"))
    var language: LogPageLanguage?

    @Option(
        name: .customLong("remove-below"),
        help: .text("Remove the entries below this level.", valueName: "level"))
    var removeBelow: String?

    @Flag(help: .text("Remove all entries.")) var clear = false

    mutating func validate() throws {
        guard last > 0 else { throw ValidationError(translated("--last is 1 or more.")) }
        let isAboutTool = filter.isUsed || exportFile != nil || removeBelow != nil || clear
        guard directory == nil || !isAboutTool else {
            throw ValidationError(
                translated("Filters, --export, --remove-below and --clear are for the log of the tool."))
        }
        guard language == nil || exportFile != nil else {
            throw ValidationError(translated("--language is for --export."))
        }
        guard [exportFile != nil, removeBelow != nil, clear].count(where: { $0 }) < 2 else {
            throw ValidationError(translated("--export, --remove-below and --clear exclude each other."))
        }
        _ = try filter.query()
        if let removeBelow { _ = try LogFilterOptions.severity(removeBelow) }
    }

    func run() async throws {
        if let directory {
            try await showEvents(of: directory)
        } else {
            try showLog()
        }
    }

    private func showEvents(of directory: String) async throws {
        let provider = try await OfflineStore.open(
            at: directory, protection: try key.protection(ofCloneIn: directory))
        let events = try await provider.observe.events(newest: last)
        try provider.close()
        if json {
            print(JSONText(events.map(EventLine.init)).text)
            return
        }
        for event in events {
            let bytes = event.bytes.map { Terminal.dim(" (\(Terminal.bytes($0)))") } ?? ""
            print("\(Terminal.dim(event.at?.description ?? ""))  \(event.kind): \(event.text)\(bytes)")
        }
    }

    private struct EventLine: Encodable {
        var at: String
        var kind: String
        var text: String
        var details: String?
        var requests: Int?
        var failures: Int?
        var bytes: Int64?

        init(_ event: SyncEvent) {
            at = event.at?.description ?? ""
            kind = event.kind
            text = event.text
            details = event.details
            requests = event.requests
            failures = event.failures
            bytes = event.bytes
        }
    }

    private func showLog() throws {
        let log = try ToolLog.open()
        if clear || removeBelow != nil {
            if let removeBelow {
                try log.removeRecords(lessGraveThan: try LogFilterOptions.severity(removeBelow))
            } else {
                try log.removeAll()
            }
            if json { print(JSONText(["removed": removeBelow.map { "below \($0)" } ?? "all"]).text) }
            return
        }
        var query = try filter.query()
        let formatter: any LogFormatter = json ? JSONLogFormatter() : PlainTextLogFormatter()
        if let exportFile { return try export(log, to: exportFile, query: query, formatter: formatter) }
        query.newest = last
        var reading = try log.read(query)
        reading.records = reading.records.map(ToolLog.redaction.redacted)
        if json {
            // One document, as for every other report.
            print(TerminalText(json: "[" + reading.records.map(formatter.line).joined(separator: ",\n") + "]"))
        } else {
            for record in reading.records.reversed() { print(ReaderLogLine(record).text) }
        }
        Self.warn(of: reading)
    }

    /// Warns of damaged and altered entries.
    private static func warn(of reading: StoredLog.Reading) {
        if reading.unreadable > 0 {
            Terminal.error("\(Terminal.number(reading.unreadable)) damaged entries are left out.")
        }
        if reading.breaks > 0 {
            Terminal.error(
                """
                \(Terminal.yellow("warning:", on: .error)) The log was altered in \
                \(Terminal.plural(reading.breaks, "place")): entries are missing, doubled or in another order.
                """)
        }
    }
}

extension Log {
    /// Writes the log to a file in the format of its name.
    private func export(
        _ log: StoredLog, to path: String, query: LogQuery, formatter: any LogFormatter
    ) throws {
        let isPacked = path.lowercased().hasSuffix(".gz")
        let name = isPacked ? String(path.dropLast(3)) : path
        let isPage = [".html", ".htm"].contains { name.lowercased().hasSuffix($0) }
        let reading = try log.read(query)
        defer { Self.warn(of: reading) }
        try log.export(
            reading.records.map(ToolLog.redaction.redacted), to: path,
            formatter: isPage ? LogPageFormatter(language: language ?? .preferred) : formatter,
            isPacked: isPacked)
    }
}

extension LogPageLanguage: ExpressibleByArgument {}

/// The filter for entries of the tool's log.
struct LogFilterOptions: ParsableArguments {
    @Option(help: .text("Only this level and above, such as error.", valueName: "level"))
    var level: String?

    @Option(help: .text("Only this part of the tool, such as outpost.clone.", valueName: "name"))
    var tag: String?

    @Option(help: .text("Only since this time.", valueName: "time"))
    var since: String?

    @Option(help: .text("Only before this time.", valueName: "time"))
    var until: String?

    @Option(help: .text("Only this process.", valueName: "id"))
    var process: Int32?

    @Option(help: .text("Only this run, by its correlation id.", valueName: "id"))
    var correlation: String?

    var isUsed: Bool {
        level != nil || tag != nil || since != nil || until != nil || process != nil || correlation != nil
    }

    func query() throws -> LogQuery {
        LogQuery(
            severity: try level.map { .atLeast(try Self.severity($0)) }, tag: tag,
            from: try since.map { try Self.time($0, "--since") }, until: try until.map { try Self.time($0, "--until") },
            processID: process, correlationID: correlation)
    }

    static func severity(_ name: String) throws -> LogSeverity {
        guard let severity = LogSeverity(name: name) else {
            throw ValidationError(
                translated(
                    "'\(name)' is not a level. The levels are \(LogSeverity.allCases.map(\.name).joined(separator: ", "))."
                ))
        }
        return severity
    }

    static func time(_ text: String, _ option: String, now: Date = Date()) throws -> Date {
        if let date = try? Date(text, strategy: .iso8601) { return date }
        let units: [Character: Double] = ["s": 1, "m": 60, "h": 3600, "d": 86_400]
        if let unit = text.last.flatMap({ units[$0] }), let count = Int(text.dropLast()), count >= 0, count < 1_000_000
        {
            return now.addingTimeInterval(-Double(count) * unit)
        }
        throw ValidationError(translated("\(option) is a time such as 2026-01-31T08:15:00Z or 2h, not '\(text)'."))
    }
}
