import NIOCore
import NIOHTTPTypes

/// Closes a connection, or a stream of HTTP/2, if its client receives less than the minimum rate.
///
/// Such a client occupies a chunk of the response and memory of the handler, and delays a graceful stop. On
/// Linux, the bytes that the client's system has acknowledged are counted, since a slow client may need a long
/// time between two writes. Elsewhere, and on streams of HTTP/2, the bytes of completed writes are counted.
final class WriteDeadline: ChannelOutboundHandler, RemovableChannelHandler {
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    /// The maximum number of bytes of one write on a stream of HTTP/2, because only completed writes show
    /// progress there.
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

    /// The number of bytes that the client has received, as far as it is known.
    private var taken: UInt64 { acknowledged > 0 ? acknowledged : written }

    init(_ minimum: MinimumTransfer) {
        self.minimum = minimum
        period = TimeAmount(minimum.period)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard case .body(var buffer) = unwrapOutboundIn(data) else {
            return watch(data, 0, promise: promise, context: context)
        }
        guard context.channel.parent?.parent != nil, buffer.readableBytes > Self.sliceSize else {
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
        }
        context.write(data, promise: done)
        // Most responses are written at once, so one later check covers all their writes.
        if next == nil { lookLater(context) }
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        gate.open()
        next?.cancel()
        next = nil
    }

    private func lookLater(_ context: ChannelHandlerContext) {
        let interval = TimeAmount.nanoseconds(max(1, period.nanoseconds / Self.looks))
        next = context.eventLoop.assumeIsolated().scheduleTask(in: interval) { self.look(context) }
    }

    private func look(_ context: ChannelHandlerContext) {
        next = nil
        guard pending > 0 else { return }
        acknowledgedBytes(context).assumeIsolated().whenComplete { result in
            if case .success(let bytes) = result { self.acknowledged = bytes }
            self.judge(context)
        }
    }

    private func judge(_ context: ChannelHandlerContext) {
        guard pending > 0, context.channel.isActive else { return }
        if taken >= takenBefore + UInt64(minimum.bytes) {
            takenBefore = taken
            periodStart = .now()
        }
        guard .now() - periodStart >= period else { return lookLater(context) }
        // If the connection itself is blocked, the end of its streams cannot be announced, so it is closed.
        if let parent = context.channel.parent, parent.parent != nil, !parent.isWritable { parent.close(promise: nil) }
        context.close(promise: nil)
    }

    /// Returns the number of bytes that the peer has acknowledged since the connection was opened; 0 if it is
    /// unknown.
    private func acknowledgedBytes(_ context: ChannelHandlerContext) -> EventLoopFuture<UInt64> {
        #if !canImport(Darwin)
            if let socket = context.channel as? any SocketOptionProvider {
                return socket.unsafeGetSocketOption(level: .tcp, name: .init(rawValue: TCPStatistics.option))
                    .map { (statistics: TCPStatistics) in statistics.acknowledged }
            }
        #endif
        return context.eventLoop.makeSucceededFuture(0)
    }
}

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
