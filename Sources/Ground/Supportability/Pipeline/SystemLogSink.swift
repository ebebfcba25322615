#if canImport(os)
    import os
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// A sink that writes records to the log of the operating system: the unified log on Apple's platforms, syslog
/// elsewhere.
///
/// Users other than the app's can read the system log, so only redacted records may reach this sink.
public struct SystemLogSink: LogSink {
    #if canImport(os)
        private let subsystem: String

        /// - Parameter subsystem: The identifier of the app, in reverse domain notation.
        public init(subsystem: String) { self.subsystem = subsystem }

        /// Writes a record with its tag as the category.
        public func write(_ record: LogRecord) {
            os.Logger(subsystem: subsystem, category: record.tag)
                .log(level: Self.type(of: record.severity), "\(Self.text(of: record), privacy: .public)")
        }

        static func type(of severity: LogSeverity) -> OSLogType {
            switch severity {
            case .emergency, .alert, .critical: .fault
            case .error: .error
            case .warning, .notice: .default
            case .info: .info
            case .debug: .debug
            }
        }
    #else
        private let subsystem: String

        /// - Parameter subsystem: The identifier of the app, which precedes each message.
        public init(subsystem: String) { self.subsystem = subsystem }

        /// Writes a record. Without a syslog daemon, the C library drops it.
        public func write(_ record: LogRecord) {
            let tag = PlainTextLogFormatter.escaped(record.tag)
            let text = "\(subsystem) [\(tag)] \(Self.text(of: record))".replacing("\0", with: " ")
            text.withCString { text in
                // The format is fixed, so a percent sign in a message has no effect.
                withVaList([text]) { vsyslog(Self.priority(of: record.severity), "%s", $0) }
            }
        }

        /// Returns the syslog priority: the facility of user programs and the severity, which uses syslog's
        /// numbers.
        static func priority(of severity: LogSeverity) -> Int32 { Int32(1 << 3) | Int32(severity.rawValue) }
    #endif

    /// One line: message, metadata, correlation id and location. The location is last, since the system cuts long
    /// lines.
    static func text(of record: LogRecord) -> String {
        let content = PlainTextLogFormatter.content(of: record)
        return record.location == nil ? content : "\(content) \(PlainTextLogFormatter.text(of: record.location))"
    }
}
