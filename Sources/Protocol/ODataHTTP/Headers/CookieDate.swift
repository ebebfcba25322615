/// The dates of cookies and header fields, parsed as leniently as RFC 6265, 5.1.1 requires. The three forms of RFC
/// 9110, 5.6.7 are included.
package enum CookieDate {
    private static let months = [
        "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
    ]

    /// Returns the seconds since 1970; `nil` if the text is not a date.
    package static func seconds(_ text: String) -> Int64? {
        var time: (hour: Int, minute: Int, second: Int)?
        var day: Int?
        var month: Int?
        var year: Int?
        let tokens = text.utf8.split { byte in
            !(byte >= 0x30 && byte <= 0x3A) && !(byte >= 0x41 && byte <= 0x5A) && !(byte >= 0x61 && byte <= 0x7A)
        }
        for token in tokens.prefix(16) {
            let word = String(decoding: token, as: UTF8.self).lowercased()
            if time == nil, let found = clock(word) {
                time = found
            } else if day == nil, let found = number(word, digits: 1...2) {
                day = found
            } else if month == nil, let index = months.firstIndex(of: String(word.prefix(3))) {
                month = index + 1
            } else if year == nil, let found = number(word, digits: 2...4) {
                year = found < 70 ? found + 2000 : found < 100 ? found + 1900 : found
            }
        }
        guard let time, let day, let month, let year, (1...31).contains(day), year >= 1601, time.hour < 24,
            time.minute < 60, time.second < 60
        else { return nil }
        return days(year, month, day: day) * 86_400 + Int64(time.hour * 3600 + time.minute * 60 + time.second)
    }

    private static func clock(_ word: String) -> (hour: Int, minute: Int, second: Int)? {
        let parts = word.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 3, let hour = number(String(parts[0]), digits: 1...2),
            let minute = number(String(parts[1]), digits: 1...2), let second = number(String(parts[2]), digits: 1...2)
        else { return nil }
        return (hour, minute, second)
    }

    private static func number(_ word: String, digits: ClosedRange<Int>) -> Int? {
        let figures = word.prefix { $0 >= "0" && $0 <= "9" }
        return digits.contains(figures.count) && figures.count == word.count ? Int(figures) : nil
    }

    /// Returns the number of days from 1970-01-01 to a day of the Gregorian calendar.
    private static func days(_ year: Int, _ month: Int, day: Int) -> Int64 {
        let shifted = month <= 2 ? year - 1 : year
        let era = shifted / 400
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return Int64(era * 146_097 + dayOfEra - 719_468)
    }
}
