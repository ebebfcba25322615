/// The minimum rate at which a peer must send a request body or receive a response.
///
/// A slow peer above the minimum is served without a time limit. Below the minimum, a request body is answered
/// with 408. For an unread response, the connection or the stream of HTTP/2 is closed.
public struct MinimumTransfer: Hashable, Sendable {
    /// The default of 1,024 bytes.
    public static let defaultBytes = 1024
    /// The default of 30 seconds.
    public static let defaultPeriod = Duration.seconds(30)

    /// The minimum number of bytes in one ``period``.
    public var bytes: Int
    /// The time in which the bytes must be transferred.
    public var period: Duration

    /// Creates a minimum; fewer than 1 byte counts as 1.
    public init(bytes: Int = Self.defaultBytes, period: Duration = Self.defaultPeriod) {
        self.bytes = max(1, bytes)
        self.period = period
    }
}
