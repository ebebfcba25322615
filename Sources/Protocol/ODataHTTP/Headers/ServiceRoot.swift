import HTTPTypes
import ODataModel
import ODataService

/// The root URL of a service, split into its parts, with a final slash (OData URL Conventions 4.01, 2 *Service Root
/// URL*).
///
/// ```swift
/// let root = try ServiceRoot("https://services.example/Northwind/")
/// print(root.url(for: "Orders?$top=1"))  // https://services.example/Northwind/Orders?$top=1
/// ```
public struct ServiceRoot: Hashable, Sendable, CustomStringConvertible {
    /// The scheme, `http` or `https`; `nil` if only the path is known.
    public let scheme: String?
    /// The host and port; `nil` if only the path is known.
    public let authority: String?
    /// The path, with a slash at both ends.
    public let path: String

    /// Parses an absolute URL, or a path. With a path only, the scheme and host are taken from each request.
    ///
    /// - Throws: ``TransportError/invalidURL(_:)`` if the text is neither, or contains a query, a fragment, a user
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

    /// The root path of any host.
    static let slash = ServiceRoot(scheme: nil, authority: nil, path: "/")

    private init(scheme: String?, authority: String?, path: String) {
        self.scheme = scheme
        self.authority = authority
        self.path = path
    }

    /// The URL, or the path if only the path is known.
    public var description: String {
        guard let scheme, let authority else { return path }
        return "\(scheme)://\(authority)\(path)"
    }

    /// Returns the root completed by the scheme and host of a request.
    public func resolved(for request: HTTPRequest) -> ServiceRoot {
        guard authority == nil, let authority = request.authority else { return self }
        return ServiceRoot(scheme: request.scheme ?? "http", authority: authority, path: path)
    }

    /// Returns the root under which clients reach the service through a proxy.
    func forwarded(_ address: ForwardedAddress) -> ServiceRoot {
        ServiceRoot(
            scheme: address.scheme ?? scheme, authority: address.authority ?? authority,
            path: (address.prefix ?? "") + path)
    }

    /// Returns the absolute URL of a URL relative to the root. Absolute URLs are returned unchanged.
    public func url(for relative: String) -> String {
        if Self.absolute(relative) != nil { return relative }
        guard relative.hasPrefix("/") else { return description + relative }
        guard let scheme, let authority else { return relative }
        return "\(scheme)://\(authority)\(relative)"
    }

    /// Returns the part of a URL after the root; `nil` if the URL is not below the root.
    public func relative(_ url: String) -> String? {
        var rest = url
        if url.utf8.first != UInt8(ascii: "/") {
            guard let parts = Self.absolute(url) else { return url }
            if let authority, !Self.isSame(parts, authority, scheme: scheme ?? parts.scheme) { return nil }
            rest = parts.path
        }
        if rest.utf8.starts(with: path.utf8) { return String(Substring(rest.utf8.dropFirst(path.utf8.count))) }
        // The URL may be the root without its final slash.
        let bare = path.dropLast()
        guard rest.hasPrefix(bare) else { return nil }
        let tail = rest.dropFirst(bare.count)
        return tail.isEmpty || tail.hasPrefix("?") ? String(tail) : nil
    }

    /// Creates a request for a URL.
    ///
    /// - Throws: ``TransportError/invalidURL(_:)`` if the URL is not absolute.
    public func request(_ method: HTTPRequest.Method, url: String) throws(TransportError) -> HTTPRequest {
        guard let parts = Self.absolute(url) else { throw .invalidURL(url) }
        return HTTPRequest(method: method, scheme: parts.scheme, authority: parts.authority, path: parts.path)
    }

    /// The origin that may receive the credentials of the service; `nil` if the root is not an absolute URL.
    public var origin: Origin? {
        scheme.flatMap { scheme in authority.flatMap { Origin(scheme: scheme, authority: $0) } }
    }

    /// Returns whether the URL of a request has the scheme, host and port of the service.
    ///
    /// Only then may the request carry the credentials of the service.
    public func isSameOrigin(_ request: HTTPRequest) -> Bool { origin != nil && Origin(request) == origin }

    /// Returns whether a URL has the host and port of an authority, which may omit the default port.
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
        guard !authority.isEmpty, !authority.has("@") else { return nil }
        var path = String(rest[end...].prefix { $0 != "#" })
        if !path.hasPrefix("/") { path = "/" + path }
        return (scheme, authority, path)
    }

    /// Returns a URL without user name and password, for messages.
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
