import HTTPTypes
import ODataService

/// A transport for HTTP messages, such as the NIO client, `URLSession`, or a handler in the same process.
///
/// A transport sends one request and returns the response unchanged. It does not follow redirects, repeat requests
/// that may have been executed, keep cookies or add credentials. Transports that wrap other transports add these
/// features.
///
/// All transports behave alike in these points:
/// - The response is returned as soon as its head has arrived. Bodies are read from and written to the socket on
///   demand.
/// - A response body in gzip or deflate is decompressed, and `Content-Encoding` and `Content-Length` are removed.
///   Compression is requested unless the request has an `Accept-Encoding` or ``TransferOptions/acceptsCompression``
///   is `false`.
/// - Cancelling the task, or releasing an unread body, closes the connection or resets its stream.
///
/// ```swift
/// /// Counts requests on their way.
/// struct CountingTransport: HTTPTransport {
///     let base: any HTTPTransport
///
///     func send(
///         _ request: HTTPRequest, body: ByteStream?, options: TransferOptions
///     ) async throws -> (HTTPResponse, ByteStream) {
///         show(request.path ?? "")
///         return try await base.send(request, body: body, options: options)
///     }
/// }
/// let client = try ODataClient(serviceRoot: root, transport: CountingTransport(base: transport))
/// ```
public protocol HTTPTransport: Sendable {
    /// Sends a request and returns the response as soon as its head has arrived.
    ///
    /// - Parameters:
    ///   - request: the method, absolute URL and header fields.
    ///   - body: the body, which is read as the connection accepts it; `nil` for none.
    ///   - options: the options for this request, including the observer of its progress.
    /// - Returns: the head, and the body as a stream.
    /// - Throws: ``TransportError``, `CancellationError`, and the errors of the request body's producer. The stream
    ///   of the response body throws them too.
    func send(
        _ request: HTTPRequest, body: ByteStream?, options: TransferOptions
    ) async throws -> (HTTPResponse, ByteStream)

    /// Whether this transport, or one that it wraps, manages a session with cookies, a queue and retries.
    ///
    /// A client wraps a transport without a session in one. The default is `false`; a wrapper returns the value of
    /// the wrapped transport.
    var keepsSession: Bool { get }

    /// The client certificate for requests without ``TransferOptions/clientIdentity``.
    ///
    /// The default is `nil`; a wrapper returns the value of the wrapped transport.
    var configuredIdentity: ClientIdentity? { get }
}

extension HTTPTransport {
    /// The default, `false`: the transport manages no session.
    public var keepsSession: Bool { false }
    /// The default, `nil`: the transport has no client certificate.
    public var configuredIdentity: ClientIdentity? { nil }

    /// Sends a request with default options; see ``send(_:body:options:)``.
    public func send(_ request: HTTPRequest, body: ByteStream?) async throws -> (HTTPResponse, ByteStream) {
        try await send(request, body: body, options: TransferOptions())
    }
}
