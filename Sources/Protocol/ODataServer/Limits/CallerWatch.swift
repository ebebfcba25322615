import NIOCore
import NIOHTTPTypes

/// Detects callers that have disconnected, and request bodies that arrive too slowly.
///
/// A client that has closed its socket and one that has closed only its sending side look the same until a
/// write. Therefore the end of input cancels a request only if nothing was written for ``grace``. A client that
/// still reads is served, and a write to a disconnected client closes the channel.
final class CallerWatch: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart

    /// The time for which a request continues without a write after the end of input.
    static let grace = TimeAmount.milliseconds(500)
    /// The number of checks of an awaited body in each period.
    private static let looks: Int64 = 4
    /// The time for which a channel stays open after its body was aborted, so that the refusal can arrive.
    private static let lingerTime = TimeAmount.seconds(2)

    private let channels: OpenChannels
    private let writing: WriteDeadline
    private let minimum: MinimumTransfer
    private let period: TimeAmount
    private var state: ChannelState?
    private var writes = 0
    private var received = 0
    /// Whether the body of a request is incomplete.
    private var isInBody = false
    /// The number of bytes of the body at the start of the current period.
    private var receivedBefore = 0
    private var periodStart = NIODeadline.now()
    private var look: Scheduled<Void>?
    private var graceEnd: Scheduled<Void>?

    /// Returns the handlers that watch the peer of a channel.
    static func handlers(_ channels: OpenChannels, _ minimum: MinimumTransfer) -> [any RemovableChannelHandler] {
        let writing = WriteDeadline(minimum)
        return [writing, CallerWatch(channels, writing, minimum: minimum)]
    }

    private init(_ channels: OpenChannels, _ writing: WriteDeadline, minimum: MinimumTransfer) {
        self.channels = channels
        self.writing = writing
        self.minimum = minimum
        period = TimeAmount(minimum.period)
    }

    func handlerAdded(context: ChannelHandlerContext) {
        let state = ChannelState(of: context.channel)
        self.state = state
        channels.add(state, for: context.channel)
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        channels.remove(context.channel)
        stopLooking()
        graceEnd?.cancel()
        state?.callerHasGone()
    }

    func channelInactive(context: ChannelHandlerContext) {
        channels.remove(context.channel)
        state?.callerHasGone()
        context.fireChannelInactive()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        // A stream of HTTP/2 ends its input with each request.
        if case .inputClosed? = event as? ChannelEvent, context.channel.parent?.parent == nil {
            waitForWrite(context, since: writes)
        }
        context.fireUserInboundEventTriggered(event)
    }

    private func waitForWrite(_ context: ChannelHandlerContext, since count: Int) {
        graceEnd = context.eventLoop.assumeIsolated().scheduleTask(in: Self.grace) {
            guard context.channel.isActive else { return }
            // A pending write shows whether the client is still connected.
            guard self.writes == count, !self.writing.isWaiting else {
                return self.waitForWrite(context, since: self.writes)
            }
            self.state?.cancelRequest()
            self.waitForWrite(context, since: count)
        }
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        writes &+= 1
        context.write(data, promise: promise)
    }

    // MARK: Request bodies

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head:
            received = 0
            receivedBefore = 0
            isInBody = true
        case .body(let buffer): received += buffer.readableBytes
        case .end:
            isInBody = false
            stopLooking()
        }
        context.fireChannelRead(data)
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        // Most requests end in the same read in which their head begins.
        if isInBody, look == nil {
            periodStart = .now()
            lookLater(context)
        }
        context.fireChannelReadComplete()
    }

    private func stopLooking() {
        look?.cancel()
        look = nil
    }

    private func lookLater(_ context: ChannelHandlerContext) {
        let interval = TimeAmount.nanoseconds(max(1, period.nanoseconds / Self.looks))
        look = context.eventLoop.assumeIsolated().scheduleTask(in: interval) { self.lookAtBody(context) }
    }

    private func lookAtBody(_ context: ChannelHandlerContext) {
        look = nil
        guard context.channel.isActive else { return }
        if state?.awaitsBody != true || received - receivedBefore >= minimum.bytes {
            receivedBefore = received
            periodStart = .now()
        } else if .now() - periodStart >= period {
            context.fireErrorCaught(SlowRequestBody())
            let channel = context.channel
            context.eventLoop.scheduleTask(in: Self.lingerTime) { channel.close(promise: nil) }
            return
        }
        lookLater(context)
    }
}

/// The error that ends a request body which arrives too slowly.
struct SlowRequestBody: Error {}

/// Closes a connection of HTTP/2 when the client has closed its sending side, because its streams can no longer
/// be controlled.
final class ClosedInput: ChannelInboundHandler {
    typealias InboundIn = NIOAny

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        context.fireUserInboundEventTriggered(event)
        if case .inputClosed? = event as? ChannelEvent { context.close(promise: nil) }
    }
}
