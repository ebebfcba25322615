import HTTPTypes
import ODataService

/// Where a service is: its root URL taken apart, with a slash at the end
/// (OData URL Conventions 4.01, 2 *Service Root URL*).
///
/// ```swift
/// let root = try ServiceRoot("https://services.example/Northwind/")
/// root.url(for: "Orders?$top=1")  // https://services.example/Northwind/Orders?$top=1
/// ```
public struct ServiceRoot: Hashable, Sendable, CustomStringConvertible {
    /// `http` or `https`; `nil` when only the path is known.
    public let scheme: String?
    /// Host and port; `nil` when only the path is known.
    public let authority: String?
    /// The path, with a slash at either end.
    public let path: String

    /// Reads an absolute URL, or a path alone: a server that is reached under several names takes the rest
    /// from each request.
    ///
    /// - Throws: ``TransportError/invalidURL(_:)`` when it is neither, or holds a query, a fragment, a user
    ///   name or a character that must be percent-encoded.
    public init(_ text: String) throws(TransportError) {
        guard text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "\"") }),
            !text.contains(where: { "?#<>\\^`{|}@".contains($0) })
        else { throw .invalidURL(Self.withoutUser(text)) }
        if text.hasPrefix("/"), !text.hasPrefix("//") {
            (scheme, authority) = (nil, nil)
            path = text.hasSuffix("/") ? text : text + "/"
            return
        }
        guard let parts = Self.absolute(text) else { throw .invalidURL(text) }
        (scheme, authority) = (parts.scheme, parts.authority)
        path = parts.path.hasSuffix("/") ? parts.path : parts.path + "/"
    }

    /// The root of whatever host a request names.
    static let slash = ServiceRoot(scheme: nil, authority: nil, path: "/")

    private init(scheme: String?, authority: String?, path: String) {
        self.scheme = scheme
        self.authority = authority
        self.path = path
    }

    /// The URL, or the path where that is all.
    public var description: String {
        guard let scheme, let authority else { return path }
        return "\(scheme)://\(authority)\(path)"
    }

    /// The root completed by what a request says of scheme and host.
    public func resolved(for request: HTTPRequest) -> ServiceRoot {
        guard authority == nil, let authority = request.authority else { return self }
        return ServiceRoot(scheme: request.scheme ?? "http", authority: authority, path: path)
    }

    /// The root as clients see it who come through a proxy.
    func forwarded(_ address: ForwardedAddress) -> ServiceRoot {
        ServiceRoot(
            scheme: address.scheme ?? scheme, authority: address.authority ?? authority,
            path: (address.prefix ?? "") + path)
    }

    /// The absolute URL of what is relative to the root; absolute URLs stay as they are.
    public func url(for relative: String) -> String {
        if Self.absolute(relative) != nil { return relative }
        guard relative.hasPrefix("/") else { return description + relative }
        guard let scheme, let authority else { return relative }
        return "\(scheme)://\(authority)\(relative)"
    }

    /// What stands below the root in a URL, absolute or not; `nil` when it is not below it.
    public func relative(_ url: String) -> String? {
        var rest = url
        if url.utf8.first != UInt8(ascii: "/") {
            guard let parts = Self.absolute(url) else { return url }
            if let authority, !Self.isSame(parts, authority, scheme: scheme ?? parts.scheme) { return nil }
            rest = parts.path
        }
        if rest.utf8.starts(with: path.utf8) { return String(Substring(rest.utf8.dropFirst(path.utf8.count))) }
        // The root itself, asked for without its last slash.
        let bare = path.dropLast()
        guard rest.hasPrefix(bare) else { return nil }
        let tail = rest.dropFirst(bare.count)
        return tail.isEmpty || tail.hasPrefix("?") ? String(tail) : nil
    }

    /// A request for a URL.
    ///
    /// - Throws: ``TransportError/invalidURL(_:)`` when the URL is not absolute.
    public func request(_ method: HTTPRequest.Method, url: String) throws(TransportError) -> HTTPRequest {
        guard let parts = Self.absolute(url) else { throw .invalidURL(url) }
        return HTTPRequest(method: method, scheme: parts.scheme, authority: parts.authority, path: parts.path)
    }

    /// Whom the service's credentials may be shown to; `nil` where the root is no absolute URL.
    public var origin: Origin? {
        scheme.flatMap { scheme in authority.flatMap { Origin(scheme: scheme, authority: $0) } }
    }

    /// Whether credentials for this service may go with a request to a URL: the same scheme, host and port.
    public func isSameOrigin(_ request: HTTPRequest) -> Bool { origin != nil && Origin(request) == origin }

    /// Whether a URL has the host and port of an authority, which may leave out the port of its scheme.
    private static func isSame(
        _ parts: (scheme: String, authority: String, path: String), _ authority: String, scheme: String
    ) -> Bool {
        if parts.authority.lowercased() == authority.lowercased() { return true }
        guard let own = Origin(scheme: scheme, authority: authority),
            let other = Origin(scheme: parts.scheme, authority: parts.authority)
        else { return false }
        return own.host == other.host && own.port == other.port
    }

    private static func absolute(_ text: String) -> (scheme: String, authority: String, path: String)? {
        let lower = text.prefix(8).lowercased()
        let scheme = lower.hasPrefix("https://") ? "https" : lower.hasPrefix("http://") ? "http" : nil
        guard let scheme else { return nil }
        let rest = text.dropFirst(scheme.count + 3)
        let end = rest.firstIndex { $0 == "/" || $0 == "?" || $0 == "#" } ?? rest.endIndex
        let authority = String(rest[..<end])
        guard !authority.isEmpty, !authority.contains("@") else { return nil }
        var path = String(rest[end...].prefix { $0 != "#" })
        if !path.hasPrefix("/") { path = "/" + path }
        return (scheme, authority, path)
    }

    /// A URL for a message, without the user name and password that somebody put into it.
    private static func withoutUser(_ text: String) -> String {
        guard let at = text.lastIndex(of: "@"), let slashes = text.firstRange(of: "//") else { return text }
        guard slashes.upperBound <= at else { return text }
        return text.replacingCharacters(slashes.upperBound..<at)
    }
}

extension String {
    fileprivate func replacingCharacters(_ range: Range<String.Index>) -> String {
        self[..<range.lowerBound] + "‹redacted›" + self[range.upperBound...]
    }
}
