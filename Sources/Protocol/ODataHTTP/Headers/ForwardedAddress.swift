import HTTPTypes

/// The URL under which a client reached the service through a proxy, from `Forwarded` (RFC 7239) or else from the
/// older `X-Forwarded-…` fields.
///
/// The fields may only be trusted if one's own proxy overwrites them, because any client can send them.
struct ForwardedAddress: Hashable {
    /// The scheme, `http` or `https`.
    var scheme: String?
    /// The host and port.
    var authority: String?
    /// The path prefix that the proxy removed, without a final slash.
    var prefix: String?

    init(_ fields: HTTPFields) {
        if let name = HTTPField.Name("Forwarded"), let text = fields[name] {
            read(forwarded: text)
        } else {
            scheme = Self.first(fields, "X-Forwarded-Proto")
            authority = Self.first(fields, "X-Forwarded-Host")
            if let port = Self.first(fields, "X-Forwarded-Port"), UInt16(port) != nil, let host = authority,
                !Self.hasPort(host), !Self.isUsual(port, scheme)
            {
                authority = "\(host):\(port)"
            }
        }
        prefix = Self.first(fields, "X-Forwarded-Prefix").map { $0.hasSuffix("/") ? String($0.dropLast()) : $0 }
        sanitize()
    }

    /// Reads the first element, which is from the proxy that the client connected to.
    private mutating func read(forwarded text: String) {
        guard let element = HeaderTokens.split(text, at: ",").first else { return }
        for pair in HeaderTokens.split(element, at: ";") {
            guard let equals = pair.firstIndex(of: "=") else { continue }
            let value = HeaderTokens.unquote(pair[pair.index(after: equals)...])
            switch HeaderTokens.trim(pair[..<equals]).lowercased() {
            case "proto": scheme = value
            case "host": authority = value
            default: break
            }
        }
    }

    /// Removes values that are not valid in a URL, so that the fields cannot insert other text into links.
    private mutating func sanitize() {
        scheme = scheme?.lowercased()
        if scheme != "http", scheme != "https" { scheme = nil }
        if let host = authority, (try? ServiceRoot("http://\(host)/"))?.authority != host || host.contains("/") {
            authority = nil
        }
        if let path = prefix, !path.hasPrefix("/") || (try? ServiceRoot(path)) == nil { prefix = nil }
    }

    private static func first(_ fields: HTTPFields, _ name: String) -> String? {
        guard let name = HTTPField.Name(name), let value = fields[name] else { return nil }
        return HeaderTokens.split(value, at: ",").first.flatMap { $0.isEmpty ? nil : $0 }
    }

    private static func hasPort(_ host: String) -> Bool {
        guard let colon = host.lastIndex(of: ":") else { return false }
        return !host[colon...].contains("]")
    }

    private static func isUsual(_ port: String, _ scheme: String?) -> Bool {
        port == (scheme?.lowercased() == "https" ? "443" : "80")
    }
}
