public import Logging

extension Logger {
    /// The metadata name by which a critical event states a higher severity.
    static let severityKey = "severity"
    /// The metadata name of a measured duration.
    static let durationKey = "duration-ms"

    /// Logs that immediate action is needed (``LogSeverity/alert``). Alerts pass every threshold.
    ///
    /// Other backends receive a critical event with `severity=alert` in its metadata.
    public func alert(
        _ message: @autoclosure () -> Message, metadata: @autoclosure () -> Metadata? = nil,
        file: String = #fileID, function: String = #function, line: UInt = #line
    ) {
        log(
            level: .critical, message(), metadata: marked(metadata(), .alert), file: file, function: function,
            line: line)
    }

    /// Logs that the system is unusable (``LogSeverity/emergency``). Emergencies pass every threshold.
    ///
    /// Other backends receive a critical event with `severity=emergency` in its metadata.
    public func emergency(
        _ message: @autoclosure () -> Message, metadata: @autoclosure () -> Metadata? = nil,
        file: String = #fileID, function: String = #function, line: UInt = #line
    ) {
        log(
            level: .critical, message(), metadata: marked(metadata(), .emergency), file: file, function: function,
            line: line)
    }

    /// Logs the duration of an operation at the level `debug`, in milliseconds as `duration-ms`.
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

    /// Logs the entry into a function at the level `trace`, with its arguments.
    ///
    /// - Parameter arguments: The arguments by name. A `Secret` prints as redacted, and arguments with
    ///   secret-sounding names are redacted too.
    public func entering(
        _ arguments: @autoclosure () -> KeyValuePairs<String, Any> = [:],
        file: String = #fileID, function: String = #function, line: UInt = #line
    ) {
        guard logLevel <= .trace else { return }
        let metadata = Metadata(arguments().map { ($0.key, .string("\($0.value)")) }) { $1 }
        log(level: .trace, "entering \(function)", metadata: metadata, file: file, function: function, line: line)
    }

    /// Logs the exit from a function at the level `trace`, with its result.
    public func exiting(
        _ result: @autoclosure () -> Any? = nil,
        file: String = #fileID, function: String = #function, line: UInt = #line
    ) {
        guard logLevel <= .trace else { return }
        let metadata: Metadata? = result().map { ["result": .string("\($0)")] }
        log(level: .trace, "exiting \(function)", metadata: metadata, file: file, function: function, line: line)
    }

    /// Logs objects with their nested members, to a depth of 4 and at most 100 members each.
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
