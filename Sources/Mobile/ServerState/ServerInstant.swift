import Foundation

/// A moment in microseconds since 1970 in UTC, as the tables store it.
public struct ServerInstant: RawRepresentable, Hashable, Comparable, Sendable, Codable {
    /// The microseconds since 1970 in UTC.
    public var rawValue: Int64

    /// Creates a moment from microseconds since 1970.
    public init(rawValue: Int64) { self.rawValue = rawValue }

    /// Creates a moment from a date.
    public init(_ date: Date) {
        let microseconds = (date.timeIntervalSince1970 * 1_000_000).rounded()
        rawValue = Int64(exactly: microseconds) ?? (microseconds < 0 ? .min : .max)
    }

    /// The moment of the clock of this process.
    public static func current() -> ServerInstant { ServerInstant(Date()) }

    /// The moment as a date.
    public var date: Date { Date(timeIntervalSince1970: Double(rawValue) / 1_000_000) }

    /// Whether one moment is before another.
    public static func < (left: ServerInstant, right: ServerInstant) -> Bool { left.rawValue < right.rawValue }

    /// The moment after a duration; the first or last possible one if the result has no number.
    public static func + (left: ServerInstant, right: Duration) -> ServerInstant {
        let (seconds, attoseconds) = right.components
        let (product, overflows) = seconds.multipliedReportingOverflow(by: 1_000_000)
        guard !overflows else { return ServerInstant(rawValue: seconds < 0 ? .min : .max) }
        let change = product.addingReportingOverflow(attoseconds / 1_000_000_000_000)
        let sum = left.rawValue.addingReportingOverflow(change.partialValue)
        guard !change.overflow, !sum.overflow else { return ServerInstant(rawValue: seconds < 0 ? .min : .max) }
        return ServerInstant(rawValue: sum.partialValue)
    }

    /// The moment before a duration.
    public static func - (left: ServerInstant, right: Duration) -> ServerInstant { left + (.zero - right) }

    /// The time from one moment to another.
    public static func - (left: ServerInstant, right: ServerInstant) -> Duration {
        .microseconds(left.rawValue.subtractingReportingOverflow(right.rawValue).partialValue)
    }
}

/// A number of a change: *incarnation << 32 | counter* (`rules.md` 42). Change numbers of different incarnations have
/// no order; compare versions for equality.
public typealias ChangeNumber = Int64

/// A fence of a lease: *incarnation << 32 | n*. A write under an older fence is refused (`rules.md` 43).
public typealias Fence = Int64

/// The number of a row that the state has given out. It is never given out again (`design-review.md` 15).
public typealias RecordNumber = Int64

/// A period of the state in which no acknowledged commit was lost.
public struct Incarnation: Hashable, Sendable, Codable {
    /// A random number of 31 bits above that of the former incarnation.
    public var number: Int64
    /// The beginning of the incarnation. Repeatable requests from before are unknown (`design-review.md` 4).
    public var beganAt: ServerInstant

    /// Creates an incarnation.
    public init(number: Int64, beganAt: ServerInstant) {
        self.number = number
        self.beganAt = beganAt
    }
}
