import HTTPTypes
import Hummingbird
import NIOCore
import NIOHTTP2
import NIOHTTPTypes
import NIOSSL

/// The connection of a request, and the operations on it besides the response.
struct ConnectionContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    private let channel: any Channel

    init(source: ApplicationRequestContextSource) {
        coreContext = .init(source: source)
        channel = source.channel
    }

    /// Whether the request arrived on a stream of HTTP/2. Its channel is a child of the connection, which is a
    /// child of the listening channel.
    var isStreamOfHTTP2: Bool { channel.parent?.parent != nil }

    /// The address of the peer, which may be a proxy.
    var peer: ClientAddress {
        ClientAddress(isStreamOfHTTP2 ? channel.parent?.remoteAddress : channel.remoteAddress)
    }

    /// Returns the address for which the request counts: that of the peer, or the client that a trusted proxy
    /// states.
    ///
    /// - Parameter hops: The number of trusted proxies; 0 for none.
    func address(of head: HTTPRequest, behind hops: Int) -> ClientAddress {
        (hops > 0 ? ClientAddress.forwarded(head.headerFields, hops: hops) : nil) ?? peer
    }

    func state(in channels: OpenChannels) -> ChannelState? { channels.state(of: channel) }

    /// Returns the client certificate, after TLS has verified it.
    func clientCertificate() async -> NIOSSLCertificate? {
        // The channel of a stream of HTTP/2 is a child of the TLS channel.
        for candidate in [channel, channel.parent].compactMap({ $0 }) {
            if let certificate = try? await candidate.nioSSL_peerCertificate().get() { return certificate }
        }
        return nil
    }

    /// Returns the gate at which a streamed response waits for the client, or `nil` if the connection has
    /// ended.
    func writeGate() async -> WriteGate? {
        try? await channel.eventLoop.submit { [channel] in
            try channel.pipeline.syncOperations.handler(type: WriteDeadline.self).gate
        }.get()
    }

    /// Tells a waiting client to send its body (RFC 9110, 15.2.1).
    func giveLeaveToSend() {
        channel.writeAndFlush(HTTPResponsePart.head(HTTPResponse(status: .continue)), promise: nil)
    }

    /// Closes the sending side of the connection, but not the receiving side.
    func closeOutput() { channel.close(mode: .output, promise: nil) }

    /// Schedules the end of the connection; the result can be cancelled.
    func close(after time: TimeAmount) -> Scheduled<Void> {
        channel.eventLoop.scheduleTask(in: time) { [channel] in channel.close(promise: nil) }
    }

    /// Asks a client of HTTP/2 to stop sending on this stream, without an error.
    func resetStream() async {
        // The frame is not an HTTP part, so it is written below the handler that converts parts.
        try? await channel.pipeline.addHandler(StreamReset(), position: .first).get()
    }
}

/// Resets the stream to whose pipeline it is added.
private final class StreamReset: ChannelInboundHandler, Sendable {
    typealias InboundIn = NIOAny

    func handlerAdded(context: ChannelHandlerContext) {
        context.writeAndFlush(NIOAny(HTTP2Frame.FramePayload.rstStream(.noError)), promise: nil)
    }
}
