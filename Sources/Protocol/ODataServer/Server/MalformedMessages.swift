import HTTPTypes
import NIOCore
import NIOHTTP1
import NIOHTTPTypes
import ODataHTTP

/// Adds an error object (OData Protocol 4.01, 9.4) to the response for a malformed HTTP message. Hummingbird
/// itself sends only a status.
///
/// The parser stops at such a request: no handler receives it, and the connection is closed after the response.
final class MalformedMessages: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    private var failure: HTTPParserError?

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        failure = failure ?? error as? HTTPParserError
        context.fireErrorCaught(error)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard let failure, case .head(var head) = unwrapOutboundIn(data), head.status == .badRequest,
            head.headerFields[.contentLength] == "0"
        else { return context.write(data, promise: promise) }
        self.failure = nil
        let refusal = Self.refusal(failure)
        let body = context.channel.allocator.buffer(string: refusal.json)
        head.status = refusal.status
        head.headerFields[.contentType] = "application/json"
        head.headerFields[.odataVersion] = "4.01"
        head.headerFields[.contentLength] = String(body.readableBytes)
        context.write(wrapOutboundOut(.head(head)), promise: promise)
        context.write(wrapOutboundOut(.body(body)), promise: nil)
    }

    private static func refusal(_ failure: HTTPParserError) -> Refusal {
        switch failure {
        case .invalidMethod:
            // RFC 9110, 9.1.
            Refusal(status: .notImplemented, code: "NotImplemented", message: "The method is not known.")
        case .invalidURL, .invalidPath, .invalidQueryString, .invalidFragment:
            Refusal(
                status: .badRequest, code: "InvalidURL",
                message: "The URL holds characters that must be percent-encoded.")
        case .headerOverflow:
            Refusal(
                status: .requestHeaderFieldsTooLarge, code: "FieldsTooLarge",
                message: "The header fields are too large.")
        default:
            Refusal(status: .badRequest, code: "InvalidRequest", message: "The request is not a valid HTTP message.")
        }
    }
}
