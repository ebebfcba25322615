import Logging

/// The level of a log record, and the threshold of a logger.
public enum LogRecordLevel: Int, Hashable, Sendable, CaseIterable, Comparable {
    /// No record at all; only a threshold.
    case off
    /// The app cannot go on.
    case fatal
    /// Something failed.
    case error
    /// Something may fail later.
    case warn
    /// Something happened.
    case info
    /// Details for developers.
    case debug
    /// All details.
    case trace

    /// Whether a level is more severe than another one.
    public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }

    /// The name in log records, such as `WARN`.
    public var name: String { "\(self)".uppercased() }

    /// Creates a level from its name in a log record; ``info`` for an unknown name.
    init(name: String) { self = Self.allCases.first { $0.name == name.uppercased() } ?? .info }

    /// The level of swift-log; `nil` for ``off``.
    var loggerLevel: Logging.Logger.Level? {
        switch self {
        case .off: nil
        case .fatal: .critical
        case .error: .error
        case .warn: .warning
        case .info: .info
        case .debug: .debug
        case .trace: .trace
        }
    }
}
