import ODataModel

/// Dates in header fields (RFC 9110, 5.6.7), in the form for sending.
package enum HTTPDate {
    private static let days = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    /// Returns the date of an instant, given in seconds since 1970-01-01T00:00:00Z.
    package static func text(seconds: Int64) -> String {
        let instant = ODataDateTime(seconds: seconds)
        let (year, month, day) = instant.date.components
        // The first of January 1970 was a Thursday.
        let weekday = days[Int(((instant.date.daysSinceEpoch + 3) % 7 + 7) % 7)]
        func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        return "\(weekday), \(two(day)) \(months[month - 1]) \(year) \(instant.timeOfDay.description.prefix(8)) GMT"
    }

    /// Returns whether a text is a date such as `Sun, 06 Nov 1994 08:49:37 GMT`.
    static func isValid(_ text: String) -> Bool {
        let parts = text.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 6, parts[0].hasSuffix(","), days.contains(String(parts[0].dropLast())),
            let day = number(parts[1], 2), months.contains(parts[2]), number(parts[3], 4) != nil, parts[5] == "GMT"
        else { return false }
        let time = parts[4].split(separator: ":", omittingEmptySubsequences: false).map { number(String($0), 2) }
        guard time.count == 3, let hour = time[0], let minute = time[1], let second = time[2] else { return false }
        return (1...31).contains(day) && hour < 24 && minute < 60 && second <= 60
    }

    private static func number(_ text: String, _ digits: Int) -> Int? {
        text.utf8.count == digits && text.utf8.allSatisfy { (48...57).contains($0) } ? Int(text) : nil
    }
}
