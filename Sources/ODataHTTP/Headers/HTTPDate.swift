/// Dates in header fields (RFC 9110, 5.6.7), in the form that must be sent.
enum HTTPDate {
    private static let days = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    /// Whether a text is a date such as `Sun, 06 Nov 1994 08:49:37 GMT`.
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
