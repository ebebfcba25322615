import Synchronization

/// Counts the requests of a transport and the bytes of their bodies, for progress, reports and the event log of a store.
///
/// ```swift
/// let meter = TransferMeter()
/// let client = try ODataClient(serviceRoot: root, transport: meter.transport(over: URLSessionTransport()))
/// options.meter = meter
/// ```
public final class TransferMeter: Sendable {
    private let count = Mutex((sent: Int64(0), received: Int64(0), requests: 0))

    /// Makes a meter that stands at zero.
    public init() {}

    /// The bytes of request bodies so far.
    public var sent: Int64 { count.withLock { $0.sent } }
    /// The bytes of response bodies so far, after they were unpacked.
    public var received: Int64 { count.withLock { $0.received } }
    /// The bytes of both.
    public var total: Int64 { count.withLock { $0.sent + $0.received } }
    /// The requests so far.
    public var requests: Int { count.withLock { $0.requests } }

    /// Wraps a transport so that this meter counts its requests.
    public func transport<Base: HTTPTransport>(over base: Base) -> MeteredTransport<Base> {
        MeteredTransport(base, meter: self)
    }

    func addRequest() { count.withLock { $0.requests += 1 } }
    func addSent(_ bytes: Int) { count.withLock { $0.sent += Int64(bytes) } }
    func addReceived(_ bytes: Int) { count.withLock { $0.received += Int64(bytes) } }
}
