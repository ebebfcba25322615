/// The time after which a request may be repeated (`Retry-After`, RFC 9110, 10.2.3).
package enum RetryAfter {
    /// Returns the seconds to wait, 0 to 2^40; `nil` if the field is neither a number of seconds nor a date.
    ///
    /// - Parameter now: the current time in seconds since 1970.
    package static func seconds(_ text: String, now: Double) -> Double? {
        let text = HeaderTokens.trim(text)
        if !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
            return Double(min(Int64(text) ?? .max, longest))
        }
        return CookieDate.seconds(text).map { min(max(0, Double($0) - now), Double(longest)) }
    }

    private static let longest: Int64 = 1 << 40
}
