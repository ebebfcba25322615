import NIOCore
import NIOHTTPTypes

/// Notices on a channel that the caller of a request has gone, or that it hardly sends the body of its request.
///
/// A client that has closed its socket and one that has closed its sending side alone look alike until something is
/// written. So the end of input stops a request only when nothing has been written for ``grace``: a client that still
/// reads is served, and a write to one that has gone closes the channel.
final class CallerWatch: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart

    /// How long a request goes on without any write after the end of input.
    static let grace = TimeAmount.milliseconds(500)
    /// How often in its period a body that is awaited is looked at.
    private static let looks: Int64 = 4
    /// How long a channel stays open after its body was cut, for the refusal to arrive.
    private static let lingerTime = TimeAmount.seconds(2)

    private let channels: OpenChannels
    private let writing: WriteDeadline
    private let minimum: MinimumTransfer
    private let period: TimeAmount
    private var state: ChannelState?
    private var writes = 0
    private var received = 0
    /// Whether the body of a request has not come to its end.
    private var isInBody = false
    /// The bytes of the body at the beginning of the current period.
    private var receivedBefore = 0
    private var periodStart = NIODeadline.now()
    private var look: Scheduled<Void>?
    private var graceEnd: Scheduled<Void>?

    /// The handlers of a channel that watch the peer.
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
            // What is on its way shows whether the client is there.
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
        // Nearly every request ends in the same read as its head begins.
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

/// The error with which the body of a request ends that the client hardly sends.
struct SlowRequestBody: Error {}

/// Closes a connection of HTTP/2 whose client has closed its sending side: no stream could be controlled any more.
final class ClosedInput: ChannelInboundHandler {
    typealias InboundIn = NIOAny

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        context.fireUserInboundEventTriggered(event)
        if case .inputClosed? = event as? ChannelEvent { context.close(promise: nil) }
    }
}
