import HTTPTypes
import ODataService

/// A transport that passes requests to a handler in the same process, without a socket.
///
/// Requests and responses are encoded and decoded, so that a test covers the messages of a real connection.
///
/// ```swift
/// let handler = ODataHandler(provider: store)
/// let client = try ODataClient(serviceRoot: "http://service.test/", transport: LoopbackTransport(handler))
/// ```
public struct LoopbackTransport: HTTPTransport {
    private let handle: @Sendable (HTTPRequest, ByteStream) async -> (HTTPResponse, ByteStream)

    /// Creates a transport to a handler.
    public init(_ handler: ODataHandler) {
        handle = { await handler.handle($0, $1) }
    }

    /// Creates a transport to any function that answers requests.
    public init(handle: @escaping @Sendable (HTTPRequest, ByteStream) async -> (HTTPResponse, ByteStream)) {
        self.handle = handle
    }

    /// Passes the request to the handler.
    ///
    /// - Throws: the stream of the response throws ``TransportError/truncated(host:reason:)`` if a service would
    ///   close the connection early.
    public func send(
        _ request: HTTPRequest, body: ByteStream?, options: TransferOptions
    ) async throws -> (HTTPResponse, ByteStream) {
        try Task.checkCancellation()
        let (response, stream) = await handle(request, body ?? ByteStream([]))
        try Task.checkCancellation()
        let host = request.authority ?? ""
        options.report?(.requestSent(.now))
        options.report?(.firstByte(.now))
        let cut = ByteStream(length: stream.length) {
            try Task.checkCancellation()
            do {
                let chunk = try await stream.next()
                if chunk == nil { options.report?(.lastByte(.now)) }
                return chunk
            } catch {
                throw TransportError.truncated(host: host, reason: "the service failed within the body")
            }
        }
        return (response, cut)
    }
}
