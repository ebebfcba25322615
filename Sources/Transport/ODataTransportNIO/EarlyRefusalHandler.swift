import NIOCore
import NIOHTTP1

/// Holds a refusal that comes before its request is sent whole, on one connection of HTTP/1.1 or one stream of HTTP/2, until
/// either has ended (RFC 9112, 9.3 says what a service does that answers early).
///
/// From the head of a refusal on the library sends no more of the request. It then counts what it did not send itself as missing
/// when the request ends before the refusal does, and throws the refusal away. With its head and its end the refusal is safe.
final class EarlyRefusalHandler: ChannelDuplexHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias OutboundIn = HTTPClientRequestPart

    /// How many bytes of a refusal are held. What is longer is given as it comes, and can be lost.
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
        // The library is still within the call that ends the request.
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
