import Foundation
import Logging
import ODataClient
import ODataHTTP
import ODataQuery
import Secrets
import Supportability
import Synchronization

/// What the tool itself writes down of its runs: encrypted and bounded; `outpost log` shows it.
///
/// It holds which command ran, when, and how it ended, by codes and numbers. What a person typed, what a service said and what a
/// store holds never enter it: a record of anything else keeps its place in the source and loses its words.
///
/// A log that cannot be opened or written never stops a command.
enum ToolLog {
    private static let opened = Mutex<StoredLog?>(nil)

    /// The variable that says from which severity on records are kept; `notice` without it, `off` for none.
    static let levelVariable = "OUTPOST_LOG_LEVEL"

    /// Opens the log, or makes it.
    static func open() throws -> StoredLog {
        guard let folder = ToolFolders.log else {
            throw Failure(
                message: "There is no home folder for the log.", advice: "Name a folder of your own in XDG_STATE_HOME.")
        }
        let cipher = RecordCipher(key: try ToolFolders.key("log"), purpose: "outpost tool log")
        let log = try StoredLog(
            folder: folder, sealing: LogSealing(seal: { try cipher.seal($0) }, open: { try cipher.open($0) }))
        // What an earlier version has written down.
        try log.updateHeader { header in
            header.baseURL = header.baseURL.flatMap { try? ServiceRoot($0).origin?.description }
        }
        return log
    }

    /// The id of this run of the tool: its records, its requests and its traces share it.
    static let run = UUID().uuidString.lowercased()

    /// Begins to write down what a command does: its own records and those of the libraries, all with one
    /// correlation id.
    static func begin(_ command: String) -> Logger {
        let level = ProcessInfo.processInfo.environment[levelVariable] ?? ""
        let threshold = LogSeverity(name: level) ?? .notice
        var sinks: [any LogSink] = []
        if level != "off", let log = try? open() {
            try? log.setHeaderIfNone()
            opened.withLock { $0 = log }
            sinks = [log]
        }
        let pipeline = LogPipeline(threshold: threshold, redaction: redaction, sinks: sinks)
        pipeline.isEnabled = !sinks.isEmpty
        let provider = Logger.MetadataProvider { [LogRecord.correlationKey: .string(run)] }
        LoggingSystem.bootstrap({ pipeline.handler(label: $0, metadataProvider: $1) }, metadataProvider: provider)
        let logger = Logger(label: "outpost." + command)
        logger.notice("\(Event.begins)")
        return logger
    }

    /// Writes down that a command ends without having failed, and without success.
    static func ends(with status: ExitStatus, _ logger: Logger?) {
        logger?.notice("\(Event.ends)", metadata: ["exit-code": "\(status.rawValue)"])
    }

    /// Writes down why a command fails, by codes alone: the words of an error may be those of a person or a service.
    static func fails(with error: any Error, _ status: ExitStatus, _ logger: Logger?) {
        let diagnosis = ErrorDiagnosis(error)
        var fields: Logger.Metadata = [
            "error-code": "\(diagnosis.code)", "error-kind": "\(diagnosis.kind.rawValue)",
            "exit-code": "\(status.rawValue)",
        ]
        fields["http-status"] = diagnosis.status.map { "\($0)" }
        fields["position"] = (error as? QueryError)?.offset.map { "\($0)" }
        logger?.error("\(Event.fails)", metadata: fields)
    }

    /// All that a record of the tool may say.
    private enum Event: String, CaseIterable, CustomStringConvertible {
        case begins
        case ends
        case fails

        var description: String { rawValue }
    }

    /// What may be in the log, and is shown of one that an earlier version has written.
    static let redaction = KnownTextRedaction(
        messages: Set(Event.allCases.map(\.rawValue)),
        fields: [
            "error-code": KnownTextRedaction.isName, "error-kind": KnownTextRedaction.isName,
            "exit-code": KnownTextRedaction.isNumber, "http-status": KnownTextRedaction.isNumber,
            "position": KnownTextRedaction.isNumber,
        ])

    /// Writes down whom the tool talks to: the path of a service may be a secret.
    static func connected(to service: Origin, user: String?) {
        guard let log = opened.withLock({ $0 }) else { return }
        try? log.updateHeader {
            $0.user = user
            $0.baseURL = service.description
        }
    }
}

extension StoredLog {
    fileprivate func setHeaderIfNone() throws {
        if try header == nil {
            try setHeader(.ofThisMachine(appName: "outpost", appVersion: Outpost.configuration.version))
        }
    }
}
