import NIOCore
import NIOPosix
import Synchronization

/// A proxy for `CONNECT` requests to this machine that checks the client's credentials.
public final class ConnectProxy: Sendable {
    /// The port on which the proxy listens.
    public let port: Int
    private let channel: any Channel
    private let heads: Box

    private final class Box: Sendable {
        let value = Mutex<[String]>([])
    }

    /// Starts the proxy.
    ///
    /// - Parameter authorization: The required value of `Proxy-Authorization`; `nil` accepts every client.
    public init(authorization: String? = nil) async throws {
        let box = Box()
        heads = box
        channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(Gate(authorization: authorization, heads: box))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        port = channel.localAddress?.port ?? 0
    }

    /// The heads of the requests so far.
    public var requests: [String] { heads.value.withLock { $0 } }

    /// Stops the proxy.
    public func stop() async throws { try await channel.close() }

    private final class Gate: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer

        private let authorization: String?
        private let heads: Box
        private var head = ""
        private var service: (any Channel)?
        private var waiting: [ByteBuffer] = []
        private var isOpen = false

        init(authorization: String?, heads: Box) {
            self.authorization = authorization
            self.heads = heads
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            let buffer = unwrapInboundIn(data)
            if isOpen {
                if let service { service.writeAndFlush(buffer, promise: nil) } else { waiting.append(buffer) }
                return
            }
            head += String(buffer: buffer)
            guard head.hasSuffix("\r\n\r\n") else { return }
            let request = head
            head = ""
            heads.value.withLock { $0.append(request) }
            let line = request.prefix { $0 != "\r\n" }.split(separator: " ")
            guard
                authorization.map({ request.lowercased().contains("proxy-authorization: \($0.lowercased())") }) ?? true
            else {
                let refusal =
                    "HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic realm=\"way out\"\r\n"
                    + "Content-Length: 0\r\n\r\n"
                context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: refusal)), promise: nil)
                return
            }
            guard line.count == 3, line[0] == "CONNECT",
                let port = line[1].split(separator: ":").last.flatMap({ Int($0) })
            else {
                context.close(promise: nil)
                return
            }
            isOpen = true
            let client = context.channel
            let this = NIOLoopBound(self, eventLoop: context.eventLoop)
            ClientBootstrap(group: context.eventLoop)
                .channelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        try channel.pipeline.syncOperations.addHandler(Back(client: client))
                    }
                }
                .connect(host: "127.0.0.1", port: port)
                .whenComplete { result in
                    guard case .success(let service) = result else { return client.close(promise: nil) }
                    client.writeAndFlush(ByteBuffer(string: "HTTP/1.1 200 OK\r\n\r\n"), promise: nil)
                    this.value.service = service
                    for buffer in this.value.waiting { service.writeAndFlush(buffer, promise: nil) }
                    this.value.waiting = []
                }
        }

        func channelInactive(context: ChannelHandlerContext) { service?.close(promise: nil) }
    }

    private final class Back: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer

        private let client: any Channel

        init(client: any Channel) { self.client = client }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            client.writeAndFlush(unwrapInboundIn(data), promise: nil)
        }

        func channelInactive(context: ChannelHandlerContext) { client.close(promise: nil) }
    }
}
