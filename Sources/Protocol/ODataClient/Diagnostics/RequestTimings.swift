/// How long one request took at four levels, and each document that was read.
///
/// ```text
/// endToEnd  ├──────────────── the app's call ────────────────┤
/// client      ├──── from the message made to its last byte ────┤
/// transport     ├──── handed to the transport to the last byte ──┤
/// network         ├── waiting for the other side ──┤
/// ```
/// All are read from a monotonic clock in nanoseconds. Times are of one attempt chain: what is repeated for a CSRF
/// token counts into ``client``, not into ``transport``.
public struct RequestTimings: Sendable, Hashable {
    /// One document that was parsed.
    public struct Document: Sendable, Hashable {
        /// What it was.
        public enum Kind: String, Sendable, Hashable {
            /// `$metadata`.
            case metadata
            /// The body of an answer.
            case response
            /// The error object of a refusal.
            case error
        }

        /// What it was.
        public var kind: Kind
        /// Its size in bytes, as far as it was read.
        public var bytes: Int64
        /// The time it took to read, without waiting for its bytes.
        public var duration: Duration
    }

    /// `X-Request-ID`, where one was sent.
    public internal(set) var requestID: String?
    /// `X-CorrelationID`, where one was sent.
    public internal(set) var correlationID: String?
    /// The method and the path without its query, whose literals may be personal.
    public internal(set) var operation: String
    /// The status of the answer; `nil` where none came.
    public internal(set) var status: Int?
    /// From the app's call to the answer, decoded.
    public internal(set) var endToEnd: Duration
    /// From the message made to the last byte of its answer.
    public internal(set) var client: Duration
    /// From the message handed to the transport to the last byte of its answer.
    public internal(set) var transport: Duration
    /// From the last byte of the request sent to the last byte of the answer, as the transport tells them.
    public internal(set) var network: Duration
    /// The bytes of the request's body.
    public internal(set) var sentBytes: Int64
    /// The bytes of the answer's body, unpacked.
    public internal(set) var receivedBytes: Int64
    /// The documents that were parsed.
    public internal(set) var documents: [Document]

    /// What making and reading messages takes: ``endToEnd`` without ``client``.
    public var codec: Duration { max(.zero, endToEnd - client) }
    /// What tokens, tracing and authentication take: ``client`` without ``transport``.
    public var session: Duration { max(.zero, client - transport) }
}
