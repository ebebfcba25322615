/// The durations of one request at four levels, and of each document that was read.
///
/// ```text
/// endToEnd  ├──────────────── the app's call ────────────────┤
/// client      ├──── message created to its last byte ──────────┤
/// transport     ├──── passed to the transport to the last byte ──┤
/// network         ├── waiting for the service ─────┤
/// ```
/// All durations are measured with a monotonic clock in nanoseconds. A repeat because of a CSRF token counts
/// towards ``client``, but not towards ``transport``.
///
/// ```swift
/// var configuration = ODataClient.Configuration()
/// configuration.diagnostics.onTimings = { timings in show(timings.operation, timings.endToEnd, timings.status ?? 0) }
/// ```
public struct RequestTimings: Sendable, Hashable {
    /// A document that was parsed.
    public struct Document: Sendable, Hashable {
        /// The kinds of documents.
        public enum Kind: String, Sendable, Hashable {
            /// The metadata document, `$metadata`.
            case metadata
            /// The body of a response.
            case response
            /// The error object of a refused request.
            case error
        }

        /// The kind of the document.
        public var kind: Kind
        /// The number of bytes that were read.
        public var bytes: Int64
        /// The time spent reading, without waiting for bytes.
        public var duration: Duration
    }

    /// The value of `X-Request-ID`, if one was sent.
    public internal(set) var requestID: String?
    /// The value of `X-CorrelationID`, if one was sent.
    public internal(set) var correlationID: String?
    /// The method and the path without its query, because literals in the query may be personal.
    public internal(set) var operation: String
    /// The status of the response; `nil` if there was no response.
    public internal(set) var status: Int?
    /// The time from the app's call to the decoded response.
    public internal(set) var endToEnd: Duration
    /// The time from the creation of the message to the last byte of the response.
    public internal(set) var client: Duration
    /// The time from passing the message to the transport to the last byte of the response.
    public internal(set) var transport: Duration
    /// The time from the last byte of the request to the last byte of the response, as reported by the
    /// transport.
    public internal(set) var network: Duration
    /// The number of bytes of the request body.
    public internal(set) var sentBytes: Int64
    /// The number of bytes of the response body after decompression.
    public internal(set) var receivedBytes: Int64
    /// The documents that were parsed.
    public internal(set) var documents: [Document]

    /// The time spent writing and reading messages: ``endToEnd`` minus ``client``.
    public var codec: Duration { max(.zero, endToEnd - client) }
    /// The time spent on tokens, tracing and authentication: ``client`` minus ``transport``.
    public var session: Duration { max(.zero, client - transport) }
}
