import HTTPTypes

/// A policy for the links of a service: next links, delta links and links to asynchronous results.
///
/// | link | result |
/// | --- | --- |
/// | scheme, host and port of the service root | is requested unchanged |
/// | one of ``followedHosts`` | is requested without credentials |
/// | a path below the service root | is requested at the scheme, host and port of the service root |
/// | any other | is refused |
///
/// The third row is for services behind a proxy that only know their internal address. A link from https to http is
/// always refused.
public struct LinkPolicy: Hashable, Sendable {
    /// Additional hosts to which links are followed, in lower case: `host`, or `host:port` for a single port.
    public var followedHosts: Set<String>

    /// Creates a policy.
    ///
    /// - Parameter followedHosts: additional hosts to which links are followed, with or without a port.
    public init(followedHosts: Set<String> = []) { self.followedHosts = Set(followedHosts.map { $0.lowercased() }) }

    /// Returns the URL at which a link is requested.
    ///
    /// - Parameters:
    ///   - link: the link, absolute or relative to the service root.
    ///   - root: the root URL of the service.
    /// - Throws: ``TransportError``: `foreignLink`, `insecureLink`, `invalidURL`.
    public func address(of link: String, in root: ServiceRoot) throws(TransportError) -> String {
        guard let own = root.origin else { return link }
        let request = try root.request(.get, url: root.url(for: link))
        guard let target = Origin(request) else { throw .invalidURL(link) }
        guard target != own else {
            let (path, given) = (Self.withoutDots(request.path ?? "/"), request.path ?? "/")
            guard path != given, let scheme = root.scheme, let authority = root.authority else { return link }
            return "\(scheme)://\(authority)\(path)"
        }
        if follows(target) {
            guard target.isSecure || !own.isSecure else {
                throw .insecureLink(origin: target.description, service: own.description)
            }
            return link
        }
        let path = Self.withoutDots(request.path ?? "/")
        guard let scheme = root.scheme, let authority = root.authority, root.isAbove(path) else {
            throw own.isSecure && !target.isSecure
                ? .insecureLink(origin: target.description, service: own.description)
                : .foreignLink(origin: target.description, service: own.description)
        }
        return "\(scheme)://\(authority)\(path)"
    }

    private func follows(_ origin: Origin) -> Bool {
        let host = origin.host.contains(":") ? "[\(origin.host)]" : origin.host
        return followedHosts.contains(host) || followedHosts.contains(origin.host)
            || followedHosts.contains("\(host):\(origin.port)")
    }

    /// Returns a path and its query without `.` and `..` segments (RFC 3986, 5.2.4), including encoded ones
    /// (6.2.2.2).
    static func withoutDots(_ path: String) -> String {
        let end = path.firstIndex(of: "?") ?? path.endIndex
        var segments: [Substring] = []
        let parts = path[..<end].split(separator: "/", omittingEmptySubsequences: false).dropFirst()
        for (index, part) in parts.enumerated() {
            let isLast = index == parts.count - 1
            switch part.lowercased().replacing("%2e", with: ".") {
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

extension ServiceRoot {
    /// Returns whether a path, with or without a query, is that of the root or below it.
    fileprivate func isAbove(_ text: String) -> Bool {
        if text.utf8.starts(with: path.utf8) { return true }
        return text.prefix { $0 != "?" } == path.dropLast()
    }
}
