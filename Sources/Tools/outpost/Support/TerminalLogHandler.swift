import Foundation
import Logging
import ToolLanguage

/// Writes records as lines to standard error through ``Terminal``, as `StreamLogHandler` of swift-log does without it.
struct TerminalLogHandler: LogHandler {
    let label: String
    var metadata: Logger.Metadata = [:]
    var metadataProvider: Logger.MetadataProvider?
    var logLevel = Logger.Level.info

    init(label: String) { self.label = label }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        var all = metadata
        if let provided = metadataProvider?.get() { all.merge(provided) { $1 } }
        if let own = event.metadata { all.merge(own) { $1 } }
        let fields: [TerminalText] = all.sorted { $0.key < $1.key }.map { " \($0.key)=\($0.value)" }
        let time = Date.now.formatted(.iso8601)
        Terminal.error("\(time) \(event.level) \(label):\(fields.joined()) [\(event.source)] \(event.message)")
    }
}
