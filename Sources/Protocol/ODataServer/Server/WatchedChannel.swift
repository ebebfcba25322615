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

/// The connections of a server: ends those that do not finish their TLS handshake in time, keeps those whose client has sent
/// one malformed request, and gives memory back when many have gone.
///
/// The idle timeout of HTTP begins when HTTP does: before that, a client that says nothing, or that sends one byte of
/// its greeting a minute, would be held for ever.
struct WatchedChannel<Base: ServerChildChannel>: ServerChildChannel {
    let base: Base
    /// How long a TLS handshake may take; `nil` where none is made.
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

/// Closes a connection that has not finished its TLS handshake in time, and makes ``MalformedStreams`` part of one of HTTP/2.
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
        // A handler that was taken out hands nothing on.
        context.fireUserInboundEventTriggered(event)
        if case .handshakeCompleted? = event as? TLSUserEvent {
            alarm?.cancel()
            let pipeline = context.pipeline.syncOperations
            // It is there now, where the client has chosen HTTP/2, and nothing has reached it yet.
            if let http2 = try? pipeline.handler(type: NIOHTTP2Handler.self) {
                do {
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

/// Counts connections, and gives the memory of many that have gone back to the system.
///
/// The allocator keeps what was freed for later; after ten thousand connections that is a hundred megabytes and more,
/// which no later request needs.
final class ConnectionCensus: Sendable {
    /// How many must have been open at once for their memory to be given back.
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
            // The last of them are still being taken apart.
            Task.detached(priority: .background) {
                try? await Task.sleep(for: .seconds(1))
                outpost_return_memory()
            }
        #endif
    }
}
