/// Where records go: memory, a file, a server, the system's log; an app's own beside ours or instead of them.
///
/// ```swift
/// struct Uploader: LogSink {
///     func write(_ record: LogRecord) { queue.add(record) }
/// }
/// let pipeline = LogPipeline(sinks: [Uploader()])
/// ```
public protocol LogSink: Sendable {
    /// Takes a record, which is redacted already. Called from any thread, one that must not wait long; a sink
    /// that fails keeps that to itself, as logging never stops the work that is logged.
    func write(_ record: LogRecord)
}

/// Writes records as lines: to the terminal, a stream, wherever a closure leads.
///
/// ```swift
/// let sink = TextLogSink { print($0) }
/// ```
public struct TextLogSink: LogSink {
    private let formatter: any LogFormatter
    private let output: @Sendable (String) -> Void

    /// Makes a sink.
    ///
    /// - Parameters:
    ///   - formatter: Makes the lines.
    ///   - output: Takes each line, without its line end.
    public init(_ formatter: any LogFormatter = PlainTextLogFormatter(), output: @escaping @Sendable (String) -> Void) {
        self.formatter = formatter
        self.output = output
    }

    /// Hands on the record's line.
    public func write(_ record: LogRecord) { output(formatter.line(of: record)) }
}
