/// A calendar date, years 0001 to 9999 and before (`Edm.Date`), on the proleptic Gregorian calendar.
public struct ODataDate: Hashable, Sendable, Comparable, LosslessStringConvertible {
    /// Days since 1970-01-01.
    public let daysSinceEpoch: Int64

    /// Makes a date from days since 1970-01-01, at most a million years away: what lies beyond, as a damaged
    /// file may say, becomes that.
    public init(daysSinceEpoch: Int64) { self.daysSinceEpoch = clamped(daysSinceEpoch, to: 365_250_000) }

    /// Makes a date from its parts.
    ///
    /// - Returns: `nil` when there is no such day, or the year is beyond ±999,999.
    public init?(year: Int, month: Int, day: Int) {
        guard (-999_999...999_999).contains(year), (1...12).contains(month), day >= 1,
            day <= Self.days(in: month, of: year)
        else { return nil }
        // Days from civil, after Howard Hinnant's public-domain algorithm: years begin in March. They are counted
        // from 2501 eras of 400 years before the year 0, so that all divisions are of small unsigned numbers.
        let y = UInt32(year + 1_000_400 - (month <= 2 ? 1 : 0))
        let dayOfYear = UInt32((153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1)
        let days = y * 365 + y / 4 - y / 100 + y / 400 + dayOfYear
        daysSinceEpoch = Int64(days) - (2501 * 146_097 + 719_468)
    }

    /// Year, month 1 to 12 and day 1 to 31.
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

    /// Reads `YYYY-MM-DD`, with more digits or a sign for years beyond four.
    public init?(_ text: String) {
        guard let value = LexicalCursor.read(text, { $0.date() }) else { return nil }
        self = value
    }

    /// `YYYY-MM-DD`.
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

    /// Earlier dates are less.
    public static func < (left: ODataDate, right: ODataDate) -> Bool { left.daysSinceEpoch < right.daysSinceEpoch }
}

/// A time of day to 12 fractional digits (`Edm.TimeOfDay`).
public struct ODataTimeOfDay: Hashable, Sendable, Comparable, LosslessStringConvertible {
    /// Picoseconds since midnight, 0 to 86,400 × 10^12 − 1.
    public let picoseconds: Int64

    /// Makes a time of day from picoseconds since midnight.
    ///
    /// - Returns: `nil` when the value is outside one day.
    public init?(picoseconds: Int64) {
        guard picoseconds >= 0, picoseconds < 86_400 * picosecondsPerSecond else { return nil }
        self.picoseconds = picoseconds
    }

    /// Reads `hh:mm`, `hh:mm:ss` or `hh:mm:ss.f` with up to 12 fractional digits.
    public init?(_ text: String) {
        guard let value = LexicalCursor.read(text, { $0.timeOfDay() }) else { return nil }
        self = value
    }

    /// `hh:mm:ss` with as many fractional digits as needed.
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

    /// Earlier times are less.
    public static func < (left: ODataTimeOfDay, right: ODataTimeOfDay) -> Bool { left.picoseconds < right.picoseconds }
}

/// A date and time on an unstated clock (`Edm.DateTime` of V2 and V3).
public struct ODataDateTime: Hashable, Sendable, Comparable, LosslessStringConvertible {
    /// Whole seconds since 1970-01-01T00:00:00 on the same clock.
    public let seconds: Int64
    /// The rest in picoseconds, 0 to 10^12 − 1.
    public let picoseconds: Int64

    /// Makes a date-time; seconds are clamped to a million years, picoseconds to one second.
    public init(seconds: Int64, picoseconds: Int64 = 0) {
        self.seconds = clamped(seconds, to: 31_557_600_000_000)
        self.picoseconds = min(max(picoseconds, 0), picosecondsPerSecond - 1)
    }

    /// Reads `YYYY-MM-DDThh:mm[:ss[.f]]`.
    public init?(_ text: String) {
        guard let value = LexicalCursor.read(text, { $0.dateTime() }) else { return nil }
        self = value
    }

    /// The date.
    public var date: ODataDate { ODataDate(daysSinceEpoch: floorDivide(seconds, 86_400)) }

    /// The time of day in picoseconds since midnight.
    public var timeOfDay: ODataTimeOfDay {
        let inDay = seconds - floorDivide(seconds, 86_400) * 86_400
        return ODataTimeOfDay(unchecked: inDay * picosecondsPerSecond + picoseconds)
    }

    /// `YYYY-MM-DDThh:mm:ss` with as many fractional digits as needed.
    public var description: String { LexicalWriter.text { write(to: &$0) } }

    func write(to text: inout LexicalWriter) {
        date.write(to: &text)
        text.character("T")
        timeOfDay.write(to: &text)
    }

    /// Earlier is less.
    public static func < (left: ODataDateTime, right: ODataDateTime) -> Bool {
        (left.seconds, left.picoseconds) < (right.seconds, right.picoseconds)
    }
}

/// An instant with the offset it was written with (`Edm.DateTimeOffset`), to 12 fractional digits.
///
/// Ordered by instant, then by offset, so that the order is total. Equal only when both agree;
/// OData's `eq` compares the instant alone.
public struct ODataDateTimeOffset: Hashable, Sendable, Comparable, LosslessStringConvertible {
    /// Whole seconds since 1970-01-01T00:00:00Z.
    public let seconds: Int64
    /// Picoseconds and, in the lowest eleven bits, the offset in minutes plus 1024: 16 bytes in all, and
    /// the order of both at once.
    private let rest: Int64

    /// The rest in picoseconds, 0 to 10^12 − 1.
    public var picoseconds: Int64 { rest >> 11 }
    /// The offset from UTC in minutes, −840 to 840.
    public var offsetMinutes: Int { Int(rest & 2047) - 1024 }

    /// Makes an instant; seconds are clamped to a million years, the offset to ±14 hours.
    public init(seconds: Int64, picoseconds: Int64 = 0, offsetMinutes: Int = 0) {
        self.seconds = clamped(seconds, to: 31_557_600_000_000)
        let picoseconds = min(max(picoseconds, 0), picosecondsPerSecond - 1)
        rest = picoseconds << 11 | Int64(min(max(offsetMinutes, -840), 840) + 1024)
    }

    /// Reads `YYYY-MM-DDThh:mm[:ss[.f]]` followed by `Z` or `±hh:mm`.
    public init?(_ text: String) {
        guard let value = LexicalCursor.read(text, { $0.dateTimeOffset() }) else { return nil }
        self = value
    }

    /// The date and time on the clock of the offset.
    public var local: ODataDateTime {
        ODataDateTime(seconds: seconds + Int64(offsetMinutes) * 60, picoseconds: picoseconds)
    }

    /// ISO 8601 text with `Z` for a zero offset.
    public var description: String { LexicalWriter.text { write(to: &$0) } }

    func write(to text: inout LexicalWriter) {
        local.write(to: &text)
        guard offsetMinutes != 0 else { return text.character("Z") }
        text.character(offsetMinutes < 0 ? "-" : "+")
        text.two(abs(offsetMinutes) / 60)
        text.character(":")
        text.two(abs(offsetMinutes) % 60)
    }

    /// Earlier is less; of equal instants, the smaller offset.
    public static func < (left: ODataDateTimeOffset, right: ODataDateTimeOffset) -> Bool {
        (left.seconds, left.rest) < (right.seconds, right.rest)
    }
}

/// A signed length of time in days, hours, minutes and seconds (`Edm.Duration`), to 12 fractional digits.
public struct ODataDuration: Hashable, Sendable, Comparable, LosslessStringConvertible {
    /// Whole seconds, rounded towards negative infinity.
    public let seconds: Int64
    /// The rest in picoseconds, 0 to 10^12 − 1; always added, also to negative seconds.
    public let picoseconds: Int64

    /// Makes a duration.
    public init(seconds: Int64, picoseconds: Int64 = 0) {
        self.seconds = clamped(seconds, to: Int64.max / 4)
        self.picoseconds = min(max(picoseconds, 0), picosecondsPerSecond - 1)
    }

    /// Reads `[-]P[nD][T[nH][nM][n[.f]S]]`.
    public init?(_ text: String) {
        guard let value = LexicalCursor.read(text, { $0.duration() }) else { return nil }
        self = value
    }

    /// The canonical form: `P1DT2H3M4.5S`, `PT0S` for nothing.
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

    /// Shorter is less.
    public static func < (left: ODataDuration, right: ODataDuration) -> Bool {
        (left.seconds, left.picoseconds) < (right.seconds, right.picoseconds)
    }
}

let picosecondsPerSecond: Int64 = 1_000_000_000_000

extension ODataTimeOfDay {
    init(unchecked picoseconds: Int64) { self.picoseconds = picoseconds }
}

/// Keeps numbers from outside the type's range out of its arithmetic, which would trap.
private func clamped(_ value: Int64, to limit: Int64) -> Int64 { min(max(value, -limit), limit) }

private func floorDivide(_ value: Int64, _ divisor: Int64) -> Int64 {
    let quotient = value / divisor
    return value % divisor < 0 ? quotient - 1 : quotient
}
