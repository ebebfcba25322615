import Foundation
import Logging
import Secrets
import Supportability
import Synchronization

/// What the tool itself writes down of its runs: encrypted, redacted and bounded; `outpost log` shows it.
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
        return try StoredLog(
            folder: folder, sealing: LogSealing(seal: { try cipher.seal($0) }, open: { try cipher.open($0) }))
    }

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
        let pipeline = LogPipeline(threshold: threshold, sinks: sinks)
        pipeline.isEnabled = !sinks.isEmpty
        let run = UUID().uuidString.lowercased()
        let provider = Logger.MetadataProvider { [LogRecord.correlationKey: .string(run)] }
        LoggingSystem.bootstrap({ pipeline.handler(label: $0, metadataProvider: $1) }, metadataProvider: provider)
        let logger = Logger(label: "outpost." + command)
        logger.notice("begins")
        return logger
    }

    /// Writes down whom the tool talks to.
    static func connected(to serviceRoot: String, user: String?) {
        guard let log = opened.withLock({ $0 }) else { return }
        try? log.updateHeader {
            $0.user = user
            $0.baseURL = serviceRoot
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
