import NIOCore
import NIOHTTP1

/// Holds a refusal that arrives before its request was sent completely, until the request or the refusal has
/// ended. The handler serves one connection of HTTP/1.1 or one stream of HTTP/2 (RFC 9112, 9.3 describes early
/// responses).
///
/// After the head of a refusal, the library stops sending the request. If the request then ends before the
/// refusal, the library reports the unsent bytes as missing and discards the refusal. A refusal whose head and
/// end arrive together is not discarded.
final class EarlyRefusalHandler: ChannelDuplexHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias OutboundIn = HTTPClientRequestPart

    /// The maximum number of bytes of a refusal that are held. A longer one is passed on and may be lost.
    private static let limit = 1 << 20

    private var isSending = false
    private var held: [NIOAny] = []
    private var heldBytes = 0

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch unwrapOutboundIn(data) {
        case .head: isSending = true
        case .body: break
        case .end: isSending = false
        }
        context.write(data, promise: promise)
        guard !isSending, !held.isEmpty else { return }
        // The library is still in the call that ends the request.
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        context.eventLoop.execute {
            let (handler, context) = bound.value
            handler.release(context, completes: true)
        }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let isEnd: Bool
        switch unwrapInboundIn(data) {
        case .head(let head):
            guard isSending, head.status.code >= 300 else { return context.fireChannelRead(data) }
            isEnd = false
        case .body(let bytes):
            guard !held.isEmpty else { return context.fireChannelRead(data) }
            heldBytes += bytes.readableBytes
            isEnd = false
        case .end:
            guard !held.isEmpty else { return context.fireChannelRead(data) }
            isEnd = true
        }
        held.append(data)
        if isEnd || heldBytes > Self.limit { release(context, completes: false) }
    }

    func channelInactive(context: ChannelHandlerContext) {
        release(context, completes: true)
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        release(context, completes: true)
        context.fireErrorCaught(error)
    }

    private func release(_ context: ChannelHandlerContext, completes: Bool) {
        guard !held.isEmpty else { return }
        let parts = held
        held = []
        heldBytes = 0
        for part in parts { context.fireChannelRead(part) }
        if completes { context.fireChannelReadComplete() }
    }
}
