import NIOCore
import NIOPosix
import NIOSSL
import ODataHTTP
import Synchronization

/// A server that does exactly what it is told: sends fixed bytes after the first bytes of a request, then closes,
/// resets, stays silent or waits for more.
public final class RawPeer: Sendable {
    /// What comes after the bytes.
    public enum Ending: Sendable, Equatable {
        /// The connection is closed.
        case close
        /// The connection is reset.
        case reset
        /// Nothing more is sent.
        case silence
        /// The next request on the connection is answered alike.
        case keep
        /// The rest of the answer comes after a time.
        case rest(String, after: TimeAmount)
    }

    private struct State {
        var accepted = 0
        var open = 0
        var received: [UInt8] = []
    }

    /// The port it listens on.
    public let port: Int
    private let channel: any Channel
    private let state: Box

    private final class Box: Sendable {
        let value = Mutex(State())
    }

    /// Starts to listen.
    ///
    /// - Parameters:
    ///   - bytes: what is sent once the first bytes of a request have come.
    ///   - ending: what comes after them.
    ///   - tls: TLS to be spoken.
    ///   - verify: decides about the client's certificates, where TLS asks for them.
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

    /// How many connections were accepted.
    public var accepted: Int { state.value.withLock { $0.accepted } }
    /// How many connections are open.
    public var open: Int { state.value.withLock { $0.open } }
    /// What was received in all, as text.
    public var received: String { String(decoding: state.value.withLock { $0.received }, as: UTF8.self) }

    /// Stops to listen; connections stay as they are.
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
                // Enough to see what was sent; uploads of any size go by.
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
                    // A linger time of zero makes close() send RST instead of FIN.
                    (channel as? any SocketOptionProvider)?.setSoLinger(linger(l_onoff: 1, l_linger: 0))
                        .whenComplete { _ in channel.close(promise: nil) }
                }
            }
        }
    }
}
