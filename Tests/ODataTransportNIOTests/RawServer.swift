import NIOCore
import NIOPosix

/// A server that misbehaves on purpose: sends fixed bytes after the first request bytes, then closes, resets
/// or stays silent.
struct RawServer: Sendable {
    enum Ending: Sendable {
        case close
        case reset
        case silence
    }

    let port: Int
    private let channel: any Channel

    init(sends bytes: String, then ending: Ending) async throws {
        channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(Handler(bytes: bytes, ending: ending))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        port = channel.localAddress?.port ?? 0
    }

    func stop() async throws { try await channel.close() }

    private final class Handler: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer
        let bytes: String
        let ending: Ending
        private var hasAnswered = false

        init(bytes: String, ending: Ending) {
            self.bytes = bytes
            self.ending = ending
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            guard !hasAnswered else { return }
            hasAnswered = true
            let channel = context.channel
            let ending = ending
            context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: bytes))).whenComplete { _ in
                switch ending {
                case .silence: break
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
