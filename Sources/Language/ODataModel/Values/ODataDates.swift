/// A calendar date with a year from −999,999 to 999,999 (`Edm.Date`), in the proleptic Gregorian calendar.
///
/// ```swift
/// let shipped = ODataDate(year: 2026, month: 3, day: 31)
/// print(shipped?.description ?? "")  // 2026-03-31
/// order["ShippedDate"] = shipped.map { .date($0) } ?? .null
/// ```
public struct ODataDate: Hashable, Sendable, Comparable, LosslessStringConvertible {
    /// The number of days since 1970-01-01.
    public let daysSinceEpoch: Int64

    /// Creates a date from the number of days since 1970-01-01, clamped to a million years in both directions.
    /// Larger numbers can occur in damaged files.
    public init(daysSinceEpoch: Int64) { self.daysSinceEpoch = clamped(daysSinceEpoch, to: 365_250_000) }

    /// Creates a date from its parts.
    ///
    /// - Returns: `nil` if the day does not exist, or the year is beyond ±999,999.
    public init?(year: Int, month: Int, day: Int) {
        guard (-999_999...999_999).contains(year), (1...12).contains(month), day >= 1,
            day <= Self.days(in: month, of: year)
        else { return nil }
        // The computation follows Howard Hinnant's public-domain algorithm "days from civil", in which years begin
        // in March. Days are counted from 2501 eras of 400 years before the year 0, so that all divisions use small
        // unsigned numbers.
        let y = UInt32(year + 1_000_400 - (month <= 2 ? 1 : 0))
        let dayOfYear = UInt32((153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1)
        let days = y * 365 + y / 4 - y / 100 + y / 400 + dayOfYear
        daysSinceEpoch = Int64(days) - (2501 * 146_097 + 719_468)
    }

    /// The year, the month from 1 to 12 and the day from 1 to 31.
    public var components: (year: Int, month: Int, day: Int) {
        let shifted = Int(daysSinceEpoch) + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthIndex = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * monthIndex + 2) / 5 + 1
        let month = monthIndex < 10 ? monthIndex + 3 : monthIndex - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day)
    }

    private static func days(in month: Int, of year: Int) -> Int {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    /// Parses `YYYY-MM-DD`; the year may have a sign and up to six digits.
    public init?(_ text: String) {
        guard let value = LexicalCursor.read(text, { $0.date() }) else { return nil }
        self = value
    }

    /// The form `YYYY-MM-DD`.
    public var description: String { LexicalWriter.text { write(to: &$0) } }

    func write(to text: inout LexicalWriter) {
        let (year, month, day) = components
        if year < 0 { text.character("-") }
        text.number(UInt64(year.magnitude), width: 4)
        text.character("-")
        text.two(month)
        text.character("-")
        text.two(day)
    }

    /// Returns whether the left date is earlier.
    public static func < (left: ODataDate, right: ODataDate) -> Bool { left.daysSinceEpoch < right.daysSinceEpoch }
}

/// A time of day with up to 12 fractional digits (`Edm.TimeOfDay`).
///
/// ```swift
/// let opening = ODataTimeOfDay("08:30")
/// print(opening?.description ?? "")  // 08:30:00
/// ```
public struct ODataTimeOfDay: Hashable, Sendable, Comparable, LosslessStringConvertible {
    /// The number of picoseconds since midnight, 0 to 86,400 × 10^12 − 1.
    public let picoseconds: Int64

    /// The start of a day.
    public static let midnight = ODataTimeOfDay(unchecked: 0)

    /// Creates a time of day from the number of picoseconds since midnight.
    ///
    /// - Returns: `nil` if the value is outside one day.
    public init?(picoseconds: Int64) {
        guard picoseconds >= 0, picoseconds < 86_400 * picosecondsPerSecond else { return nil }
        self.picoseconds = picoseconds
    }

    /// Parses `hh:mm`, `hh:mm:ss` or `hh:mm:ss.f` with up to 12 fractional digits.
    public init?(_ text: String) {
        guard let value = LexicalCursor.read(text, { $0.timeOfDay() }) else { return nil }
        self = value
    }

    /// The form `hh:mm:ss` with as many fractional digits as needed.
    public var description: String { LexicalWriter.text { write(to: &$0) } }

    func write(to text: inout LexicalWriter) {
        let seconds = Int(picoseconds / picosecondsPerSecond)
        text.two(seconds / 3600)
        text.character(":")
        text.two(seconds / 60 % 60)
        text.character(":")
        text.two(seconds % 60)
        text.fraction(picoseconds: picoseconds % picosecondsPerSecond)
    }

    /// Returns whether the left time is earlier.
    public static func < (left: ODataTimeOfDay, right: ODataTimeOfDay) -> Bool { left.picoseconds < right.picoseconds }
}

/// A date and time without a time zone (`Edm.DateTime` of V2 and V3).
///
/// ```swift
/// let ordered = ODataDateTime("2026-03-31T08:30:00")
/// print(ordered?.seconds ?? 0)
/// ```
public struct ODataDateTime: Hashable, Sendable, Comparable, LosslessStringConvertible {
    /// The number of whole seconds since 1970-01-01T00:00:00 in the same time zone.
    public let seconds: Int64
    /// The fraction of a second in picoseconds, 0 to 10^12 − 1.
    public let picoseconds: Int64

    /// Creates a date-time. Seconds are clamped to a million years, and picoseconds to one second.
    public init(seconds: Int64, picoseconds: Int64 = 0) {
        self.seconds = clamped(seconds, to: 31_557_600_000_000)
        self.picoseconds = min(max(picoseconds, 0), picosecondsPerSecond - 1)
    }

    /// Parses `YYYY-MM-DDThh:mm[:ss[.f]]`.
    public init?(_ text: String) {
        guard let value = LexicalCursor.read(text, { $0.dateTime() }) else { return nil }
        self = value
    }

    /// The date.
    public var date: ODataDate { ODataDate(daysSinceEpoch: floorDivide(seconds, 86_400)) }

    /// The time of day.
    public var timeOfDay: ODataTimeOfDay {
        let inDay = seconds - floorDivide(seconds, 86_400) * 86_400
        return ODataTimeOfDay(unchecked: inDay * picosecondsPerSecond + picoseconds)
    }

    /// The form `YYYY-MM-DDThh:mm:ss` with as many fractional digits as needed.
    public var description: String { LexicalWriter.text { write(to: &$0) } }

    func write(to text: inout LexicalWriter) {
        date.write(to: &text)
        text.character("T")
        timeOfDay.write(to: &text)
    }

    /// Returns whether the left date-time is earlier.
    public static func < (left: ODataDateTime, right: ODataDateTime) -> Bool {
        (left.seconds, left.picoseconds) < (right.seconds, right.picoseconds)
    }
}

/// An instant with its written offset (`Edm.DateTimeOffset`), with up to 12 fractional digits.
///
/// Values are ordered by instant, then by offset, so that the order is total. Values are equal only if instant and
/// offset agree, but `eq` of OData compares only the instants.
///
/// ```swift
/// let ordered = ODataDateTimeOffset("2026-03-31T08:30:00+02:00")
/// print(ordered?.offsetMinutes ?? 0)  // 120
/// order["OrderedAt"] = .dateTimeOffset(ODataDateTimeOffset(seconds: Int64(Date().timeIntervalSince1970)))
/// ```
public struct ODataDateTimeOffset: Hashable, Sendable, Comparable, LosslessStringConvertible {
    /// The number of whole seconds since 1970-01-01T00:00:00Z.
    public let seconds: Int64
    /// The picoseconds and, in the lowest eleven bits, the offset in minutes plus 1024. This layout keeps the value
    /// at 16 bytes and orders by picoseconds and offset at once.
    private let rest: Int64

    /// The fraction of a second in picoseconds, 0 to 10^12 − 1.
    public var picoseconds: Int64 { rest >> 11 }
    /// The offset from UTC in minutes, −840 to 840.
    public var offsetMinutes: Int { Int(rest & 2047) - 1024 }

    /// Creates an instant. Seconds are clamped to a million years, and the offset to ±14 hours.
    public init(seconds: Int64, picoseconds: Int64 = 0, offsetMinutes: Int = 0) {
        self.seconds = clamped(seconds, to: 31_557_600_000_000)
        let picoseconds = min(max(picoseconds, 0), picosecondsPerSecond - 1)
        rest = picoseconds << 11 | Int64(min(max(offsetMinutes, -840), 840) + 1024)
    }

    /// Parses `YYYY-MM-DDThh:mm[:ss[.f]]` followed by `Z` or `±hh:mm`.
    public init?(_ text: String) {
        guard let value = LexicalCursor.read(text, { $0.dateTimeOffset() }) else { return nil }
        self = value
    }

    /// The date and time in the time zone of the offset.
    public var local: ODataDateTime {
        ODataDateTime(seconds: seconds + Int64(offsetMinutes) * 60, picoseconds: picoseconds)
    }

    /// The ISO 8601 form, with `Z` for a zero offset.
    public var description: String { LexicalWriter.text { write(to: &$0) } }

    func write(to text: inout LexicalWriter) {
        local.write(to: &text)
        guard offsetMinutes != 0 else { return text.character("Z") }
        text.character(offsetMinutes < 0 ? "-" : "+")
        text.two(abs(offsetMinutes) / 60)
        text.character(":")
        text.two(abs(offsetMinutes) % 60)
    }

    /// Returns whether the left instant is earlier, or has the smaller offset at the same instant.
    public static func < (left: ODataDateTimeOffset, right: ODataDateTimeOffset) -> Bool {
        (left.seconds, left.rest) < (right.seconds, right.rest)
    }
}

/// A signed duration in days, hours, minutes and seconds (`Edm.Duration`), with up to 12 fractional digits.
///
/// ```swift
/// let breakTime = ODataDuration("PT1H30M")
/// print(breakTime?.seconds ?? 0)  // 5400
/// ```
public struct ODataDuration: Hashable, Sendable, Comparable, LosslessStringConvertible {
    /// The number of whole seconds, rounded towards negative infinity.
    public let seconds: Int64
    /// The fraction of a second in picoseconds, 0 to 10^12 − 1, which is added even to negative seconds.
    public let picoseconds: Int64

    /// Creates a duration. Seconds are clamped to a quarter of the `Int64` range, and picoseconds to one second.
    public init(seconds: Int64, picoseconds: Int64 = 0) {
        self.seconds = clamped(seconds, to: Int64.max / 4)
        self.picoseconds = min(max(picoseconds, 0), picosecondsPerSecond - 1)
    }

    /// Parses `[-]P[nD][T[nH][nM][n[.f]S]]`.
    public init?(_ text: String) {
        guard let value = LexicalCursor.read(text, { $0.duration() }) else { return nil }
        self = value
    }

    /// The canonical form, such as `P1DT2H3M4.5S`, or `PT0S` for zero.
    public var description: String { LexicalWriter.text { write(to: &$0) } }

    func write(to text: inout LexicalWriter) {
        var whole = seconds.magnitude
        var rest = picoseconds
        if seconds < 0, rest > 0 {
            whole -= 1
            rest = picosecondsPerSecond - rest
        }
        if seconds < 0 { text.character("-") }
        text.character("P")
        func part(_ number: UInt64, _ unit: Unicode.Scalar) {
            guard number > 0 else { return }
            text.number(number)
            text.character(unit)
        }
        part(whole / 86_400, "D")
        guard whole % 86_400 > 0 || rest > 0 || whole == 0 else { return }
        text.character("T")
        part(whole / 3600 % 24, "H")
        part(whole / 60 % 60, "M")
        guard whole % 60 > 0 || rest > 0 || whole == 0 else { return }
        text.number(whole % 60)
        text.fraction(picoseconds: rest)
        text.character("S")
    }

    /// Returns whether the left duration is less.
    public static func < (left: ODataDuration, right: ODataDuration) -> Bool {
        (left.seconds, left.picoseconds) < (right.seconds, right.picoseconds)
    }
}

let picosecondsPerSecond: Int64 = 1_000_000_000_000

extension ODataTimeOfDay {
    init(unchecked picoseconds: Int64) { self.picoseconds = picoseconds }
}

/// Clamps a number to a range in which the arithmetic of the type cannot overflow.
private func clamped(_ value: Int64, to limit: Int64) -> Int64 { min(max(value, -limit), limit) }

private func floorDivide(_ value: Int64, _ divisor: Int64) -> Int64 {
    let quotient = value / divisor
    return value % divisor < 0 ? quotient - 1 : quotient
}
