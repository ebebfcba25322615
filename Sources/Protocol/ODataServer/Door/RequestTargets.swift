import NIOCore
import NIOHTTP1
import NIOHTTPTypesHTTP1
import ODataHTTP

/// Normalizes the head of each HTTP/1 request for the following handlers (RFC 9112, 3.2).
///
/// The request types have one authority and no version. Rules that depend on the request line are therefore
/// applied before a head is converted to them:
///
/// - The authority of a URL in absolute form replaces `Host`.
/// - A request of HTTP/1.0 without `Host` is meant for the local address of the connection.
/// - A transfer coding in HTTP/1.0 makes the framing invalid (RFC 9112, 6.1).
///
/// A head without `Host`, with two or with an invalid one is not changed: ``RequestForm`` refuses it.
final class RequestTargets: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart

    private let isSecure: Bool

    /// - Parameter isSecure: Whether the connection uses TLS.
    init(isSecure: Bool) { self.isSecure = isSecure }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard case .head(var head) = unwrapInboundIn(data) else { return context.fireChannelRead(data) }
        if (head.version.major, head.version.minor) < (1, 1) { settleOldVersion(&head, context) }
        if !head.uri.hasPrefix("/"), head.uri != "*" { settleAbsoluteForm(&head) }
        context.fireChannelRead(wrapInboundOut(.head(head)))
    }

    private func settleOldVersion(_ head: inout HTTPRequestHead, _ context: ChannelHandlerContext) {
        if !head.headers.contains(name: "Host"), let address = context.localAddress, let host = address.ipAddress {
            let port = address.port.map { ":\($0)" } ?? ""
            head.headers.add(name: "Host", value: (host.contains(":") ? "[\(host)]" : host) + port)
        }
        // Two codings are refused, and the connection is closed after the response.
        if head.headers.contains(name: "Transfer-Encoding") {
            head.headers.add(name: "Transfer-Encoding", value: "chunked")
        }
    }

    private func settleAbsoluteForm(_ head: inout HTTPRequestHead) {
        guard let target = AbsoluteTarget(head.uri) else {
            // The target is a host with a port, or a URL of another scheme. An invalid path makes the form
            // check refuse it.
            head.uri = "."
            return
        }
        head.uri = target.path
        let hosts = head.headers["Host"]
        guard hosts.count == 1, let host = hosts.first, Authority(host) != nil else { return }
        // A resource of HTTPS is not served over a connection without TLS (RFC 9110, 7.4). A host with a scheme
        // is invalid.
        let authority = target.isSecure == isSecure ? target.authority : "\(target.isSecure ? "https" : "http")://"
        head.headers.replaceOrAdd(name: "Host", value: authority)
    }
}

/// The parts of a request target in absolute form (RFC 9112, 3.2.2).
struct AbsoluteTarget: Equatable {
    let isSecure: Bool
    let authority: String
    /// The path and the query, starting with a slash.
    let path: String

    /// Parses a target; returns `nil` unless it begins with `http://` or `https://`.
    init?(_ text: String) {
        let start = text.prefix(8).lowercased()
        isSecure = start.hasPrefix("https://")
        guard isSecure || start.hasPrefix("http://") else { return nil }
        let rest = text.dropFirst(isSecure ? 8 : 7)
        let end = rest.firstIndex { $0 == "/" || $0 == "?" || $0 == "#" } ?? rest.endIndex
        authority = String(rest[..<end])
        let tail = rest[end...].prefix { $0 != "#" }
        path = tail.hasPrefix("/") ? String(tail) : "/" + tail
    }
}

/// Inserts ``RequestTargets`` before the handler that converts HTTP/1 heads. A stream of HTTP/2 has no such
/// handler.
final class RequestTargetsPlace: ChannelOutboundHandler, RemovableChannelHandler, Sendable {
    typealias OutboundIn = NIOAny

    private let isSecure: Bool

    init(isSecure: Bool) { self.isSecure = isSecure }

    func handlerAdded(context: ChannelHandlerContext) {
        let pipeline = context.pipeline.syncOperations
        guard let codec = try? pipeline.handler(type: HTTP1ToHTTPServerCodec.self) else { return }
        do {
            try pipeline.addHandler(RequestTargets(isSecure: isSecure), position: .before(codec))
        } catch {
            context.fireErrorCaught(error)
        }
    }
}
