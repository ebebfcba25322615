public import Foundation

/// A condition for log records. An app can provide its own.
public protocol LogFilter: Sendable {
    /// Returns whether a record passes.
    func admits(_ record: LogRecord) -> Bool
}

/// A comparison of a record's severity with a bound. The cases refer to gravity, because graver severities have
/// smaller numbers.
public enum SeverityFilter: Hashable, Sendable {
    /// The bound and all graver severities.
    case atLeast(LogSeverity)
    /// All severities that are graver than the bound.
    case graverThan(LogSeverity)
    /// Only the bound.
    case exactly(LogSeverity)
    /// The bound and all less grave severities.
    case atMost(LogSeverity)
    /// All severities that are less grave than the bound.
    case lessGraveThan(LogSeverity)

    /// Returns whether a severity passes.
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

/// A query for log records by severity, tag, time, process and correlation id. A condition that is `nil` does
/// not apply.
///
/// ```swift
/// let query = LogQuery(severity: .atLeast(.warning), tag: "sync", newest: 50)
/// for record in try log.read(query).records { print(record.message) }
/// ```
public struct LogQuery: LogFilter, Hashable {
    /// The condition for the severity.
    public var severity: SeverityFilter?
    /// The tag, which names the component.
    public var tag: String?
    /// The start of the period, inclusive.
    public var from: Date?
    /// The end of the period, exclusive.
    public var until: Date?
    /// The process id.
    public var processID: Int32?
    /// The correlation id.
    public var correlationID: String?
    /// The maximum number of records; the newest are returned. 0 and negative numbers return none.
    public var newest: Int?

    /// Creates a query. Without arguments, it matches all records.
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

    /// Returns whether a record matches, regardless of ``newest``.
    public func admits(_ record: LogRecord) -> Bool {
        if let severity, !severity.admits(record.severity) { return false }
        if let tag, tag != record.tag { return false }
        if let from, record.time < from { return false }
        if let until, record.time >= until { return false }
        if let processID, processID != record.processID { return false }
        if let correlationID, correlationID != record.correlationID { return false }
        return true
    }

    /// Returns the matching records in their order.
    public func select(_ records: some Sequence<LogRecord>) -> [LogRecord] {
        let wanted = records.filter(admits)
        return newest.map { Array(wanted.suffix(max(0, $0))) } ?? wanted
    }
}
