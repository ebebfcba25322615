import NIOCore
import NIOHTTP1
import ODataHTTP
import Synchronization

/// Joins requests with the connections that carry them, so that the moments of a transfer are those of the wire.
///
/// The library does not say which connection a request gets. So a request that somebody watches carries a number in a
/// field that the handler on the connection reads and takes out; it never reaches the service.
final class MomentRegistry: Sendable {
    typealias Report = @Sendable (TransferEvent) -> Void

    static let field = "outpost-transfer-number"

    private let state = Mutex((last: UInt64(0), reports: [UInt64: Report]()))

    /// Notes that somebody watches a request; the number goes into ``field``.
    func register(_ report: @escaping Report) -> UInt64 {
        state.withLock { state in
            state.last += 1
            state.reports[state.last] = report
            return state.last
        }
    }

    /// Forgets a request that never reached a connection.
    func remove(_ number: UInt64) { _ = take(number) }

    fileprivate func take(_ number: UInt64) -> Report? {
        state.withLock { $0.reports.removeValue(forKey: number) }
    }
}

/// Tells, on one connection, when the requests that are watched were sent and answered.
final class MomentHandler: ChannelDuplexHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias OutboundIn = HTTPClientRequestPart
    typealias OutboundOut = HTTPClientRequestPart

    private let registry: MomentRegistry
    private let connected: ContinuousClock.Instant
    private let secured: ContinuousClock.Instant?
    private var isUsed = false
    private var hasAnswerBegun = false
    private var isSent = false
    private var report: MomentRegistry.Report?

    init(registry: MomentRegistry, connected: ContinuousClock.Instant, secured: ContinuousClock.Instant?) {
        self.registry = registry
        self.connected = connected
        self.secured = secured
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch unwrapOutboundIn(data) {
        case .head(var head):
            hasAnswerBegun = false
            isSent = false
            report = head.headers.first(name: MomentRegistry.field).flatMap { UInt64($0) }
                .flatMap { registry.take($0) }
            head.headers.remove(name: MomentRegistry.field)
            if isUsed {
                report?(.reusedConnection(.now))
            } else {
                report?(.connected(connected))
                if let secured { report?(.secured(secured)) }
            }
            isUsed = true
            context.write(wrapOutboundOut(.head(head)), promise: promise)
        case .end:
            context.write(data, promise: promise)
            noteSent()
        case .body:
            context.write(data, promise: promise)
        }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head where !hasAnswerBegun:
            hasAnswerBegun = true
            // A server that counts bytes may answer before the end of the request is marked here.
            noteSent()
            report?(.firstByte(.now))
        case .end:
            report?(.lastByte(.now))
            report = nil
        default: break
        }
        context.fireChannelRead(data)
    }

    private func noteSent() {
        guard !isSent else { return }
        isSent = true
        report?(.requestSent(.now))
    }
}
