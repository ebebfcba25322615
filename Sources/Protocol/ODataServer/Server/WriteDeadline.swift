import NIOCore
import NIOHTTP2
import NIOHTTPTypes

/// Closes a connection, or a stream of HTTP/2, if its client receives less than the minimum rate.
///
/// Such a client occupies a chunk of the response and memory of the handler, and delays a graceful stop. On
/// Linux, the bytes that the client's system has acknowledged are counted, since a slow client may need a long
/// time between two writes. Elsewhere the bytes of completed writes are counted. On a stream of HTTP/2, the bytes in
/// its frames are counted (``SentFrames``). If the connection itself is blocked, its acknowledged bytes count.
///
/// A connection or stream whose response still waits for the client is not closed before the client has received
/// it, unless the client is too slow or the server ends (``CloseAtOnce``). The idle timeout, for instance, begins when
/// the end of the response was written, not when it was received.
final class WriteDeadline: ChannelOutboundHandler, RemovableChannelHandler {
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    /// The maximum number of bytes of one write on a stream of HTTP/2. A completed write lets the handler produce
    /// more of the response.
    static let sliceSize = 16 << 10
    /// The number of checks in each period.
    private static let looks: Int64 = 4

    /// The gate at which a streamed response waits.
    let gate = WriteGate()
    private let minimum: MinimumTransfer
    private let period: TimeAmount
    private var pending = 0
    /// Whether there are pending writes.
    var isWaiting: Bool { pending > 0 }
    /// The number of bytes of completed writes.
    private var written: UInt64 = 0
    /// The number of bytes that the peer has acknowledged; 0 if it is unknown.
    private var acknowledged: UInt64 = 0
    private var takenBefore: UInt64 = 0
    private var periodStart = NIODeadline.now()
    private var next: Scheduled<Void>?
    /// The frames of the connection, and the number of its stream; `nil` unless this is a stream of HTTP/2.
    private var stream: (frames: SentFrames, number: Int)?
    private var framedBefore: UInt64 = 0
    private var acknowledgedBefore: UInt64 = 0
    /// The close that waits for the pending writes.
    private var waitingClose: Close?
    private var closesAtOnce = false

    private struct Close {
        var promise: EventLoopPromise<Void>?
    }

    /// The number of bytes that the client has received, as far as it is known. The acknowledged bytes of HTTP/2
    /// belong to all streams of the connection.
    private var taken: UInt64 { acknowledged > 0 && !isStream ? acknowledged : written }
    private var isStream = false

    init(_ minimum: MinimumTransfer) {
        self.minimum = minimum
        period = TimeAmount(minimum.period)
    }

    func handlerAdded(context: ChannelHandlerContext) { isStream = context.channel.parent?.parent != nil }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard case .body(var buffer) = unwrapOutboundIn(data) else {
            return watch(data, 0, promise: promise, context: context)
        }
        guard isStream, buffer.readableBytes > Self.sliceSize else {
            return watch(data, buffer.readableBytes, promise: promise, context: context)
        }
        while let slice = buffer.readSlice(length: min(Self.sliceSize, buffer.readableBytes)), slice.readableBytes > 0 {
            let isLast = buffer.readableBytes == 0
            watch(wrapOutboundOut(.body(slice)), slice.readableBytes, promise: isLast ? promise : nil, context: context)
        }
    }

    private func watch(
        _ data: NIOAny, _ bytes: Int, promise: EventLoopPromise<Void>?, context: ChannelHandlerContext
    ) {
        if pending == 0 { periodStart = .now() }
        pending += 1
        let done = promise ?? context.eventLoop.makePromise()
        done.futureResult.assumeIsolated().whenComplete { _ in
            self.pending -= 1
            self.written += UInt64(bytes)
            if bytes > 0 { self.gate.leave(bytes) }
            self.closeIfDone(context)
        }
        context.write(data, promise: done)
        // Most responses are written at once, so one later check covers all their writes.
        if next == nil { lookLater(context) }
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        gate.open()
        next?.cancel()
        next = nil
        if let stream { stream.frames.forget(stream.number) }
        stream = nil
        waitingClose?.promise?.fail(ChannelError.alreadyClosed)
        waitingClose = nil
    }

    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        guard mode == .all, pending > 0, !closesAtOnce, context.channel.isActive else {
            return context.close(mode: mode, promise: promise)
        }
        if let earlier = waitingClose?.promise {
            if let promise { earlier.futureResult.cascade(to: promise) }
        } else {
            waitingClose = Close(promise: promise)
        }
        context.flush()
    }

    private func closeIfDone(_ context: ChannelHandlerContext) {
        guard pending == 0, let close = waitingClose else { return }
        waitingClose = nil
        context.close(promise: close.promise)
    }

    func triggerUserOutboundEvent(
        context: ChannelHandlerContext, event: Any, promise: EventLoopPromise<Void>?
    ) {
        guard event is CloseAtOnce else { return context.triggerUserOutboundEvent(event, promise: promise) }
        closesAtOnce = true
        promise?.succeed()
    }

    private func lookLater(_ context: ChannelHandlerContext) {
        let interval = TimeAmount.nanoseconds(max(1, period.nanoseconds / Self.looks))
        next = context.eventLoop.assumeIsolated().scheduleTask(in: interval) { self.look(context) }
    }

    private func look(_ context: ChannelHandlerContext) {
        next = nil
        guard pending > 0 else { return }
        watchFrames(context)
        acknowledgedBytes(context).assumeIsolated().whenComplete { result in
            if case .success(let bytes) = result { self.acknowledged = bytes }
            self.judge(context)
        }
    }

    /// Begins to count the frames of a stream of HTTP/2.
    private func watchFrames(_ context: ChannelHandlerContext) {
        guard stream == nil, let parent = context.channel.parent, parent.parent != nil,
            let frames = try? parent.pipeline.syncOperations.handler(type: SentFrames.self)
        else { return }
        context.channel.getOption(HTTP2StreamChannelOptions.streamID).assumeIsolated().whenSuccess { id in
            guard context.channel.isActive else { return }
            self.stream = (frames, Int(id))
            frames.watch(Int(id))
        }
    }

    private func judge(_ context: ChannelHandlerContext) {
        guard pending > 0, context.channel.isActive else { return }
        let parent = context.channel.parent.flatMap { $0.parent == nil ? nil : $0 }
        if hasMoved(on: parent) {
            takenBefore = taken
            framedBefore = framed
            acknowledgedBefore = acknowledged
            periodStart = .now()
        }
        guard .now() - periodStart >= period else { return lookLater(context) }
        // If the connection itself is blocked, the end of its streams cannot be announced, so it is closed.
        if let parent, !parent.isWritable { parent.close(promise: nil) }
        context.close(promise: nil)
    }

    /// The number of bytes in frames of a stream of HTTP/2.
    private var framed: UInt64 { stream.map { $0.frames.count(of: $0.number) } ?? 0 }

    /// Returns whether the client has received the minimum since the period began.
    ///
    /// - Parameter connection: The connection of a stream of HTTP/2.
    private func hasMoved(on connection: (any Channel)?) -> Bool {
        let minimum = UInt64(minimum.bytes)
        if taken >= takenBefore + minimum { return true }
        guard let connection else { return false }
        return framed >= framedBefore + minimum
            || !connection.isWritable && acknowledged >= acknowledgedBefore + minimum
    }

    /// Returns the number of bytes that the peer has acknowledged since the connection was opened; 0 if it is
    /// unknown. A stream of HTTP/2 has the event loop of its connection.
    private func acknowledgedBytes(_ context: ChannelHandlerContext) -> EventLoopFuture<UInt64> {
        #if !canImport(Darwin)
            let connection = isStream ? context.channel.parent : context.channel
            if let socket = connection as? any SocketOptionProvider {
                return socket.unsafeGetSocketOption(level: .tcp, name: .init(rawValue: TCPStatistics.option))
                    .map { (statistics: TCPStatistics) in statistics.acknowledged }
            }
        #endif
        return context.eventLoop.makeSucceededFuture(0)
    }
}

/// An event that makes the next close of a channel drop its pending writes.
struct CloseAtOnce: Sendable {}

#if !canImport(Darwin)
    /// The connection statistics of Linux: the beginning of `struct tcp_info` in `linux/tcp.h`, which is only
    /// extended at its end.
    private struct TCPStatistics: Sendable {
        /// `TCP_INFO`.
        static let option: CInt = 11

        /// Eight fields of 8 bits, followed by twenty-four of 32 bits.
        private var states:
            (
                UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64
            )
        private var pacingRate: UInt64
        private var maxPacingRate: UInt64
        /// The field `tcpi_bytes_acked`; zero in systems that do not count it.
        var acknowledged: UInt64
    }
#endif
