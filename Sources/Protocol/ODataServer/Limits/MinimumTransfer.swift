/// The least that a peer has to move while the server waits for it: to send the body of its request, or to take the
/// response.
///
/// A slow peer is served for as long as it needs, since the time of a transfer counts for no other limit. A peer below the
/// minimum is cut: a request body is answered with 408, an unread response ends with its connection, or with its stream of
/// HTTP/2.
public struct MinimumTransfer: Hashable, Sendable {
    /// 1 KB.
    public static let defaultBytes = 1024
    /// 30 seconds.
    public static let defaultPeriod = Duration.seconds(30)

    /// The least bytes in one ``period``. On a stream of HTTP/2, whose flow is the client's to control, a response is
    /// written in slices of 16 KB, and a client has to take one of them in a period.
    public var bytes: Int
    /// The time in which the bytes have to move.
    public var period: Duration

    /// Makes a minimum.
    public init(bytes: Int = Self.defaultBytes, period: Duration = Self.defaultPeriod) {
        self.bytes = max(1, bytes)
        self.period = period
    }
}
