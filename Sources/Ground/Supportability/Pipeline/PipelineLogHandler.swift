import Foundation
public import Logging

/// The swift-log backend of a ``LogPipeline``, usable alone or in a `MultiplexLogHandler`.
public struct PipelineLogHandler: LogHandler {
    /// The tag of the records.
    public let label: String
    /// The metadata of every record of this logger.
    public var metadata: Logger.Metadata = [:]
    /// The provider of the current task's metadata.
    public var metadataProvider: Logger.MetadataProvider?

    private let pipeline: LogPipeline
    private var ownLevel: Logger.Level?

    init(label: String, pipeline: LogPipeline, metadataProvider: Logger.MetadataProvider?) {
        self.label = label
        self.pipeline = pipeline
        self.metadataProvider = metadataProvider
    }

    /// The level of this logger; by default, the threshold of the pipeline.
    public var logLevel: Logger.Level {
        get { ownLevel ?? pipeline.threshold.loggerLevel }
        set { ownLevel = newValue }
    }

    /// The value of one name in ``metadata``.
    public subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    /// Converts an event to a record and passes it to the pipeline.
    public func log(event: LogEvent) {
        var all = metadata
        if let provided = metadataProvider?.get() { all.merge(provided) { $1 } }
        if let own = event.metadata { all.merge(own) { $1 } }
        var severity = LogSeverity(event.level)
        if event.level == .critical, let named = all.removeValue(forKey: Logger.severityKey) {
            severity = LogSeverity(name: "\(named)") ?? severity
        }
        let correlation = all.removeValue(forKey: LogRecord.correlationKey).map { "\($0)" }
        var fields: [String: String] = [:]
        for (name, value) in all { MetadataFlattening.flatten(value, name, into: &fields) }
        if let error = event.error { fields["error"] = "\(error)" }
        let location = LogRecord.Location(
            source: event.source, function: event.function, file: event.file, line: event.line)
        pipeline.write(
            LogRecord(
                time: Date(), severity: severity, tag: label, message: "\(event.message)", metadata: fields,
                location: location, correlationID: correlation),
            threshold: ownLevel.map { LogSeverity($0) })
    }
}

/// A conversion of nested metadata to flat names and texts, such as `request.method` or `items.0`. Redaction
/// needs the names.
enum MetadataFlattening {
    static func flatten(_ value: Logger.Metadata.Value, _ name: String, into fields: inout [String: String]) {
        switch value {
        case .string(let text): fields[name] = text
        case .stringConvertible(let value): fields[name] = "\(value)"
        case .dictionary(let members):
            for (key, member) in members { flatten(member, "\(name).\(key)", into: &fields) }
        case .array(let members):
            for (index, member) in members.enumerated() { flatten(member, "\(name).\(index)", into: &fields) }
        }
    }
}
