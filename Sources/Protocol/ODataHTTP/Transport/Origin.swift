import HTTPTypes
import ODataModel

/// The scheme, host and port of a URL, which determine the recipients of credentials (RFC 6454, 4; RFC 9110,
/// 4.3.1).
public struct Origin: Hashable, Sendable, CustomStringConvertible {
    /// The scheme, `http` or `https`.
    public let scheme: String
    /// The host in lower case, an IPv6 address without brackets.
    public let host: String
    /// The port, or the default port of the scheme.
    public let port: Int

    /// Creates an origin; `nil` unless the scheme is http or https, the host is not empty and the port is valid.
    public init?(scheme: String, authority: String) {
        let scheme = scheme.lowercased()
        guard scheme == "http" || scheme == "https" else { return nil }
        var name = authority.lowercased()[...]
        if let behind = name.halves(atLast: "@")?.behind { name = behind }
        var digits: Substring?
        if name.hasPrefix("["), let end = name.firstIndex(of: "]") {
            let rest = name[name.index(after: end)...]
            guard rest.isEmpty || rest.hasPrefix(":") else { return nil }
            digits = rest.isEmpty ? nil : rest.dropFirst()
            name = name[name.index(after: name.startIndex)..<end]
        } else if let colon = name.lastIndex(of: ":") {
            digits = name[name.index(after: colon)...]
            name = name[..<colon]
        }
        var port = scheme == "https" ? 443 : 80
        if let digits, !digits.isEmpty {
            guard let number = Int(digits), (0...65_535).contains(number) else { return nil }
            port = number
        }
        guard !name.isEmpty else { return nil }
        self.scheme = scheme
        self.port = port
        host = String(name)
    }

    /// Creates the origin of a request; `nil` if it has no http URL.
    public init?(_ request: HTTPRequest) {
        guard let scheme = request.scheme, let authority = request.authority else { return nil }
        self.init(scheme: scheme, authority: authority)
    }

    /// Whether messages to the origin are encrypted.
    public var isSecure: Bool { scheme == "https" }

    /// Whether the host is an address. Certificates rarely contain addresses.
    public var isAddress: Bool {
        host.contains(":")
            || (host.split(separator: ".", omittingEmptySubsequences: false).count == 4
                && host.allSatisfy { $0 == "." || ("0"..."9").contains($0) })
    }

    /// Whether the host is this machine, so that messages do not leave it (RFC 6761, 6.3; RFC 5735, 3; RFC 4291,
    /// 2.5.3).
    public var isLoopback: Bool { Self.isLoopback(host) }

    /// Whether messages can be read on the network: neither encrypted nor to this machine.
    public var isPlain: Bool { !isSecure && !isLoopback }

    /// Returns whether a host, without brackets, is this machine.
    package static func isLoopback(_ host: String) -> Bool {
        let name = host.lowercased()
        if name == "localhost" || name.hasSuffix(".localhost") || name == "::1" || name == "0:0:0:0:0:0:0:1" {
            return true
        }
        let address = name.hasPrefix("::ffff:") ? name.dropFirst("::ffff:".count) : name[...]
        let parts = address.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
    }

    /// The origin in the notation of URLs, without a default port.
    public var description: String {
        let name = host.contains(":") ? "[\(host)]" : host
        return port == (isSecure ? 443 : 80) ? "\(scheme)://\(name)" : "\(scheme)://\(name):\(port)"
    }
}
