import HTTPTypes
import ODataHTTP

/// A cookie that a service has set (RFC 6265, 5.3).
///
/// ```swift
/// for cookie in CookieJar().cookies where cookie.isSecure { show(cookie.name, cookie.domain) }
/// ```
public struct Cookie: Sendable, Hashable, Codable {
    /// The name of the cookie.
    public let name: String
    /// The value of the cookie, often as sensitive as a password.
    public let value: String
    /// The host that set the cookie, or the domain in its attributes.
    public let domain: String
    /// Whether the cookie is sent only to the host and not to subdomains.
    public let isHostOnly: Bool
    /// The path to which requests must belong.
    public let path: String
    /// The expiry in seconds since 1970; `nil` for a session cookie.
    public let expires: Int64?
    /// Whether the cookie is sent over HTTPS only. A cookie that was set over HTTPS always is.
    public let isSecure: Bool
    /// Whether the cookie is hidden from scripts. The value is recorded, but has no effect.
    public let isHTTPOnly: Bool

    /// The maximum number of bytes of name and value together (RFC 6265, 6.1).
    static let maxSize = 4096

    /// Parses the value of a `Set-Cookie` field.
    ///
    /// - Parameters:
    ///   - text: One cookie with its attributes.
    ///   - request: The request; its host and path are the defaults for missing attributes.
    ///   - now: The current time in seconds since 1970.
    /// - Returns: `nil` if the text is not a cookie, is too long or names another host. A cookie that claims to
    ///   be secure is also ignored over an insecure connection.
    public init?(_ text: String, from request: HTTPRequest, now: Int64) {
        guard let origin = Origin(request) else { return nil }
        let parts = text.split(separator: ";", omittingEmptySubsequences: false).map(Self.trim)
        guard let pair = parts.first, let equals = pair.firstIndex(of: "=") else { return nil }
        name = Self.trim(pair[..<equals])
        value = Self.trim(pair[pair.index(after: equals)...])
        guard !name.isEmpty, name.utf8.count + value.utf8.count <= Self.maxSize,
            (name + value).utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F })
        else { return nil }
        var attributes: [String: String] = [:]
        for part in parts.dropFirst() {
            let end = part.firstIndex(of: "=")
            let key = Self.trim(part[..<(end ?? part.endIndex)]).lowercased()
            attributes[key] = end.map { Self.trim(part[part.index(after: $0)...]) } ?? ""
        }
        if let age = attributes["max-age"], let seconds = Int64(age) {
            let end = now.addingReportingOverflow(seconds)
            expires = seconds <= 0 ? .min : end.overflow ? .max : end.partialValue
        } else {
            expires = attributes["expires"].flatMap { CookieDate.seconds($0) }
        }
        let saysSecure = attributes["secure"] != nil
        isSecure = saysSecure || origin.isSecure
        isHTTPOnly = attributes["httponly"] != nil
        var named = attributes["domain"]?.lowercased() ?? ""
        if named.hasPrefix(".") { named.removeFirst() }
        if named.isEmpty || named == origin.host {
            (domain, isHostOnly) = (origin.host, named.isEmpty || origin.isAddress)
        } else {
            // A cookie for all of `com` would also be sent to other sites. Longer public suffixes are not
            // detected.
            guard !origin.isAddress, named.contains("."), origin.host.hasSuffix("." + named) else { return nil }
            (domain, isHostOnly) = (named, false)
        }
        let given = attributes["path"] ?? ""
        path = given.hasPrefix("/") ? given : request.cookieFolder
        // The prefixes `__Secure-` and `__Host-` require certain attributes (RFC 6265bis, 4.1.3).
        guard origin.isSecure || !saysSecure else { return nil }
        if name.hasPrefix("__Secure-") || name.hasPrefix("__Host-"), !saysSecure { return nil }
        if name.hasPrefix("__Host-"), !isHostOnly || path != "/" { return nil }
    }

    func matches(_ request: HTTPRequest, origin: Origin) -> Bool {
        guard !isSecure || origin.isSecure else { return false }
        guard origin.host == domain || (!isHostOnly && !origin.isAddress && origin.host.hasSuffix("." + domain)) else {
            return false
        }
        let asked = (request.path ?? "/").prefix { $0 != "?" && $0 != "#" }
        guard asked.hasPrefix(path) else { return false }
        return asked.count == path.count || path.hasSuffix("/") || asked.dropFirst(path.count).first == "/"
    }

    private static func trim(_ text: some StringProtocol) -> String {
        var rest = text[...]
        while let first = rest.first, first == " " || first == "\t" { rest = rest.dropFirst() }
        while let last = rest.last, last == " " || last == "\t" { rest = rest.dropLast() }
        return String(rest)
    }
}

extension Cookie: CustomStringConvertible, CustomReflectable {
    /// The name, domain and path without the value.
    public var description: String { "\(name)=‹redacted›; Domain=\(domain); Path=\(path)" }
    /// A mirror without children, so that the value is not printed.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

extension HTTPRequest {
    /// The directory of the path, which is the default path of a cookie (RFC 6265, 5.1.4).
    fileprivate var cookieFolder: String {
        let path = (path ?? "/").prefix { $0 != "?" }
        guard let slash = path.lastIndex(of: "/"), slash != path.startIndex else { return "/" }
        return String(path[..<slash])
    }
}
