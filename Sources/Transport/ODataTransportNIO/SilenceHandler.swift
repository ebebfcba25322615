import AsyncHTTPClient
import NIOCore
import NIOHTTP1

/// Ends a request if the service is silent for too long while bytes are awaited. The handler serves one
/// connection of HTTP/1.1 or one stream of HTTP/2.
///
/// The library's own limit also runs while nobody reads the body, so an app that processes a page for a minute
/// would lose the rest. Here, the time counts only while bytes are requested from the connection.
final class SilenceHandler: ChannelDuplexHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias OutboundIn = HTTPClientRequestPart

    private let limit: TimeAmount
    private var timer: Scheduled<Void>?
    private var lastMove = NIODeadline.now()
    /// Whether the request was sent and its response has not ended.
    private var isAwaiting = false
    /// Whether requested bytes have not arrived yet. A new connection is read before this handler is added.
    private var isReading = true

    init(limit: TimeAmount) { self.limit = limit }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        let isEnd = if case .end = unwrapOutboundIn(data) { true } else { false }
        context.write(data, promise: promise)
        guard isEnd else { return }
        isAwaiting = true
        lastMove = .now()
        if timer == nil { schedule(context, in: limit) }
    }

    func read(context: ChannelHandlerContext) {
        if !isReading {
            isReading = true
            lastMove = .now()
        }
        context.read()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if case .end = unwrapInboundIn(data) { stop() }
        context.fireChannelRead(data)
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        isReading = false
        context.fireChannelReadComplete()
    }

    func channelInactive(context: ChannelHandlerContext) {
        stop()
        context.fireChannelInactive()
    }

    func handlerRemoved(context: ChannelHandlerContext) { stop() }

    private func stop() {
        isAwaiting = false
        timer?.cancel()
        timer = nil
    }

    private func schedule(_ context: ChannelHandlerContext, in time: TimeAmount) {
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        timer = context.eventLoop.scheduleTask(in: time) {
            let (handler, context) = bound.value
            handler.expire(context)
        }
    }

    private func expire(_ context: ChannelHandlerContext) {
        timer = nil
        guard isAwaiting else { return }
        // No bytes are requested, so the time starts with the next read.
        guard isReading else { return schedule(context, in: limit) }
        let rest = lastMove + limit - .now()
        guard rest <= .zero else { return schedule(context, in: rest) }
        stop()
        context.fireErrorCaught(HTTPClientError.readTimeout)
    }
}
