import NIOCore
import NIOHTTP2

/// Keeps a connection of HTTP/2 whose client has sent a malformed request: that stream alone is reset (RFC 9113, 8.1.1).
///
/// NIO resets the stream and then reports why; Hummingbird closes the connection for whatever is reported, and with it all
/// other requests on their way. `curl` for one ends a body that it was told to stop sending short of its length. A client
/// that sends many malformed requests is still sent away by NIO, and each other kind of error still ends the connection.
final class MalformedStreams: ChannelInboundHandler {
    typealias InboundIn = HTTP2Frame

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if !Self.isOfOneStream(error) { context.fireErrorCaught(error) }
    }

    /// Whether an error is one that NIO has reset a single stream for. What it takes for errors of either, such as a frame
    /// that the state of its stream does not allow, is not.
    private static func isOfOneStream(_ error: any Error) -> Bool {
        switch error {
        case is NIOHTTP2Errors.ContentLengthViolated, is NIOHTTP2Errors.ContentLengthHeadersMismatch,
            is NIOHTTP2Errors.ContentLengthHeaderNegative, is NIOHTTP2Errors.ContentLengthHeaderMalformedValue,
            is NIOHTTP2Errors.MissingPseudoHeader, is NIOHTTP2Errors.DuplicatePseudoHeader,
            is NIOHTTP2Errors.PseudoHeaderAfterRegularHeader, is NIOHTTP2Errors.UnknownPseudoHeader,
            is NIOHTTP2Errors.UnsupportedPseudoHeader, is NIOHTTP2Errors.InvalidPseudoHeaders,
            is NIOHTTP2Errors.InvalidPseudoHeaderValue, is NIOHTTP2Errors.EmptyPathHeader,
            is NIOHTTP2Errors.ForbiddenHeaderField, is NIOHTTP2Errors.InvalidHTTP2HeaderFieldName,
            is NIOHTTP2Errors.InvalidHTTP2HeaderFieldValue, is NIOHTTP2Errors.TrailersWithoutEndStream:
            true
        default: false
        }
    }
}
