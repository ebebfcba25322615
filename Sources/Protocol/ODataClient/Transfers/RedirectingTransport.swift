import HTTPTypes
import ODataHTTP
import ODataService

/// Follows redirects (RFC 9110, 15.4) as far as a policy allows.
///
/// Reads follow any redirect. Changes follow only 307 and 308, which keep the method, and only if their body
/// can be sent again. A request to another origin keeps only the fields that describe the desired response,
/// without credentials, cookies, tokens and fields of the app. A redirect from HTTPS to HTTP is never followed.
public struct RedirectingTransport: HTTPTransport {
    /// The policies for redirects.
    public enum Policy: Sendable, Hashable {
        /// Follows no redirect; the caller receives each of them.
        case none
        /// Follows redirects with the same scheme, host and port.
        case sameOrigin
        /// Follows redirects to other origins without credentials, but never from HTTPS to HTTP.
        case anyOrigin
    }

    /// The maximum number of redirects that are followed for one request.
    public static let maxRedirects = 10

    private let base: any HTTPTransport
    private let policy: Policy

    /// Creates a transport that follows the redirects of another one.
    public init(_ base: any HTTPTransport, policy: Policy = .sameOrigin) {
        self.base = base
        self.policy = policy
    }

    /// Sends a request and follows redirects. A redirect that is not followed is returned as the response.
    public func send(
        _ request: HTTPRequest, body: ByteStream?, options: TransferOptions
    ) async throws -> (HTTPResponse, ByteStream) {
        var request = request
        var body = body
        var visited: Set<String> = []
        while true {
            let upload = body.map { $0.fromStart() ?? $0 }
            let (response, stream) = try await base.send(request, body: upload, options: options)
            guard visited.count < Self.maxRedirects, let next = next(after: request, response, body: body) else {
                return (response, stream)
            }
            visited.insert(request.url)
            guard !visited.contains(next.request.url) || next.request.method != request.method else {
                return (response, stream)
            }
            // A short response is read to its end, so that the connection can be reused.
            _ = try? await stream.collect(limit: AuthenticatingTransport.pageSize)
            options.report?(.redirected(to: next.request.url, status: response.status.code))
            (request, body) = next
        }
    }

    private func next(
        after request: HTTPRequest, _ response: HTTPResponse, body: ByteStream?
    ) -> (request: HTTPRequest, body: ByteStream?)? {
        guard policy != .none, let location = response.headerFields[.location], let old = Origin(request) else {
            return nil
        }
        var body = body
        var method = request.method
        let isReading = method == .get || method == .head
        switch response.status.code {
        case 301, 302: guard isReading else { return nil }
        case 303:
            // A 303 in response to a change refers to its result. OData does not use it, and the change has
            // taken effect.
            guard isReading else { return nil }
            if method != .head { method = .get }
            body = nil
        case 307, 308: guard body?.isRepeatable ?? true else { return nil }
        default: return nil
        }
        guard var next = request.following(location), let new = Origin(next) else { return nil }
        next.method = method
        if new != old {
            // A change must not be sent to an origin that a response names.
            guard policy == .anyOrigin, isReading, new.isSecure || !old.isSecure else { return nil }
            next.headerFields = HTTPFields(next.headerFields.filter { HTTPField.Name.harmless.contains($0.name) })
        }
        return (next, body)
    }
}

extension HTTPRequest {
    var url: String { "\(scheme ?? "")://\(authority ?? "")\(path ?? "/")" }

    /// Returns the same request for the target of a `Location` field (RFC 3986, 5.2), or `nil` if the target is
    /// not an HTTP URL.
    func following(_ location: String) -> HTTPRequest? {
        guard let scheme, let authority else { return nil }
        let reference = location.prefix { $0 != "#" }
        var next = self
        let lower = reference.prefix(8).lowercased()
        if lower.hasPrefix("http://") || lower.hasPrefix("https://") || reference.hasPrefix("//") {
            let absolute = reference.hasPrefix("//") ? "\(scheme):\(reference)" : String(reference)
            guard let root = try? ServiceRoot("/").request(method, url: absolute) else { return nil }
            (next.scheme, next.authority, next.path) = (root.scheme, root.authority, root.path)
        } else if reference.contains(":"), !reference.hasPrefix("/"), !reference.hasPrefix("?"),
            reference.prefix(while: { $0 != ":" }).allSatisfy({ $0.isLetter || $0.isNumber || "+-.".contains($0) })
        {
            // A scheme other than HTTP.
            return nil
        } else if reference.hasPrefix("/") {
            next.path = String(reference)
        } else {
            let path = (path ?? "/").prefix { $0 != "?" }
            if reference.hasPrefix("?") {
                next.path = String(path) + String(reference)
            } else if !reference.isEmpty {
                next.path = String(path[...(path.lastIndex(of: "/") ?? path.startIndex)]) + String(reference)
            }
        }
        next.path = next.path.map(Self.withoutDots)
        return next.url.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F } && authority.isEmpty == false ? next : nil
    }

    /// Returns a path without its segments `.` and `..` (RFC 3986, 5.2.4).
    private static func withoutDots(_ path: String) -> String {
        let end = path.firstIndex(of: "?") ?? path.endIndex
        guard path[..<end].contains("/.") else { return path }
        var segments: [Substring] = []
        let parts = path[..<end].split(separator: "/", omittingEmptySubsequences: false).dropFirst()
        for (index, part) in parts.enumerated() {
            let isLast = index == parts.count - 1
            switch part {
            case ".": if isLast { segments.append("") }
            case "..":
                _ = segments.popLast()
                if isLast { segments.append("") }
            default: segments.append(part)
            }
        }
        return "/" + segments.joined(separator: "/") + path[end...]
    }
}
