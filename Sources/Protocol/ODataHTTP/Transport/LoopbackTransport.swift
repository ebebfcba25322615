import HTTPTypes
import ODataService

/// Joins a client and a service in one process: a request goes to the handler without a socket.
///
/// Both directions of the codec run, so that a test over it sees what would go over the wire.
///
/// ```swift
/// let handler = ODataHandler(provider: store)
/// let client = try ODataClient(serviceRoot: "http://service.test/", transport: LoopbackTransport(handler))
/// ```
public struct LoopbackTransport: HTTPTransport {
    private let handle: @Sendable (HTTPRequest, ByteStream) async -> (HTTPResponse, ByteStream)

    /// Joins to a handler.
    public init(_ handler: ODataHandler) {
        handle = { await handler.handle($0, $1) }
    }

    /// Joins to any function that answers requests.
    public init(handle: @escaping @Sendable (HTTPRequest, ByteStream) async -> (HTTPResponse, ByteStream)) {
        self.handle = handle
    }

    /// Hands the request to the handler.
    ///
    /// - Throws: ``TransportError/truncated(host:reason:)`` from the response's stream where a service over
    ///   a socket would cut the connection.
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
