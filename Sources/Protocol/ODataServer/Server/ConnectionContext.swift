import HTTPTypes
import Hummingbird
import NIOCore
import NIOHTTP2
import NIOHTTPTypes
import NIOSSL

/// What is known of the connection that a request came by, and what can be done with it beside answering.
struct ConnectionContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    private let channel: any Channel

    init(source: ApplicationRequestContextSource) {
        coreContext = .init(source: source)
        channel = source.channel
    }

    /// Whether the request came by a stream of HTTP/2: a channel within that of the connection, which is itself within
    /// the one that listens.
    var isStreamOfHTTP2: Bool { channel.parent?.parent != nil }

    /// The address that the request counts for: the other side of the connection, or the client that a trusted proxy names.
    func address(of head: HTTPRequest, trustsForwarded: Bool) -> String {
        if trustsForwarded, let address = ClientAddress.forwarded(head.headerFields) { return address }
        return ClientAddress.counted(isStreamOfHTTP2 ? channel.parent?.remoteAddress : channel.remoteAddress)
    }

    /// The state of the channel among those of the server.
    func state(in channels: OpenChannels) -> ChannelState? { channels.state(of: channel) }

    /// The certificate that the client showed, once TLS has verified it.
    func clientCertificate() async -> NIOSSLCertificate? {
        // A stream of HTTP/2 is a channel within the one that speaks TLS.
        for candidate in [channel, channel.parent].compactMap({ $0 }) {
            if let certificate = try? await candidate.nioSSL_peerCertificate().get() { return certificate }
        }
        return nil
    }

    /// Where a response that is streamed waits for the client; `nil` where the connection has ended.
    func writeGate() async -> WriteGate? {
        try? await channel.eventLoop.submit { [channel] in
            try channel.pipeline.syncOperations.handler(type: WriteDeadline.self).gate
        }.get()
    }

    /// Tells a client that waits for it to send its body (RFC 9110, 15.2.1).
    func giveLeaveToSend() {
        channel.writeAndFlush(HTTPResponsePart.head(HTTPResponse(status: .continue)), promise: nil)
    }

    /// Says that no more answers come, and leaves the other direction open.
    func closeOutput() { channel.close(mode: .output, promise: nil) }

    /// Closes the connection in a while, unless that is cancelled.
    func close(after time: TimeAmount) -> Scheduled<Void> {
        channel.eventLoop.scheduleTask(in: time) { [channel] in channel.close(promise: nil) }
    }

    /// Asks a client of HTTP/2 to send no more on this stream; that is no error.
    func resetStream() async {
        // The frame is none of HTTP's parts, so it is written below the handler that knows those.
        try? await channel.pipeline.addHandler(StreamReset(), position: .first).get()
    }
}

/// Resets the stream that it is added to.
private final class StreamReset: ChannelInboundHandler, Sendable {
    typealias InboundIn = NIOAny

    func handlerAdded(context: ChannelHandlerContext) {
        context.writeAndFlush(NIOAny(HTTP2Frame.FramePayload.rstStream(.noError)), promise: nil)
    }
}
