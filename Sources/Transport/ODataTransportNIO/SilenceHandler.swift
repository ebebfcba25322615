import AsyncHTTPClient
import NIOCore
import NIOHTTP1

/// Ends a request, on one connection of HTTP/1.1 or one stream of HTTP/2, when the service is silent for too long while something of it is waited for.
///
/// The library has such a limit, which runs on while nobody reads the body: an app that works through a page for a
/// minute would lose the rest of it. Here the time counts only while the connection is asked for bytes.
final class SilenceHandler: ChannelDuplexHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias OutboundIn = HTTPClientRequestPart

    private let limit: TimeAmount
    private var timer: Scheduled<Void>?
    private var lastMove = NIODeadline.now()
    /// Whether the request is sent and its answer has not ended.
    private var isAwaiting = false
    /// Whether bytes are asked for that have not come; a new connection is asked before this handler is there.
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
        // Nobody waits: the time begins when somebody does.
        guard isReading else { return schedule(context, in: limit) }
        let rest = lastMove + limit - .now()
        guard rest <= .zero else { return schedule(context, in: rest) }
        stop()
        context.fireErrorCaught(HTTPClientError.readTimeout)
    }
}
