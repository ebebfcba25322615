public import Logging

extension Logger {
    /// The metadata name by which a critical event says that it is graver still.
    static let severityKey = "severity"
    /// The tag-like mark of measurements.
    static let durationKey = "duration-ms"

    /// Logs that something must be done at once (``LogSeverity/alert``), which passes every threshold.
    ///
    /// Backends other than ours see a critical event with `severity=alert` in its metadata.
    public func alert(
        _ message: @autoclosure () -> Message, metadata: @autoclosure () -> Metadata? = nil,
        file: String = #fileID, function: String = #function, line: UInt = #line
    ) {
        log(
            level: .critical, message(), metadata: marked(metadata(), .alert), file: file, function: function,
            line: line)
    }

    /// Logs that the system is unusable (``LogSeverity/emergency``), which passes every threshold.
    ///
    /// Backends other than ours see a critical event with `severity=emergency` in its metadata.
    public func emergency(
        _ message: @autoclosure () -> Message, metadata: @autoclosure () -> Metadata? = nil,
        file: String = #fileID, function: String = #function, line: UInt = #line
    ) {
        log(
            level: .critical, message(), metadata: marked(metadata(), .emergency), file: file, function: function,
            line: line)
    }

    /// Logs how long something took, at the level `debug`, with the milliseconds as `duration-ms`.
    public func performance(
        _ message: @autoclosure () -> Message, took duration: @autoclosure () -> Duration,
        metadata: @autoclosure () -> Metadata? = nil,
        file: String = #fileID, function: String = #function, line: UInt = #line
    ) {
        guard logLevel <= .debug else { return }
        var all = metadata() ?? [:]
        all[Self.durationKey] = "\(Stopwatch.milliseconds(of: duration()))"
        log(level: .debug, message(), metadata: all, file: file, function: function, line: line)
    }

    /// Logs at the level `trace` that a function begins, with its arguments.
    ///
    /// - Parameter arguments: The arguments by name; a `Secret` prints as redacted, and names that sound secret are
    ///   redacted too.
    public func entering(
        _ arguments: @autoclosure () -> KeyValuePairs<String, Any> = [:],
        file: String = #fileID, function: String = #function, line: UInt = #line
    ) {
        guard logLevel <= .trace else { return }
        let metadata = Metadata(arguments().map { ($0.key, .string("\($0.value)")) }) { $1 }
        log(level: .trace, "entering \(function)", metadata: metadata, file: file, function: function, line: line)
    }

    /// Logs at the level `trace` that a function ends, with its result.
    public func exiting(
        _ result: @autoclosure () -> Any? = nil,
        file: String = #fileID, function: String = #function, line: UInt = #line
    ) {
        guard logLevel <= .trace else { return }
        let metadata: Metadata? = result().map { ["result": .string("\($0)")] }
        log(level: .trace, "exiting \(function)", metadata: metadata, file: file, function: function, line: line)
    }

    /// Logs objects with what is nested in them, to a depth of four and 100 members each.
    public func nested(
        level: Level, _ message: @autoclosure () -> Message, _ objects: @autoclosure () -> [String: Any],
        file: String = #fileID, function: String = #function, line: UInt = #line
    ) {
        guard logLevel <= level else { return }
        var metadata: Metadata = [:]
        for (name, object) in objects() {
            var text = ""
            dump(object, to: &text, maxDepth: 4, maxItems: 100)
            metadata[name] = .string(text)
        }
        log(level: level, message(), metadata: metadata, file: file, function: function, line: line)
    }

    private func marked(_ metadata: Metadata?, _ severity: LogSeverity) -> Metadata {
        var all = metadata ?? [:]
        all[Self.severityKey] = .string(severity.name)
        return all
    }
}
