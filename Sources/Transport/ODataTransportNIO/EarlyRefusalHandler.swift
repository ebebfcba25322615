import NIOCore
import NIOHTTP1

/// Holds a refusal that arrives before its request was sent completely, until the request or the refusal has
/// ended. The handler serves one connection of HTTP/1.1 or one stream of HTTP/2 (RFC 9112, 9.3 describes early
/// responses).
///
/// After the head of a refusal, the library stops sending the request. If the request then ends before the
/// refusal, the library reports the unsent bytes as missing and discards the refusal. A refusal whose head and
/// end arrive together is not discarded.
///
/// The library also writes the end of a request while earlier bytes still wait for the socket, as it does with a
/// body in one large piece. When the response is complete, it closes the connection, those bytes fail, and their
/// failure discards the response. Therefore the first part of a response settles the end of its request.
final class EarlyRefusalHandler: ChannelDuplexHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias OutboundIn = HTTPClientRequestPart

    /// The maximum number of bytes of a refusal that are held. A longer one is passed on and may be lost.
    private static let limit = 1 << 20

    private var isSending = false
    private var held: [NIOAny] = []
    private var heldBytes = 0
    /// The library's promise for the end of the request, until the end was sent or a response has begun.
    private var unsentEnd: EventLoopPromise<Void>?
    /// The number of requests on the connection.
    private var requests = 0

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        var promise = promise
        switch unwrapOutboundIn(data) {
        case .head:
            isSending = true
            requests += 1
        case .body: break
        case .end:
            isSending = false
            promise = promise.map { settling($0, context.eventLoop) }
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

    /// Returns a promise for the socket, whose outcome reaches the library's promise only before a response.
    private func settling(_ promise: EventLoopPromise<Void>, _ eventLoop: any EventLoop) -> EventLoopPromise<Void> {
        unsentEnd = promise
        let request = requests
        let sent = eventLoop.makePromise(of: Void.self)
        sent.futureResult.assumeIsolated().whenComplete { [self] result in
            guard request == requests, let promise = unsentEnd else { return }
            unsentEnd = nil
            promise.completeWith(result)
        }
        return sent
    }

    /// Tells the library that the request was sent, so that unsent bytes cannot discard the response.
    private func settleEnd() {
        let promise = unsentEnd
        unsentEnd = nil
        promise?.succeed()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let isEnd: Bool
        switch unwrapInboundIn(data) {
        case .head(let head):
            guard isSending, head.status.code >= 300 else {
                if head.status.code >= 200 { settleEnd() }
                return context.fireChannelRead(data)
            }
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
        settleEnd()
        let parts = held
        held = []
        heldBytes = 0
        for part in parts { context.fireChannelRead(part) }
        if completes { context.fireChannelReadComplete() }
    }
}
