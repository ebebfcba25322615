import HTTPTypes
import ODataService

/// A transport that counts the requests and bytes of another one.
///
/// ```swift
/// let transport = MeteredTransport(try NIOTransport())
/// let client = try ODataClient(serviceRoot: root, transport: transport)
/// …
/// print(transport.meter.received)
/// ```
public struct MeteredTransport<Base: HTTPTransport>: HTTPTransport {
    /// The wrapped transport.
    public let base: Base
    /// The counts so far.
    public let meter: TransferMeter

    /// Wraps a transport.
    ///
    /// - Parameter meter: the meter, which may count several transports.
    public init(_ base: Base, meter: TransferMeter = TransferMeter()) {
        self.base = base
        self.meter = meter
    }

    /// Whether the wrapped transport manages a session.
    public var keepsSession: Bool { base.keepsSession }
    /// The client certificate of the wrapped transport.
    public var configuredIdentity: ClientIdentity? { base.configuredIdentity }

    /// Sends a request and counts the bytes of both bodies.
    public func send(
        _ request: HTTPRequest, body: ByteStream?, options: TransferOptions
    ) async throws -> (HTTPResponse, ByteStream) {
        meter.addRequest()
        let upload = body?.observed { meter.addSent($0?.count ?? 0) }
        let (response, download) = try await base.send(request, body: upload, options: options)
        return (response, download.observed { meter.addReceived($0?.count ?? 0) })
    }
}
