import HTTPTypes
import ODataHTTP
import ODataService
import Synchronization

/// Counts the bytes of bodies that go over the wire, for the event log of a store.
///
/// ```swift
/// let meter = TransferMeter()
/// let client = try ODataClient(serviceRoot: root, transport: meter.transport(over: URLSessionTransport()))
/// options.meter = meter
/// ```
public final class TransferMeter: Sendable {
    private let count = Mutex((sent: Int64(0), received: Int64(0)))

    /// Makes a meter that stands at zero.
    public init() {}

    /// Bytes of request bodies so far.
    public var sent: Int64 { count.withLock { $0.sent } }
    /// Bytes of response bodies so far, unpacked.
    public var received: Int64 { count.withLock { $0.received } }
    /// Both.
    public var total: Int64 { count.withLock { $0.sent + $0.received } }

    /// A transport whose bytes are counted.
    public func transport(over base: some HTTPTransport) -> some HTTPTransport {
        MeteredTransport(base: base, meter: self)
    }

    fileprivate func addSent(_ bytes: Int) { count.withLock { $0.sent += Int64(bytes) } }
    fileprivate func addReceived(_ bytes: Int) { count.withLock { $0.received += Int64(bytes) } }
}

private struct MeteredTransport<Base: HTTPTransport>: HTTPTransport {
    let base: Base
    let meter: TransferMeter

    var keepsSession: Bool { base.keepsSession }
    var configuredIdentity: ClientIdentity? { base.configuredIdentity }

    func send(
        _ request: HTTPRequest, body: ByteStream?, options: TransferOptions
    ) async throws -> (HTTPResponse, ByteStream) {
        let sent = body?.observed { meter.addSent($0?.count ?? 0) }
        let (response, answer) = try await base.send(request, body: sent, options: options)
        return (response, answer.observed { meter.addReceived($0?.count ?? 0) })
    }
}
