import NIOCore
import NIOHTTP1
import NIOHTTPTypesHTTP1
import ODataHTTP

/// Brings the head of each HTTP/1 request into the form that everything behind it reads (RFC 9112, 3.2).
///
/// The request types have one authority and no version, so what depends on the request line is settled before a head
/// becomes one of them:
///
/// - The authority of a URL in absolute form takes the place of `Host`.
/// - A request of HTTP/1.0 without `Host` is one for the address that it came to.
/// - A transfer coding in HTTP/1.0 makes the framing faulty (RFC 9112, 6.1).
///
/// A head without `Host`, with two or with an invalid one stays as it is: ``RequestForm`` refuses it.
final class RequestTargets: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart

    private let isSecure: Bool

    /// - Parameter isSecure: whether the connection speaks TLS.
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
        // Two codings are refused, and the connection is closed behind the response.
        if head.headers.contains(name: "Transfer-Encoding") {
            head.headers.add(name: "Transfer-Encoding", value: "chunked")
        }
    }

    private func settleAbsoluteForm(_ head: inout HTTPRequestHead) {
        guard let target = AbsoluteTarget(head.uri) else {
            // A host with a port, or a URL of another scheme: no path, which is what is looked for.
            head.uri = "."
            return
        }
        head.uri = target.path
        let hosts = head.headers["Host"]
        guard hosts.count == 1, let host = hosts.first, Authority(host) != nil else { return }
        // A resource of https is not given out over a connection without TLS (RFC 9110, 7.4): no host has a scheme.
        let authority = target.isSecure == isSecure ? target.authority : "\(target.isSecure ? "https" : "http")://"
        head.headers.replaceOrAdd(name: "Host", value: authority)
    }
}

/// A request target in absolute form, taken apart (RFC 9112, 3.2.2).
struct AbsoluteTarget: Equatable {
    let isSecure: Bool
    let authority: String
    /// The path with the query, from its slash on.
    let path: String

    /// Takes a target apart; `nil` unless it begins with `http://` or `https://`.
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

/// Puts ``RequestTargets`` before the handler that makes request types of HTTP/1 heads; a stream of HTTP/2 has none.
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
