/// A destination of log records: memory, a file, a server, the system's log, or an app's own destination.
///
/// ```swift
/// struct Uploader: LogSink {
///     func write(_ record: LogRecord) { queue.add(record) }
/// }
/// let pipeline = LogPipeline(sinks: [Uploader()])
/// ```
public protocol LogSink: Sendable {
    /// Stores or forwards a record, which is already redacted. The function is called from any thread and must
    /// return quickly. It must handle its own failures, because logging never stops the logged work.
    func write(_ record: LogRecord)
}

/// A sink that passes records as lines to a closure, which may print or send them.
///
/// ```swift
/// let sink = TextLogSink { print($0) }
/// ```
public struct TextLogSink: LogSink {
    private let formatter: any LogFormatter
    private let output: @Sendable (String) -> Void

    /// Creates a sink.
    ///
    /// - Parameters:
    ///   - formatter: The formatter of the lines.
    ///   - output: A function that receives each line, without its line end.
    public init(_ formatter: any LogFormatter = PlainTextLogFormatter(), output: @escaping @Sendable (String) -> Void) {
        self.formatter = formatter
        self.output = output
    }

    /// Passes the record's line to the output.
    public func write(_ record: LogRecord) { output(formatter.line(of: record)) }
}
