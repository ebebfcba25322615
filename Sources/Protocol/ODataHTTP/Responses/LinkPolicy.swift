import HTTPTypes

/// Decides where the links lead that a service gives: next and delta links, and those to the result of a request that goes on.
///
/// | the link | what happens |
/// | --- | --- |
/// | has the scheme, host and port of the service root | is asked as it is |
/// | leads to one of ``followedHosts`` | is followed, without credentials |
/// | has a path below the service root | is asked at the service root's own scheme, host and port |
/// | leads anywhere else | is refused |
///
/// The third row is for services behind a proxy, which know their own address only as it is behind it. No link leads from https
/// to http.
public struct LinkPolicy: Hashable, Sendable {
    /// The hosts besides the service's own to which links are followed, in lower case: `host`, or `host:port` for one port alone.
    public var followedHosts: Set<String>

    /// Makes a policy.
    ///
    /// - Parameter followedHosts: hosts besides the service's own, with or without a port.
    public init(followedHosts: Set<String> = []) { self.followedHosts = Set(followedHosts.map { $0.lowercased() }) }

    /// The address at which a link is asked.
    ///
    /// - Parameters:
    ///   - link: absolute, or relative to the service root.
    ///   - root: where the service is.
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

    /// A path and its query without the segments `.` and `..` (RFC 3986, 5.2.4), encoded ones (6.2.2.2) included.
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
    /// Whether a path, with or without a query, is the root's or below it.
    fileprivate func isAbove(_ text: String) -> Bool {
        if text.utf8.starts(with: path.utf8) { return true }
        return text.prefix { $0 != "?" } == path.dropLast()
    }
}
