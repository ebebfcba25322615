import Synchronization

/// A counter of the requests of a transport and the bytes of their bodies, for progress, reports and the event log
/// of a store.
///
/// ```swift
/// let meter = TransferMeter()
/// let client = try ODataClient(serviceRoot: root, transport: meter.transport(over: URLSessionTransport()))
/// var options = OfflineStore.Options()
/// options.runtime.meter = meter
/// ```
public final class TransferMeter: Sendable {
    private let count = Mutex((sent: Int64(0), received: Int64(0), requests: 0))

    /// Creates a meter with all counts at zero.
    public init() {}

    /// The number of bytes of request bodies.
    public var sent: Int64 { count.withLock { $0.sent } }
    /// The number of bytes of response bodies, after decompression.
    public var received: Int64 { count.withLock { $0.received } }
    /// The number of bytes of all bodies.
    public var total: Int64 { count.withLock { $0.sent + $0.received } }
    /// The number of requests.
    public var requests: Int { count.withLock { $0.requests } }

    /// Returns a transport whose requests this meter counts.
    public func transport<Base: HTTPTransport>(over base: Base) -> MeteredTransport<Base> {
        MeteredTransport(base, meter: self)
    }

    func addRequest() { count.withLock { $0.requests += 1 } }
    func addSent(_ bytes: Int) { count.withLock { $0.sent += Int64(bytes) } }
    func addReceived(_ bytes: Int) { count.withLock { $0.received += Int64(bytes) } }
}
