#if canImport(os)
    import os
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// Mirrors records to the log of the operating system: the unified log on Apple's platforms, elsewhere syslog.
///
/// There, others than the app's user can read them; that redaction comes first matters all the more.
public struct SystemLogSink: LogSink {
    #if canImport(os)
        private let subsystem: String

        /// - Parameter subsystem: The app, in reverse domain notation.
        public init(subsystem: String) { self.subsystem = subsystem }

        /// Writes a record, its tag being the category.
        public func write(_ record: LogRecord) {
            os.Logger(subsystem: subsystem, category: record.tag)
                .log(level: Self.type(of: record.severity), "\(record.message, privacy: .public)")
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

        /// - Parameter subsystem: The app; it stands before each message.
        public init(subsystem: String) { self.subsystem = subsystem }

        /// Writes a record. Where no syslog runs, the C library drops it.
        public func write(_ record: LogRecord) {
            let text = "\(subsystem) [\(record.tag)] \(record.message)".replacing("\0", with: " ")
            text.withCString { text in
                // The format is fixed, so that a message with a percent sign is only a message.
                withVaList([text]) { vsyslog(Self.priority(of: record.severity), "%s", $0) }
            }
        }

        /// The facility of user programs with the severity, whose number is syslog's own.
        static func priority(of severity: LogSeverity) -> Int32 { Int32(1 << 3) | Int32(severity.rawValue) }
    #endif
}
