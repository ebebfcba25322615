import Foundation
public import Logging
import Synchronization

/// The processing chain of log records: redaction, threshold, filter, sinks. All but the redaction can be
/// replaced at any time.
///
/// ```swift
/// let log = try StoredLog(folder: folder)
/// let pipeline = LogPipeline(threshold: .warning, sinks: [log])
/// LoggingSystem.bootstrap { label in
///     MultiplexLogHandler([StreamLogHandler.standardError(label: label), pipeline.handler(label: label)])
/// }
/// ```
///
/// Redaction comes first, so no filter or sink of an app receives a secret that the redaction recognises.
public final class LogPipeline: Sendable {
    private struct State {
        var isEnabled = true
        var threshold: LogSeverity
        var recordsLocation: Bool
        var filter: (any LogFilter)?
        var sinks: [any LogSink]
    }

    private let redaction: any LogRedaction
    private let state: Mutex<State>

    /// Creates a pipeline.
    ///
    /// - Parameters:
    ///   - threshold: The lowest severity that passes. Alerts and emergencies always pass.
    ///   - recordsLocation: Whether records contain their location in the source.
    ///   - redaction: The redaction, which removes secrets.
    ///   - filter: An additional condition.
    ///   - sinks: The destinations of records, in order.
    public init(
        threshold: LogSeverity = .error, recordsLocation: Bool = true,
        redaction: any LogRedaction = SecretRedaction(), filter: (any LogFilter)? = nil, sinks: [any LogSink]
    ) {
        self.redaction = redaction
        state = Mutex(
            State(threshold: threshold, recordsLocation: recordsLocation, filter: filter, sinks: sinks))
    }

    /// Whether records pass at all; initially `true`.
    public var isEnabled: Bool {
        get { state.withLock { $0.isEnabled } }
        set { state.withLock { $0.isEnabled = newValue } }
    }

    /// The lowest severity that passes. A change applies immediately to loggers without their own level.
    public var threshold: LogSeverity {
        get { state.withLock { $0.threshold } }
        set { state.withLock { $0.threshold = newValue } }
    }

    /// Whether records contain their location in the source.
    public var recordsLocation: Bool {
        get { state.withLock { $0.recordsLocation } }
        set { state.withLock { $0.recordsLocation = newValue } }
    }

    /// The additional condition.
    public var filter: (any LogFilter)? {
        get { state.withLock { $0.filter } }
        set { state.withLock { $0.filter = newValue } }
    }

    /// The destinations of records.
    public var sinks: [any LogSink] {
        get { state.withLock { $0.sinks } }
        set { state.withLock { $0.sinks = newValue } }
    }

    /// Processes a record, for apps that do not log with swift-log.
    ///
    /// - Parameter threshold: A threshold that replaces the pipeline's own.
    public func write(_ record: LogRecord, threshold: LogSeverity? = nil) {
        let state = state.withLock { $0 }
        guard state.isEnabled else { return }
        guard record.severity >= min(threshold ?? state.threshold, .alert) else { return }
        // Truncate after redaction, because half a secret would not be recognised.
        var record = redaction.redacted(record).bounded()
        if !state.recordsLocation { record.location = nil }
        if let filter = state.filter, !filter.admits(record) { return }
        for sink in state.sinks { sink.write(record) }
    }

    /// Returns a swift-log backend for `LoggingSystem.bootstrap` or for a single `Logger`.
    ///
    /// - Parameters:
    ///   - label: The label of the logger, which becomes the tag of its records.
    ///   - metadataProvider: A provider of task metadata, such as a correlation id.
    public func handler(label: String, metadataProvider: Logger.MetadataProvider? = nil) -> PipelineLogHandler {
        PipelineLogHandler(label: label, pipeline: self, metadataProvider: metadataProvider)
    }
}
