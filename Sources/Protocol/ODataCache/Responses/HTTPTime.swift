import Foundation

/// Parses the three formats of dates in header fields (RFC 9110, 5.6.7).
enum HTTPTime {
    private static let months = [
        "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
    ]

    /// Parses `Sun, 06 Nov 1994 08:49:37 GMT`, `Sunday, 06-Nov-94 08:49:37 GMT` or `Sun Nov  6 08:49:37 1994`.
    /// Returns `nil` for any other text.
    static func date(_ text: String) -> Date? {
        let words = text.split { $0 == " " || $0 == "," || $0 == "-" }.map(String.init)
        let year: String
        let month: String
        let day: String
        let time: String
        switch words.count {
        case 6 where words[5] == "GMT": (day, month, year, time) = (words[1], words[2], words[3], words[4])
        case 5: (month, day, time, year) = (words[1], words[2], words[3], words[4])
        default: return nil
        }
        guard let month = months.firstIndex(of: month.lowercased()), let day = Int(day), (1...31).contains(day),
            var year = Int(year), (0...9999).contains(year)
        else { return nil }
        // Two-digit years above 76 belong to the 20th century, so that no date is more than 50 years ahead.
        if year < 100 { year += year > 76 ? 1900 : 2000 }
        let clock = time.split(separator: ":", omittingEmptySubsequences: false).map { Int($0) }
        guard clock.count == 3, let hour = clock[0], let minute = clock[1], let second = clock[2],
            (0...23).contains(hour), (0...59).contains(minute), (0...60).contains(second)
        else { return nil }
        let days = Self.days(year, month + 1, day: day)
        return Date(timeIntervalSince1970: Double(((days * 24 + hour) * 60 + minute) * 60 + second))
    }

    private static func days(_ year: Int, _ month: Int, day: Int) -> Int {
        let year = month <= 2 ? year - 1 : year
        let era = (year >= 0 ? year : year - 399) / 400
        let yearOfEra = year - era * 400
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }
}
