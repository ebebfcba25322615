import NIOCore
import NIOHTTP2

/// Keeps a connection of HTTP/2 open after a malformed request; only the stream is reset (RFC 9113, 8.1.1).
///
/// NIO resets the stream and reports the error. Hummingbird would then close the connection with all its other
/// requests. `curl`, for instance, ends a body early when it is told to stop sending. NIO still disconnects a
/// client with many malformed requests, and errors of other kinds still close the connection.
final class MalformedStreams: ChannelInboundHandler {
    typealias InboundIn = HTTP2Frame

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if !Self.isOfOneStream(error) { context.fireErrorCaught(error) }
    }

    /// Returns whether NIO has reset a single stream because of an error. Errors that may concern the whole
    /// connection, such as a frame that is invalid in the state of its stream, do not count.
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
