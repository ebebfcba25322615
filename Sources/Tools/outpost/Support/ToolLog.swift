import Foundation
import Logging
import ODataClient
import ODataHTTP
import ODataQuery
import Secrets
import Supportability
import Synchronization
import ToolLanguage

/// The log of the tool about its runs: encrypted and of limited size; `outpost log` shows it.
///
/// The log holds the command, its time and its result as codes and numbers. Text of the person, of a service
/// or of a store never enters the log. Any other record keeps its place in the source and loses its words.
///
/// An unusable log never stops a command.
enum ToolLog {
    private static let opened = Mutex<StoredLog?>(nil)

    /// The variable with the lowest severity of kept records; `notice` without it, `off` for none.
    static let levelVariable = "OUTPOST_LOG_LEVEL"

    /// Opens the log, or creates it.
    static func open() throws -> StoredLog {
        guard let folder = ToolFolders.log else {
            throw Failure(
                message: "There is no home folder for the log.", advice: "Name a folder of your own in XDG_STATE_HOME.")
        }
        let cipher = RecordCipher(key: try ToolFolders.key("log"), purpose: "outpost tool log")
        let log = try StoredLog(
            folder: folder, sealing: LogSealing(seal: { try cipher.seal($0) }, open: { try cipher.open($0) }))
        // Header fields of an earlier version are reduced to the origin.
        try log.updateHeader { header in
            header.baseURL = header.baseURL.flatMap { try? ServiceRoot($0).origin?.description }
        }
        return log
    }

    /// The id of this run of the tool, shared by its records, requests and traces.
    static let run = UUID().uuidString.lowercased()

    /// Starts to log a command: its own records and those of the libraries, with one correlation id.
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

    /// Logs the end of a command that was neither a success nor a failure.
    static func ends(with status: ExitStatus, _ logger: Logger?) {
        logger?.notice("\(Event.ends)", metadata: ["exit-code": "\(status.rawValue)"])
    }

    /// Logs the failure of a command by codes only, because the words of an error may come from a person or a
    /// service.
    static func fails(with error: any Error, _ status: ExitStatus, _ logger: Logger?) {
        let diagnosis = ErrorDiagnosis(error)
        var fields: Logger.Metadata = [
            "error-code": "\(diagnosis.code)", "error-kind": "\(diagnosis.kind.rawValue)",
            "exit-code": "\(status.rawValue)",
        ]
        fields["http-status"] = diagnosis.status.map { "\($0)" }
        fields["position"] = (error as? QueryError)?.offset.map { "\($0)" }
        // A mistake in typing is no fault of the tool or the service.
        let isTyping = error is QueryError || status == .misused
        logger?.log(level: isTyping ? .warning : .error, "\(Event.fails)", metadata: fields)
    }

    /// The events of the tool.
    private enum Event: String, CaseIterable, CustomStringConvertible {
        case begins
        case ends
        case fails

        var description: String { rawValue }
    }

    /// The texts that the log may contain and that are shown from an earlier version.
    static let redaction = KnownTextRedaction(
        messages: Set(Event.allCases.map(\.rawValue)),
        fields: [
            "error-code": KnownTextRedaction.isName, "error-kind": KnownTextRedaction.isName,
            "exit-code": KnownTextRedaction.isNumber, "http-status": KnownTextRedaction.isNumber,
            "position": KnownTextRedaction.isNumber,
        ])

    /// Records the origin of the service; its path may be a secret.
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
