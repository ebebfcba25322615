import NIOCore
import NIOPosix
import Synchronization

/// A relay between a client and a service on a socket, with faults that a test selects.
public final class FaultyProxy: Sendable {
    /// A function that selects the fault of a connection by its number, from 1.
    public typealias Plan = @Sendable (Int) -> WireFault?

    private struct State {
        var accepted = 0
        var open = 0
    }

    private final class Box: Sendable {
        let value = Mutex(State())
    }

    /// The port on which the proxy listens.
    public let port: Int
    private let channel: any Channel
    private let state: Box

    /// Starts the proxy.
    ///
    /// - Parameter target: The port of the service on this machine.
    public init(to target: Int, plan: @escaping Plan) async throws {
        let box = Box()
        state = box
        channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                let number = box.value.withLock { state in
                    state.accepted += 1
                    state.open += 1
                    return state.accepted
                }
                channel.closeFuture.whenComplete { _ in box.value.withLock { $0.open -= 1 } }
                return channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(ClientSide(target: target, fault: plan(number)))
                }
            }
            .childChannelOption(.autoRead, value: true)
            .bind(host: "127.0.0.1", port: 0).get()
        port = channel.localAddress?.port ?? 0
    }

    /// The number of accepted connections.
    public var accepted: Int { state.value.withLock { $0.accepted } }
    /// The number of open connections.
    public var open: Int { state.value.withLock { $0.open } }

    /// Stops the proxy.
    public func stop() async throws { try await channel.close() }
}

/// A handler that forwards the client's bytes to one connection of the service, or to two.
private final class ClientSide: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let target: Int
    private let fault: WireFault?
    private var services: [any Channel] = []
    private var waiting: [ByteBuffer] = []
    private var isClosed = false

    init(target: Int, fault: WireFault?) {
        self.target = target
        self.fault = fault
    }

    func channelActive(context: ChannelHandlerContext) {
        if fault == .drop {
            context.close(promise: nil)
            return
        }
        let client = context.channel
        let this = NIOLoopBound(self, eventLoop: context.eventLoop)
        for number in 0..<(fault == .duplicate ? 2 : 1) {
            let fault = number == 0 ? fault : .stall
            ClientBootstrap(group: context.eventLoop)
                .channelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        try channel.pipeline.syncOperations.addHandler(ServiceSide(client: client, fault: fault))
                    }
                }
                .connect(host: "127.0.0.1", port: target)
                .whenComplete { result in
                    switch result {
                    case .success(let service): this.value.connected(service)
                    case .failure: client.close(promise: nil)
                    }
                }
        }
    }

    private func connected(_ service: any Channel) {
        if isClosed { return service.close(promise: nil) }
        services.append(service)
        for buffer in waiting { service.writeAndFlush(buffer, promise: nil) }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let buffer = unwrapInboundIn(data)
        if services.count < (fault == .duplicate ? 2 : 1) { waiting.append(buffer) }
        for service in services { service.writeAndFlush(buffer, promise: nil) }
    }

    func channelInactive(context: ChannelHandlerContext) {
        isClosed = true
        for service in services { service.close(promise: nil) }
        services = []
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}

/// A handler that forwards the service's response as far as the fault allows.
private final class ServiceSide: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let client: any Channel
    private let fault: WireFault?

    init(client: any Channel, fault: WireFault?) {
        self.client = client
        self.fault = fault
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let buffer = unwrapInboundIn(data)
        let client = client
        switch fault {
        case nil, .drop, .duplicate: client.writeAndFlush(buffer, promise: nil)
        case .delay:
            client.eventLoop.scheduleTask(in: .milliseconds(50)) { client.writeAndFlush(buffer, promise: nil) }
        case .truncate:
            var half = buffer
            let part = half.readSlice(length: max(1, buffer.readableBytes / 2)) ?? buffer
            client.writeAndFlush(part).whenComplete { _ in client.close(promise: nil) }
        case .resetAfterAct:
            // A linger time of zero makes close() send RST instead of FIN.
            (client as? any SocketOptionProvider)?.setSoLinger(linger(l_onoff: 1, l_linger: 0))
                .whenComplete { _ in client.close(promise: nil) }
        case .stall: break
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        let client = client
        switch fault {
        case .stall: break
        case .delay: client.eventLoop.scheduleTask(in: .milliseconds(60)) { client.close(promise: nil) }
        default: client.close(promise: nil)
        }
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}
