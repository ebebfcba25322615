import HTTPTypes
import ODataService
import Synchronization

/// Counts the bytes of bodies that go through another transport, for progress and reports.
///
/// ```swift
/// let transport = MeteredTransport(try NIOTransport())
/// let client = try ODataClient(serviceRoot: root, transport: transport)
/// …
/// print(transport.received)
/// ```
public final class MeteredTransport<Base: HTTPTransport>: HTTPTransport {
    /// The transport that does the work.
    public let base: Base
    private let counts = Mutex((sent: Int64(0), received: Int64(0), requests: 0))

    /// Wraps a transport.
    public init(_ base: Base) { self.base = base }

    /// The bytes of request bodies so far.
    public var sent: Int64 { counts.withLock { $0.sent } }
    /// The bytes of response bodies so far, after they were unpacked.
    public var received: Int64 { counts.withLock { $0.received } }
    /// The requests so far.
    public var requests: Int { counts.withLock { $0.requests } }
    /// What the wrapped transport says.
    public var keepsSession: Bool { base.keepsSession }
    /// The client certificate of the wrapped transport.
    public var configuredIdentity: ClientIdentity? { base.configuredIdentity }

    /// Sends a request and counts what goes by.
    public func send(
        _ request: HTTPRequest, body: ByteStream?, options: TransferOptions
    ) async throws -> (HTTPResponse, ByteStream) {
        counts.withLock { $0.requests += 1 }
        let upload = body?.observed { chunk in self.counts.withLock { $0.sent += Int64(chunk?.count ?? 0) } }
        let (response, stream) = try await base.send(request, body: upload, options: options)
        let download = stream.observed { chunk in self.counts.withLock { $0.received += Int64(chunk?.count ?? 0) } }
        return (response, download)
    }
}
