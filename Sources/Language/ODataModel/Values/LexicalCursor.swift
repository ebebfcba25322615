/// A cursor over the ASCII text of a date, time or duration.
///
/// Every method returns `nil` at the first byte that does not match and leaves the cursor at an unspecified
/// position. The cursor does not copy the bytes, because the JSON reader creates millions of cursors.
struct LexicalCursor {
    private let bytes: UnsafeBufferPointer<UInt8>
    private var position = 0

    init(_ bytes: UnsafeBufferPointer<UInt8>) { self.bytes = bytes }

    var isAtEnd: Bool { position == bytes.count }

    /// Reads a whole text; returns `nil` unless `body` consumes every byte.
    static func read<Value>(_ text: String, _ body: (inout LexicalCursor) -> Value?) -> Value? {
        var text = text
        return text.withUTF8 { read($0, body) }
    }

    /// Reads a whole text from its bytes; returns `nil` unless `body` consumes every byte.
    static func read<Value>(
        _ bytes: UnsafeBufferPointer<UInt8>, _ body: (inout LexicalCursor) -> Value?
    ) -> Value? {
        var cursor = LexicalCursor(bytes)
        guard let value = body(&cursor), cursor.isAtEnd else { return nil }
        return value
    }

    private mutating func take(_ byte: UInt8) -> Bool {
        guard position < bytes.count, bytes[position] == byte else { return false }
        position += 1
        return true
    }

    private mutating func take(_ character: Unicode.Scalar) -> Bool { take(UInt8(ascii: character)) }

    /// Reads a run of `count` digits as a number.
    private mutating func digits(_ count: ClosedRange<Int>) -> Int? {
        var value = 0
        var taken = 0
        while taken < count.upperBound, position < bytes.count, (48...57).contains(bytes[position]) {
            value = value * 10 + Int(bytes[position] - 48)
            position += 1
            taken += 1
        }
        return taken >= count.lowerBound ? value : nil
    }

    /// Checks eight bytes against a pattern with zeros at the positions of digits, and returns each digit's value
    /// in its byte.
    @inline(__always)
    private func eight(at offset: Int, like pattern: UInt64, others: UInt64) -> UInt64? {
        guard offset + 8 <= bytes.count, let start = UnsafeRawPointer(bytes.baseAddress) else { return nil }
        let word = UInt64(littleEndian: start.loadUnaligned(fromByteOffset: offset, as: UInt64.self)) ^ pattern
        let beyondNine = ((word &+ 0x7676_7676_7676_7676) | word) & 0x8080_8080_8080_8080
        return beyondNine == 0 && word & others == 0 ? word : nil
    }

    /// Returns the number of two digits in neighbouring bytes, with the tens in the lower byte.
    @inline(__always)
    private func two(_ word: UInt64, _ byte: UInt64) -> Int {
        Int((word >> (8 * byte)) & 15) * 10 + Int((word >> (8 * byte + 8)) & 15)
    }

    mutating func date() -> ODataDate? {
        // The form `YYYY-MM-`, which almost every date has.
        if let word = eight(at: position, like: 0x2D30_302D_3030_3030, others: 0xFF00_00FF_0000_0000),
            position + 10 <= bytes.count, bytes[position + 8] &- 48 < 10, bytes[position + 9] &- 48 < 10
        {
            let day = Int(bytes[position + 8] &- 48) * 10 + Int(bytes[position + 9] &- 48)
            position += 10
            return ODataDate(year: two(word, 0) * 100 + two(word, 2), month: two(word, 5), day: day)
        }
        let negative = take("-")
        let first = position
        guard let year = digits(4...6), position - first == 4 || bytes[first] != 48, take("-"),
            let month = digits(2...2), take("-"), let day = digits(2...2)
        else { return nil }
        return ODataDate(year: negative ? -year : year, month: month, day: day)
    }

    /// Reads a time of day. The second 60 of a leap second means the moment after second 59, or the last moment of
    /// the day at midnight.
    mutating func timeOfDay() -> ODataTimeOfDay? {
        picosecondsOfDay().flatMap { ODataTimeOfDay(picoseconds: min($0, 86_400 * picosecondsPerSecond - 1)) }
    }

    private mutating func picosecondsOfDay() -> Int64? {
        // The form `hh:mm:ss`, which almost every time has.
        if let word = eight(at: position, like: 0x3030_3A30_303A_3030, others: 0x0000_FF00_00FF_0000),
            two(word, 0) < 24, two(word, 3) < 60, two(word, 6) < 60
        {
            position += 8
            var total = Int64(two(word, 0) * 3600 + two(word, 3) * 60 + two(word, 6)) * picosecondsPerSecond
            if take(".") {
                guard let rest = fractionDigits() else { return nil }
                total += rest
            }
            return total
        }
        guard let hour = digits(2...2), hour < 24, take(":"), let minute = digits(2...2), minute < 60 else {
            return nil
        }
        var total = Int64(hour * 3600 + minute * 60) * picosecondsPerSecond
        if take(":") {
            guard let second = digits(2...2), second <= 60 else { return nil }
            total += Int64(second) * picosecondsPerSecond
            if take(".") {
                guard let rest = fractionDigits() else { return nil }
                total += rest
            }
        }
        return total
    }

    mutating func dateTime() -> ODataDateTime? {
        guard let date = date(), take("T") || take("t") || take(" ") else { return nil }
        // In XML Schema, 24:00:00 is midnight of the next day, and V2 services send this form.
        if position + 2 < bytes.count, bytes[position] == 50, bytes[position + 1] == 52 {
            position += 2
            guard zeroMinutesAndSeconds() else { return nil }
            return ODataDateTime(seconds: (date.daysSinceEpoch + 1) * 86_400)
        }
        guard let time = picosecondsOfDay() else { return nil }
        let (whole, rest) = time.quotientAndRemainder(dividingBy: picosecondsPerSecond)
        return ODataDateTime(seconds: date.daysSinceEpoch * 86_400 + whole, picoseconds: rest)
    }

    /// What follows the hour 24: minutes and seconds of zero, the seconds and their fraction optional.
    private mutating func zeroMinutesAndSeconds() -> Bool {
        guard take(":"), digits(2...2) == 0 else { return false }
        guard take(":") else { return true }
        guard digits(2...2) == 0 else { return false }
        return take(".") ? fractionDigits() == 0 : true
    }

    mutating func dateTimeOffset() -> ODataDateTimeOffset? {
        guard let local = dateTime(), let offset = offset() else { return nil }
        return ODataDateTimeOffset(
            seconds: local.seconds - Int64(offset) * 60, picoseconds: local.picoseconds, offsetMinutes: offset)
    }

    /// Reads `Z` or `±hh:mm` as an offset in minutes.
    mutating func offset() -> Int? {
        if take("Z") || take("z") { return 0 }
        let sign: Int
        if take("+") { sign = 1 } else if take("-") { sign = -1 } else { return nil }
        guard let hour = digits(2...2), take(":"), let minute = digits(2...2), minute < 60, hour * 60 + minute <= 840
        else { return nil }
        return sign * (hour * 60 + minute)
    }

    mutating func duration() -> ODataDuration? {
        let negative = take("-")
        if !negative { _ = take("+") }
        guard take("P") else { return nil }
        var seconds: Int64 = 0
        var picoseconds: Int64 = 0
        var parts = 0
        func add(_ value: Int, _ unit: Int64) -> Bool {
            let (product, overflow) = Int64(value).multipliedReportingOverflow(by: unit)
            let (sum, overflow2) = seconds.addingReportingOverflow(product)
            seconds = sum
            parts += 1
            return !overflow && !overflow2
        }
        if !isAtEnd, bytes[position] != UInt8(ascii: "T") {
            guard let days = digits(1...12), take("D"), add(days, 86_400) else { return nil }
        }
        if take("T") {
            var units: [(Unicode.Scalar, Int64)] = [("H", 3600), ("M", 60), ("S", 1)]
            let before = parts
            while !isAtEnd {
                guard let value = digits(1...12) else { return nil }
                if take(".") {
                    guard let rest = fractionDigits(), take("S"), add(value, 1) else { return nil }
                    picoseconds = rest
                    break
                }
                guard let unit = units.firstIndex(where: { take($0.0) }), add(value, units[unit].1) else { return nil }
                units.removeFirst(unit + 1)
            }
            guard parts > before else { return nil }
        }
        guard parts > 0 else { return nil }
        guard negative else { return ODataDuration(seconds: seconds, picoseconds: picoseconds) }
        return picoseconds == 0
            ? ODataDuration(seconds: -seconds)
            : ODataDuration(seconds: -seconds - 1, picoseconds: picosecondsPerSecond - picoseconds)
    }

    /// Reads up to 12 fractional digits as picoseconds; additional digits must be zeros.
    private mutating func fractionDigits() -> Int64? {
        let start = position
        guard let value = digits(1...12) else { return nil }
        var result = Int64(value)
        for _ in (position - start)..<12 { result *= 10 }
        while take("0") {}
        return result
    }
}
