import Foundation
import Supportability
import ToolLanguage

/// An entry of the tool's log as a person reads it: the time in UTC, the severity, the command, and its result.
///
/// The place in the source and the correlation id are in JSON and in exports, for the developers.
struct ReaderLogLine {
    private let record: LogRecord

    init(_ record: LogRecord) { self.record = record }

    var text: TerminalText {
        let time = record.time.formatted(.iso8601)
        var line: TerminalText = "\(Terminal.dim(time)) \(severity) \(record.tag) \(record.message)"
        for (name, value) in record.metadata.sorted(by: { $0.key < $1.key }) { line += " \(name)=\(value)" }
        return line
    }

    private var severity: TerminalText {
        let name = record.severity.name
        return record.severity >= .error ? Terminal.red(name) : "\(name)"
    }
}
