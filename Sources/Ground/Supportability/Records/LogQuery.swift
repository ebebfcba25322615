public import Foundation

/// Decides which records pass; an app's own decides instead of ours.
public protocol LogFilter: Sendable {
    /// Whether a record passes.
    func admits(_ record: LogRecord) -> Bool
}

/// How the severity of a record is compared with another. The words go by gravity, so that nobody has to know
/// that graver levels have smaller numbers.
public enum SeverityFilter: Hashable, Sendable {
    /// This severity and all graver ones.
    case atLeast(LogSeverity)
    /// All graver ones.
    case graverThan(LogSeverity)
    /// This severity alone.
    case exactly(LogSeverity)
    /// This severity and all less grave ones.
    case atMost(LogSeverity)
    /// All less grave ones.
    case lessGraveThan(LogSeverity)

    /// Whether a severity passes.
    public func admits(_ severity: LogSeverity) -> Bool {
        switch self {
        case .atLeast(let bound): severity >= bound
        case .graverThan(let bound): severity > bound
        case .exactly(let bound): severity == bound
        case .atMost(let bound): severity <= bound
        case .lessGraveThan(let bound): severity < bound
        }
    }
}

/// Which records are wanted: by severity, tag, time, process and correlation id. What is `nil` does not matter.
///
/// ```swift
/// let query = LogQuery(severity: .atLeast(.warning), tag: "sync", newest: 50)
/// for record in try log.read(query).records { print(record.message) }
/// ```
public struct LogQuery: LogFilter, Hashable {
    /// The severities.
    public var severity: SeverityFilter?
    /// The component.
    public var tag: String?
    /// The first moment, inclusive.
    public var from: Date?
    /// The last moment, exclusive.
    public var until: Date?
    /// The process.
    public var processID: Int32?
    /// The correlation id.
    public var correlationID: String?
    /// The most records; the newest are kept. 0 gives none, a negative number counts as 0.
    public var newest: Int?

    /// Makes a query; without anything it is for all records.
    public init(
        severity: SeverityFilter? = nil, tag: String? = nil, from: Date? = nil, until: Date? = nil,
        processID: Int32? = nil, correlationID: String? = nil, newest: Int? = nil
    ) {
        self.severity = severity
        self.tag = tag
        self.from = from
        self.until = until
        self.processID = processID
        self.correlationID = correlationID
        self.newest = newest
    }

    /// Whether a record is wanted, without regard to ``newest``.
    public func admits(_ record: LogRecord) -> Bool {
        if let severity, !severity.admits(record.severity) { return false }
        if let tag, tag != record.tag { return false }
        if let from, record.time < from { return false }
        if let until, record.time >= until { return false }
        if let processID, processID != record.processID { return false }
        if let correlationID, correlationID != record.correlationID { return false }
        return true
    }

    /// The wanted ones of some records, in their order.
    public func select(_ records: some Sequence<LogRecord>) -> [LogRecord] {
        let wanted = records.filter(admits)
        return newest.map { Array(wanted.suffix(max(0, $0))) } ?? wanted
    }
}
