import HTTPTypes
import ODataHTTP

/// A cookie that a service has set (RFC 6265, 5.3).
public struct Cookie: Sendable, Hashable, Codable {
    /// Its name.
    public let name: String
    /// Its value, which often is as good as a password.
    public let value: String
    /// The host that set it, or the domain that it named.
    public let domain: String
    /// Whether it goes to the host alone and not to those below the domain.
    public let isHostOnly: Bool
    /// The path that requests must be at or below.
    public let path: String
    /// When it ends, in seconds since 1970; `nil` for the end of the session.
    public let expires: Int64?
    /// Whether it goes over HTTPS alone: what was set over HTTPS does, whatever the service says.
    public let isSecure: Bool
    /// Whether it is kept from scripts; noted, and without meaning here.
    public let isHTTPOnly: Bool

    /// The most bytes of a name and a value together (RFC 6265, 6.1).
    static let maxSize = 4096

    /// Reads the value of a `Set-Cookie` field.
    ///
    /// - Parameters:
    ///   - text: one cookie with its attributes.
    ///   - request: what was asked for; its host and path complete what is not said.
    ///   - now: seconds since 1970.
    /// - Returns: `nil` when it is no cookie, is for another host, is too long, or wants to be secure from an origin
    ///   that is not.
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
            // A cookie for all of `com` would be for strangers too; longer public suffixes are not known here.
            guard !origin.isAddress, named.contains("."), origin.host.hasSuffix("." + named) else { return nil }
            (domain, isHostOnly) = (named, false)
        }
        let given = attributes["path"] ?? ""
        path = given.hasPrefix("/") ? given : request.cookieFolder
        // Names that promise something are held to it (RFC 6265bis, 4.1.3).
        guard origin.isSecure || !saysSecure else { return nil }
        if name.hasPrefix("__Secure-") || name.hasPrefix("__Host-"), !saysSecure { return nil }
        if name.hasPrefix("__Host-"), !isHostOnly || path != "/" { return nil }
    }

    /// Whether it goes with a request.
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
    /// Name and place without the value.
    public var description: String { "\(name)=‹redacted›; Domain=\(domain); Path=\(path)" }
    /// Nothing of what it holds.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

extension HTTPRequest {
    /// The folder of the path, which is a cookie's path where it names none (RFC 6265, 5.1.4).
    fileprivate var cookieFolder: String {
        let path = (path ?? "/").prefix { $0 != "?" }
        guard let slash = path.lastIndex(of: "/"), slash != path.startIndex else { return "/" }
        return String(path[..<slash])
    }
}
