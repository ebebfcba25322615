import HTTPTypes
import ODataService

/// Sends HTTP messages: the NIO client, `URLSession`, or a handler in the same process.
///
/// A transport does one thing: it carries one request and gives the answer as it came. It follows no redirect,
/// repeats nothing that may have acted, keeps no cookie and knows no credentials; all that are steps around it,
/// which are transports themselves and so work with every transport.
///
/// What each transport does alike:
/// - The response is given as soon as its head has arrived; its body is read from the socket only as it is
///   pulled, and a request body is pulled only as the socket takes it.
/// - A body that came as gzip or deflate is unpacked, and `Content-Encoding` and `Content-Length` are then gone
///   from the head. Packing is asked for where the request has no `Accept-Encoding` of its own and
///   ``TransferOptions/acceptsCompression`` does not refuse it.
/// - Cancelling the task, or letting the body go unread, closes the connection (or resets its stream).
public protocol HTTPTransport: Sendable {
    /// Sends a request and gives the response as soon as its head has arrived.
    ///
    /// - Parameters:
    ///   - request: method, absolute URL and header fields.
    ///   - body: what to send, if anything; pulled as the connection takes it.
    ///   - options: what is to be different for this request, and who wants to know how it goes.
    /// - Returns: the head, and the body to be pulled.
    /// - Throws: ``TransportError``, `CancellationError`, and what the request body's producer throws; the
    ///   response body's stream throws them too.
    func send(
        _ request: HTTPRequest, body: ByteStream?, options: TransferOptions
    ) async throws -> (HTTPResponse, ByteStream)

    /// Whether this transport, or one that it wraps, keeps a session: cookies, a queue, retries. A client puts one
    /// around a transport that has none, and none around one that has. `false` unless a transport says otherwise; a
    /// wrapper says what the transport in it says.
    var keepsSession: Bool { get }

    /// The client certificate that the transport shows if a request has no other one
    /// (``TransferOptions/clientIdentity``). `nil` unless a transport says otherwise; a wrapper says what the transport in
    /// it says.
    var configuredIdentity: ClientIdentity? { get }
}

extension HTTPTransport {
    /// No session is kept.
    public var keepsSession: Bool { false }
    /// No certificate is shown.
    public var configuredIdentity: ClientIdentity? { nil }

    /// Sends a request as the transport is configured; see ``send(_:body:options:)``.
    public func send(_ request: HTTPRequest, body: ByteStream?) async throws -> (HTTPResponse, ByteStream) {
        try await send(request, body: body, options: TransferOptions())
    }
}
