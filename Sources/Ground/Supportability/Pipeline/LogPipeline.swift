import Foundation
public import Logging
import Synchronization

/// The way of a record: redaction, threshold, filter, sinks. Each of them can be replaced, while it runs too.
///
/// ```swift
/// let log = try StoredLog(folder: folder)
/// let pipeline = LogPipeline(threshold: .warning, sinks: [log])
/// LoggingSystem.bootstrap { label in
///     MultiplexLogHandler([StreamLogHandler.standardError(label: label), pipeline.handler(label: label)])
/// }
/// ```
///
/// Redaction comes first: neither a filter nor a sink of an app ever sees a secret that it knows.
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

    /// Makes a pipeline.
    ///
    /// - Parameters:
    ///   - threshold: The least grave records that pass. Alerts and emergencies always do.
    ///   - recordsLocation: Whether records say where in the source they were written.
    ///   - redaction: Takes secrets out.
    ///   - filter: A further condition.
    ///   - sinks: Where records go, one after the other.
    public init(
        threshold: LogSeverity = .error, recordsLocation: Bool = true,
        redaction: any LogRedaction = SecretRedaction(), filter: (any LogFilter)? = nil, sinks: [any LogSink]
    ) {
        self.redaction = redaction
        state = Mutex(
            State(threshold: threshold, recordsLocation: recordsLocation, filter: filter, sinks: sinks))
    }

    /// Whether anything passes; on at first.
    public var isEnabled: Bool {
        get { state.withLock { $0.isEnabled } }
        set { state.withLock { $0.isEnabled = newValue } }
    }

    /// The least grave records that pass; loggers whose level was not set follow a change at once.
    public var threshold: LogSeverity {
        get { state.withLock { $0.threshold } }
        set { state.withLock { $0.threshold = newValue } }
    }

    /// Whether records say where in the source they were written.
    public var recordsLocation: Bool {
        get { state.withLock { $0.recordsLocation } }
        set { state.withLock { $0.recordsLocation = newValue } }
    }

    /// The further condition.
    public var filter: (any LogFilter)? {
        get { state.withLock { $0.filter } }
        set { state.withLock { $0.filter = newValue } }
    }

    /// Where records go.
    public var sinks: [any LogSink] {
        get { state.withLock { $0.sinks } }
        set { state.withLock { $0.sinks = newValue } }
    }

    /// Sends a record on its way: what an app uses that does not log through swift-log.
    ///
    /// - Parameter threshold: Instead of the pipeline's own.
    public func write(_ record: LogRecord, threshold: LogSeverity? = nil) {
        let state = state.withLock { $0 }
        guard state.isEnabled else { return }
        guard record.severity >= min(threshold ?? state.threshold, .alert) else { return }
        // What is cut off is cut off after redaction: half a secret would not be known as one.
        var record = redaction.redacted(record).bounded()
        if !state.recordsLocation { record.location = nil }
        if let filter = state.filter, !filter.admits(record) { return }
        for sink in state.sinks { sink.write(record) }
    }

    /// A swift-log backend, to be given to `LoggingSystem.bootstrap` or to one `Logger`.
    ///
    /// - Parameters:
    ///   - label: The label of the logger, which becomes the tag of its records.
    ///   - metadataProvider: Metadata of the current task, such as a correlation id.
    public func handler(label: String, metadataProvider: Logger.MetadataProvider? = nil) -> PipelineLogHandler {
        PipelineLogHandler(label: label, pipeline: self, metadataProvider: metadataProvider)
    }
}
