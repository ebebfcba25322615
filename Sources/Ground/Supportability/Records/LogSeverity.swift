public import Logging

/// The severity of a record: the eight levels of syslog (RFC 5424, 6.2.1).
///
/// The raw values are syslog's, in which the gravest level is 0. Comparison follows gravity, like
/// `Logger.Level`: a greater severity is a graver one.
///
/// ```swift
/// LogSeverity.error > .warning        // true
/// LogSeverity.error.rawValue          // 3
/// ```
///
/// The levels of swift-log map to these levels: `trace` and `debug` to ``debug``, the others to those of the
/// same name. swift-log lacks ``alert`` and ``emergency``, which are logged with `Logger.alert(_:)` and
/// `Logger.emergency(_:)`.
public enum LogSeverity: Int, CaseIterable, Sendable, Codable {
    /// The system is unusable.
    case emergency = 0
    /// Immediate action is needed.
    case alert = 1
    /// A critical condition.
    case critical = 2
    /// An error.
    case error = 3
    /// A warning.
    case warning = 4
    /// A normal but significant event.
    case notice = 5
    /// An informational message.
    case info = 6
    /// Information for developers.
    case debug = 7

    /// Creates the severity of a swift-log level.
    public init(_ level: Logger.Level) {
        switch level {
        case .trace, .debug: self = .debug
        case .info: self = .info
        case .notice: self = .notice
        case .warning: self = .warning
        case .error: self = .error
        case .critical: self = .critical
        }
    }

    /// Creates the severity with a name such as `warning`, in any case; returns `nil` for an unknown name.
    public init?(name: some StringProtocol) {
        let name = name.lowercased()
        guard let severity = Self.allCases.first(where: { $0.name == name }) else { return nil }
        self = severity
    }

    /// The name, in lower case.
    public var name: String {
        // Every command writes such names. To print a case, Swift searches all types of a program; a switch is
        // faster.
        switch self {
        case .emergency: "emergency"
        case .alert: "alert"
        case .critical: "critical"
        case .error: "error"
        case .warning: "warning"
        case .notice: "notice"
        case .info: "info"
        case .debug: "debug"
        }
    }

    /// The lowest level of swift-log at which records of this severity pass.
    public var loggerLevel: Logger.Level {
        switch self {
        case .emergency, .alert, .critical: .critical
        case .error: .error
        case .warning: .warning
        case .notice: .notice
        case .info: .info
        case .debug: .trace
        }
    }
}

extension LogSeverity: Comparable {
    /// Returns whether the left severity is less grave.
    public static func < (left: LogSeverity, right: LogSeverity) -> Bool { left.rawValue > right.rawValue }
}
