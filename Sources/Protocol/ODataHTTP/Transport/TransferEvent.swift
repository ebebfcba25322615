/// An event during the transfer of a request.
///
/// Transports report the times, and the transports around them the other events. Events that a transport cannot
/// observe are missing: a connection in memory is never secured.
///
/// ```swift
/// var options = TransferOptions()
/// options.report = { event in
///     if case .firstByte(let instant) = event { show(instant) }
/// }
/// ```
public enum TransferEvent: Sendable {
    /// The exchange left the queue and started.
    case started(ContinuousClock.Instant)
    /// A new connection was established. TLS follows if the URL requires it.
    case connected(ContinuousClock.Instant)
    /// The TLS handshake has finished, and the certificate of the server is trusted.
    case secured(ContinuousClock.Instant)
    /// An existing connection is reused, without time for connecting and TLS.
    case reusedConnection(ContinuousClock.Instant)
    /// The last byte of the request was passed to the connection, or the response arrived earlier.
    case requestSent(ContinuousClock.Instant)
    /// The first byte of the response arrived.
    case firstByte(ContinuousClock.Instant)
    /// The body of the response is decompressed from a coding, `gzip` or `deflate`.
    case unpacked(coding: String)
    /// The body of the response is complete.
    case lastByte(ContinuousClock.Instant)
    /// The number of bytes of the request body that the transport has taken, and the total number if it is known. A
    /// smaller number than before means that the body is sent again.
    case sent(Int64, of: Int64?)
    /// The number of bytes of the response body that were read, and the total number if it is known.
    case received(Int64, of: Int64?)
    /// A redirect is followed.
    case redirected(to: String, status: Int)
    /// The service or a proxy requires authentication, and the authentication steps of the session are asked to
    /// answer.
    case authenticationNeeded(host: String, realm: String?, isProxy: Bool)
    /// The exchange failed, or the service asked to wait; it will be retried after a time.
    case interrupted(any Error, retryAfter: Duration)
}
