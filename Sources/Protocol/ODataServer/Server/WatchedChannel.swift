import HummingbirdCore
import Logging
import NIOCore
import NIOHTTP2
import NIOSSL
import NIOTLS
import Synchronization

#if !canImport(Darwin)
    import CLinux
#endif

/// The connections of a server. Their TLS handshakes have a time limit, a malformed request does not close
/// them, and their memory is released after many of them have closed.
///
/// The idle timeout of HTTP starts after the handshake. Before that, a client that sends nothing, or one byte
/// per minute, could hold a connection forever.
struct WatchedChannel<Base: ServerChildChannel>: ServerChildChannel {
    let base: Base
    /// The maximum duration of a TLS handshake; `nil` without TLS.
    let handshakeTimeout: TimeAmount?
    let census: ConnectionCensus

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Base.Value> {
        census.opened()
        channel.closeFuture.whenComplete { [census] _ in census.closed() }
        let value = base.setup(channel: channel, logger: logger)
        guard let handshakeTimeout else { return value }
        return value.flatMap { value in
            channel.eventLoop.makeCompletedFuture {
                let tls = try channel.pipeline.syncOperations.handler(type: NIOSSLServerHandler.self)
                try channel.pipeline.syncOperations.addHandler(
                    HandshakeWatch(after: handshakeTimeout), position: .after(tls))
                return value
            }
        }
    }

    func handle(value: Base.Value, logger: Logger) async { await base.handle(value: value, logger: logger) }
}

/// Closes a connection without a TLS handshake in time, and adds the handlers of connections of HTTP/2.
private final class HandshakeWatch: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = NIOAny

    private let timeout: TimeAmount
    private var alarm: Scheduled<Void>?

    init(after timeout: TimeAmount) { self.timeout = timeout }

    func handlerAdded(context: ChannelHandlerContext) {
        let channel = context.channel
        alarm = context.eventLoop.scheduleTask(in: timeout) { channel.close(promise: nil) }
    }

    func handlerRemoved(context: ChannelHandlerContext) { alarm?.cancel() }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        // A removed handler passes no events on, so this event is passed on first.
        context.fireUserInboundEventTriggered(event)
        if case .handshakeCompleted? = event as? TLSUserEvent {
            alarm?.cancel()
            let pipeline = context.pipeline.syncOperations
            // The handler exists at this time if the client has selected HTTP/2, and it has not received any
            // data.
            if let http2 = try? pipeline.handler(type: NIOHTTP2Handler.self) {
                do {
                    try pipeline.addHandler(SentFrames(), position: .before(http2))
                    try pipeline.addHandler(MalformedStreams(), position: .after(http2))
                    try pipeline.addHandler(ClosedInput(), position: .after(http2))
                } catch {
                    context.fireErrorCaught(error)
                }
            }
            context.pipeline.syncOperations.removeHandler(context: context, promise: nil)
        }
    }
}

/// Counts connections, and returns memory to the system after many of them have closed.
///
/// The allocator keeps freed memory. After ten thousand connections, more than a hundred megabytes would stay
/// unused.
final class ConnectionCensus: Sendable {
    /// The number of concurrent connections from which their memory is returned.
    static let manyConnections = 1000

    private struct Counts {
        var open = 0
        var most = 0
    }

    private let counts = Mutex(Counts())

    func opened() {
        counts.withLock { counts in
            counts.open += 1
            counts.most = max(counts.most, counts.open)
        }
    }

    func closed() {
        let isQuietAgain = counts.withLock { counts in
            counts.open -= 1
            guard counts.most >= Self.manyConnections, counts.open <= counts.most / 10 else { return false }
            counts.most = counts.open
            return true
        }
        guard isQuietAgain else { return }
        #if !canImport(Darwin)
            // The last connections are still being closed.
            Task.detached(priority: .background) {
                try? await Task.sleep(for: .seconds(1))
                outpost_return_memory()
            }
        #endif
    }
}
