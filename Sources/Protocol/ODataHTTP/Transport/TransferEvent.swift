/// Something that happens while a request is on its way.
///
/// The moments come from transports, the rest from the steps around them. What a transport cannot see it leaves
/// out: a connection in memory is never secured.
public enum TransferEvent: Sendable {
    /// The exchange took its turn: it left the queue.
    case started(ContinuousClock.Instant)
    /// A new connection stands; TLS follows where the URL asks for it.
    case connected(ContinuousClock.Instant)
    /// TLS is agreed and the server's certificate is trusted.
    case secured(ContinuousClock.Instant)
    /// A kept connection is used again: neither connecting nor TLS takes time.
    case reusedConnection(ContinuousClock.Instant)
    /// The last byte of the request was handed to the connection, or the answer came before it was.
    case requestSent(ContinuousClock.Instant)
    /// The head of the response began to arrive.
    case firstByte(ContinuousClock.Instant)
    /// The body of the response came packed in this coding, `gzip` or `deflate`, and is unpacked on the way.
    case unpacked(coding: String)
    /// The body of the response is complete.
    case lastByte(ContinuousClock.Instant)
    /// So many bytes of the request's body were taken by the transport, of so many in all where that is known.
    /// A smaller number than before means that the body is sent anew, after a challenge for instance.
    case sent(Int64, of: Int64?)
    /// So many bytes of the response's body were read, of so many in all where that is known.
    case received(Int64, of: Int64?)
    /// A redirect is followed.
    case redirected(to: String, status: Int)
    /// The service or a proxy wants to know who asks, and a step is asked for an answer.
    case authenticationNeeded(host: String, realm: String?, isProxy: Bool)
    /// The exchange failed, or the service asked to wait, and will be tried again after a while.
    case interrupted(any Error, retryAfter: Duration)
}
