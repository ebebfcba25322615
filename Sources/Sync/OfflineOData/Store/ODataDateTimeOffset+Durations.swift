import ODataModel

extension ODataDateTimeOffset {
    /// Returns the instant later by a duration, or earlier by a negative one.
    public func advanced(by duration: Duration) -> ODataDateTimeOffset {
        let (whole, attoseconds) = duration.components
        // Both parts of a negative duration are negative.
        let rest = picoseconds + attoseconds / 1_000_000
        let second: Int64 = 1_000_000_000_000
        let carry = rest < 0 ? -1 : rest / second
        return ODataDateTimeOffset(
            seconds: seconds + whole + carry, picoseconds: rest - carry * second, offsetMinutes: offsetMinutes)
    }

    /// The instant of an HTTP date such as `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110, 5.6.7); `nil` for any other text.
    static func httpDate(_ text: String) -> ODataDateTimeOffset? {
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        let parts = text.split(separator: " ")
        guard parts.count == 6, parts[5] == "GMT", let month = months.firstIndex(of: String(parts[2])) else {
            return nil
        }
        return ODataDateTimeOffset("\(parts[3])-\(month < 9 ? "0" : "")\(month + 1)-\(parts[1])T\(parts[4])Z")
    }
}
