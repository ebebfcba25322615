import HTTPTypes
import ODataHTTP
import ODataService

/// Follows redirects (RFC 9110, 15.4) as far as a policy allows.
///
/// Reading requests follow any redirect, changes only 307 and 308, which keep the method, and only where their body
/// can be had again. A request that goes on to another origin takes nothing along but what says how the answer is
/// to look; credentials, cookies, tokens and what an app added stay behind. From HTTPS to HTTP nothing is followed.
public struct RedirectingTransport: HTTPTransport {
    /// Which redirects are followed.
    public enum Policy: Sendable, Hashable {
        /// None; the caller gets each.
        case none
        /// Those that stay with the scheme, the host and the port.
        case sameOrigin
        /// Those to other origins too, without credentials, though never from HTTPS to HTTP.
        case anyOrigin
    }

    /// The most redirects that are followed for one request.
    public static let maxRedirects = 10

    private let base: any HTTPTransport
    private let policy: Policy

    /// Wraps a transport.
    public init(_ base: any HTTPTransport, policy: Policy = .sameOrigin) {
        self.base = base
        self.policy = policy
    }

    /// Sends a request and follows where it leads. What is not followed is given as it came.
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
            // A short answer is read to its end so that its connection can be used again.
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
            // What a change answers with 303 is read elsewhere; OData has no use for it, and the change has acted.
            guard isReading else { return nil }
            if method != .head { method = .get }
            body = nil
        case 307, 308: guard body?.isRepeatable ?? true else { return nil }
        default: return nil
        }
        guard var next = request.following(location), let new = Origin(next) else { return nil }
        next.method = method
        if new != old {
            // A change may not be sent to whoever the service names.
            guard policy == .anyOrigin, isReading, new.isSecure || !old.isSecure else { return nil }
            next.headerFields = HTTPFields(next.headerFields.filter { HTTPField.Name.harmless.contains($0.name) })
        }
        return (next, body)
    }
}

extension HTTPRequest {
    /// The absolute URL as text.
    var url: String { "\(scheme ?? "")://\(authority ?? "")\(path ?? "/")" }

    /// The same request to what a `Location` field names (RFC 3986, 5.2); `nil` when that is no http URL.
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
            // Another scheme.
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

    /// A path without its segments `.` and `..` (RFC 3986, 5.2.4).
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
