import HTTPTypes
import ODataHTTP
import ODataService

/// An endpoint from which a monitoring system reads the metrics of the process. It is independent of the service root
/// and of the authentication of the service.
///
/// Without a token, only programs of this machine read it: the connection comes from a loopback address, the request
/// was not forwarded by a proxy, and no page in a browser sends it. With a token, every caller has to send it as a
/// bearer token (RFC 6750, 2.1), from this machine as well.
///
/// A proxy on this machine that adds no field about itself cannot be recognised. Demand a token behind a proxy.
public struct MetricsEndpoint: Sendable {
    /// The path, which must not belong to the service.
    public let path: String
    private let token: [UInt8]?
    private let contentType: String
    private let text: @Sendable () -> String

    /// Creates an endpoint.
    ///
    /// - Parameters:
    ///   - path: The path.
    ///   - token: The token of its readers; `nil` for programs of this machine without a token.
    ///   - contentType: The media type of the text.
    ///   - text: Returns the metrics.
    public init(
        path: String = "/metrics", token: String? = nil,
        contentType: String = "text/plain; version=0.0.4; charset=utf-8", text: @escaping @Sendable () -> String
    ) {
        self.path = path
        self.token = token.map { Array($0.utf8) }
        self.contentType = contentType
        self.text = text
    }

    /// Returns the answer, or `nil` if the path is another one.
    ///
    /// - Parameter isFromThisMachine: Whether the peer of the connection has a loopback address.
    func answer(_ head: HTTPRequest, isFromThisMachine: Bool) -> Result<(HTTPResponse, ByteStream), Refusal>? {
        guard let target = head.path, target.prefix(while: { $0 != "?" }) == path[...] else { return nil }
        if let refusal = refusal(of: head, isFromThisMachine: isFromThisMachine) { return .failure(refusal) }
        guard head.method == .get || head.method == .head else {
            return .success(
                (HTTPResponse(status: .methodNotAllowed, headerFields: [.allow: "GET, HEAD"]), ByteStream([])))
        }
        let body = Array(text().utf8)
        var response = HTTPResponse(status: .ok)
        response.headerFields[.contentType] = contentType
        response.headerFields[.cacheControl] = "no-store"
        response.headerFields[.contentLength] = String(body.count)
        return .success((response, head.method == .head ? ByteStream([]) : ByteStream(body)))
    }

    private func refusal(of head: HTTPRequest, isFromThisMachine: Bool) -> Refusal? {
        if let token {
            guard Self.token(of: head).map({ BasicAuthentication.isEqual(Array($0.utf8), token) }) ?? false else {
                return Refusal(
                    status: .unauthorized, code: "Unauthorized", message: "Send the token of the metrics.",
                    fields: [.wwwAuthenticate: #"Bearer realm="metrics""#])
            }
            return nil
        }
        guard isFromThisMachine, !Self.isForwarded(head), !Self.isFromPage(head) else {
            return Refusal(
                status: .forbidden, code: "Forbidden",
                message: "The metrics are for programs of the server's own machine.")
        }
        return nil
    }

    private static func token(of head: HTTPRequest) -> Substring? {
        guard let field = head.headerFields[.authorization] else { return nil }
        let parts = field.split(separator: " ", maxSplits: 1)
        guard parts.count == 2, parts[0].lowercased() == "bearer" else { return nil }
        return parts[1]
    }

    /// Whether a proxy has sent a request.
    private static func isForwarded(_ head: HTTPRequest) -> Bool {
        head.headerFields.contains { field in
            let name = field.name.canonicalName
            return name == "forwarded" || name == "via" || name.hasPrefix("x-forwarded-") || name == "x-real-ip"
        }
    }

    /// Whether a page in a browser has sent a request. An address that a person opens is none.
    private static func isFromPage(_ head: HTTPRequest) -> Bool {
        if head.headerFields[.origin] != nil { return true }
        guard let site = HTTPField.Name("Sec-Fetch-Site").flatMap({ head.headerFields[$0] }) else { return false }
        return site != "none" && site != "same-origin"
    }
}
