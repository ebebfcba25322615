import NIOCore
import NIOPosix
import NIOSSL
import ODataHTTP
import Synchronization

/// A server with scripted behaviour: it sends fixed bytes after the first bytes of a request. Then it closes or
/// resets the connection, stays silent, or waits for more.
public final class RawPeer: Sendable {
    /// The behaviour after the bytes were sent.
    public enum Ending: Sendable, Equatable {
        /// The connection is closed.
        case close
        /// The connection is reset.
        case reset
        /// No more bytes are sent.
        case silence
        /// The next request on the connection is answered in the same way.
        case keep
        /// The rest of the response is sent after a delay.
        case rest(String, after: TimeAmount)
    }

    private struct State {
        var accepted = 0
        var open = 0
        var received: [UInt8] = []
    }

    /// The port on which the server listens.
    public let port: Int
    private let channel: any Channel
    private let state: Box

    private final class Box: Sendable {
        let value = Mutex(State())
    }

    /// Starts to listen.
    ///
    /// - Parameters:
    ///   - bytes: The bytes to send after the first bytes of a request.
    ///   - ending: The behaviour after these bytes.
    ///   - tls: The TLS context; `nil` for plain connections.
    ///   - verify: Decides about client certificates, if TLS requests them.
    public init(
        sends bytes: String = "", then ending: Ending, tls: NIOSSLContext? = nil,
        verify: (@Sendable ([NIOSSLCertificate]) -> Bool)? = nil
    ) async throws {
        let box = Box()
        state = box
        channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let pipeline = channel.pipeline.syncOperations
                    if let tls, let verify {
                        let handler = NIOSSLServerHandler(context: tls) { chain, verdict in
                            verdict.succeed(verify(chain) ? .certificateVerified : .failed)
                        }
                        try pipeline.addHandler(handler)
                    } else if let tls {
                        try pipeline.addHandler(NIOSSLServerHandler(context: tls))
                    }
                    try pipeline.addHandler(Handler(bytes: bytes, ending: ending, box: box))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        port = channel.localAddress?.port ?? 0
    }

    /// The number of accepted connections.
    public var accepted: Int { state.value.withLock { $0.accepted } }
    /// The number of open connections.
    public var open: Int { state.value.withLock { $0.open } }
    /// All received bytes as text.
    public var received: String { String(decoding: state.value.withLock { $0.received }, as: UTF8.self) }

    /// Stops listening. Open connections are not closed.
    public func stop() async throws { try await channel.close() }

    private final class Handler: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer
        let bytes: String
        let ending: Ending
        let box: Box
        private var hasAnswered = false

        init(bytes: String, ending: Ending, box: Box) {
            self.bytes = bytes
            self.ending = ending
            self.box = box
        }

        func channelActive(context: ChannelHandlerContext) {
            box.value.withLock { state in
                state.accepted += 1
                state.open += 1
            }
            context.fireChannelActive()
        }

        func channelInactive(context: ChannelHandlerContext) {
            box.value.withLock { $0.open -= 1 }
            context.fireChannelInactive()
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            let buffer = unwrapInboundIn(data)
            box.value.withLock { state in
                // This limit suffices to examine requests; longer uploads are not recorded.
                if state.received.count < 1 << 20 { state.received += buffer.readableBytesView }
            }
            guard !hasAnswered || ending == .keep else { return }
            hasAnswered = true
            let channel = context.channel
            let ending = ending
            context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: bytes))).whenComplete { _ in
                switch ending {
                case .silence, .keep: break
                case .rest(let rest, let time):
                    channel.eventLoop.scheduleTask(in: time) {
                        channel.writeAndFlush(ByteBuffer(string: rest), promise: nil)
                    }
                case .close: channel.close(promise: nil)
                case .reset:
                    // A linger time of zero makes `close()` send RST instead of FIN.
                    (channel as? any SocketOptionProvider)?.setSoLinger(linger(l_onoff: 1, l_linger: 0))
                        .whenComplete { _ in channel.close(promise: nil) }
                }
            }
        }
    }
}
