public import Logging

/// How grave a record is: the eight levels of syslog (RFC 5424, 6.2.1).
///
/// The numbers are syslog's, where the gravest is 0. Comparison goes by gravity, as with `Logger.Level`: a
/// greater severity is a graver one, whatever its number.
///
/// ```swift
/// LogSeverity.error > .warning        // true
/// LogSeverity.error.rawValue          // 3
/// ```
///
/// The levels of swift-log map to these: `trace` and `debug` to ``debug``, the others to those of their names.
/// ``alert`` and ``emergency``, which swift-log lacks, are written with `Logger.alert(_:)` and
/// `Logger.emergency(_:)`.
public enum LogSeverity: Int, CaseIterable, Sendable, Codable {
    /// The system is unusable.
    case emergency = 0
    /// Something must be done at once.
    case alert = 1
    /// A critical condition.
    case critical = 2
    /// An error.
    case error = 3
    /// A warning.
    case warning = 4
    /// Normal, but worth attention.
    case notice = 5
    /// What goes on.
    case info = 6
    /// What only a developer wants to know.
    case debug = 7

    /// The severity of a level of swift-log.
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

    /// The severity of a name such as `warning`, in any case; `nil` for a name that is none.
    public init?(name: some StringProtocol) {
        let name = name.lowercased()
        guard let severity = Self.allCases.first(where: { $0.name == name }) else { return nil }
        self = severity
    }

    /// The name, in lower case.
    public var name: String {
        // Every command writes some: spelt out, since Swift looks for the name of a case among all types of a program.
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

    /// The least level of swift-log that lets records of this severity through.
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
    /// Whether the left one is less grave.
    public static func < (left: LogSeverity, right: LogSeverity) -> Bool { left.rawValue > right.rawValue }
}
