import NIOCore
import NIOHTTP1
import ODataHTTP

/// Reports the times at which watched requests are sent and answered on one connection.
final class MomentHandler: ChannelDuplexHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias OutboundIn = HTTPClientRequestPart
    typealias OutboundOut = HTTPClientRequestPart

    typealias Report = @Sendable (TransferEvent) -> Void

    private let registry: TransferRegistry<Report>
    private let connected: ContinuousClock.Instant
    private let secured: ContinuousClock.Instant?
    private var isUsed = false
    private var hasAnswerBegun = false
    private var isSent = false
    private var report: Report?

    init(registry: TransferRegistry<Report>, connected: ContinuousClock.Instant, secured: ContinuousClock.Instant?) {
        self.registry = registry
        self.connected = connected
        self.secured = secured
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch unwrapOutboundIn(data) {
        case .head(var head):
            hasAnswerBegun = false
            isSent = false
            report = registry.take(from: &head.headers)
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
            // A server may respond before the end of the request was recorded here.
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
