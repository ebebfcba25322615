import NIOCore
import NIOHTTPTypes

/// Closes a connection, or a stream of HTTP/2, whose client takes less of its response than the minimum.
///
/// Such a client holds a chunk of the response, the memory that the handler keeps for it, and a graceful stop of the
/// server. On Linux each byte counts that the client's system has acknowledged, since a slow client may need long for the
/// many bytes between two writes. Elsewhere, and on streams of HTTP/2, the bytes of the writes count that are done.
final class WriteDeadline: ChannelOutboundHandler, RemovableChannelHandler {
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    /// The most bytes of one write on a stream of HTTP/2, where only a write that is done tells of progress.
    static let sliceSize = 16 << 10
    /// How often in its period a client is looked at.
    private static let looks: Int64 = 4

    /// What the response that is streamed waits at.
    let gate = WriteGate()
    private let minimum: MinimumTransfer
    private let period: TimeAmount
    private var pending = 0
    /// Whether bytes are on their way that the client has to take.
    var isWaiting: Bool { pending > 0 }
    /// The bytes of writes that are done.
    private var written: UInt64 = 0
    /// The bytes that the other system has acknowledged; 0 where nobody tells.
    private var acknowledged: UInt64 = 0
    private var takenBefore: UInt64 = 0
    private var periodStart = NIODeadline.now()
    private var next: Scheduled<Void>?

    /// The bytes that the client has taken, as far as that is known.
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
        // Most answers are written at once: one look later serves them all.
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
        // Where the connection itself takes nothing more, its streams have nobody to tell that they end.
        if let parent = context.channel.parent, parent.parent != nil, !parent.isWritable { parent.close(promise: nil) }
        context.close(promise: nil)
    }

    /// How many bytes the other side of the socket has acknowledged since it was connected, where the system tells.
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
    /// What Linux counts of a connection: the beginning of `struct tcp_info` of `linux/tcp.h`, which only ever grows at
    /// its end.
    private struct TCPStatistics: Sendable {
        /// `TCP_INFO`.
        static let option: CInt = 11

        /// Eight small fields, then twenty-four of 32 bits.
        private var states:
            (
                UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64
            )
        private var pacingRate: UInt64
        private var maxPacingRate: UInt64
        /// `tcpi_bytes_acked`; zero in systems that do not count them.
        var acknowledged: UInt64
    }
#endif
