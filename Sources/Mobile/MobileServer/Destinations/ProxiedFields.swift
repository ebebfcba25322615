import HTTPTypes
import ODataHTTP

/// The header fields that a proxy passes on (RFC 9110, 7.6.1).
enum ProxiedFields {
    /// Fields between two neighbours only.
    private static let hopByHop: Set = [
        "connection", "keep-alive", "proxy-authenticate", "proxy-authorization", "proxy-connection", "te", "trailer",
        "transfer-encoding", "upgrade", "http2-settings", "expect",
    ]
    /// Fields of a request that speak to this server, or that tell a back end about the device's connection.
    private static let ofRequests: Set = [
        "host", "authorization", "cookie", "dpop", "forwarded", "x-forwarded-for", "x-forwarded-host",
        "x-forwarded-proto", "x-forwarded-port", "x-forwarded-prefix", "x-real-ip", "via", "origin", "referer",
        "accept-encoding", "content-length", "x-csrf-token", "ssl_client_cert", "x-smp-backend-url",
        "access-control-request-method", "access-control-request-headers", "upgrade-insecure-requests", "priority",
    ]
    /// Fields of a response that speak to this server, or that only the origin of a page may set.
    private static let ofResponses: Set = [
        "set-cookie", "set-cookie2", "server", "strict-transport-security", "alt-svc", "x-csrf-token", "x-powered-by",
        "content-encoding", "content-length", "www-authenticate", "public-key-pins", "clear-site-data",
        "content-security-policy", "content-security-policy-report-only", "refresh", "via", "x-frame-options", "nel",
        "report-to",
    ]
    /// The start of the names of this server's own fields.
    private static let ownPrefixes = ["outpost-", "sec-", "proxy-"]

    /// Returns the fields of a request without those that must not reach a back end.
    static func request(_ fields: HTTPFields) -> HTTPFields { filtered(fields) { isOfServer($0, ofRequests) } }

    /// Returns the fields of a response without those that must not reach a device.
    static func response(_ fields: HTTPFields) -> HTTPFields {
        filtered(fields) { isOfServer($0, ofResponses) || $0.hasPrefix("access-control-") }
    }

    /// Returns whether a field of a request within a batch stays with this server.
    static func isKeptBack(_ name: String) -> Bool {
        let name = name.lowercased()
        return name != "content-length" && (hopByHop.contains(name) || isOfServer(name, ofRequests))
    }

    /// Returns whether a field of a response within a batch stays with this server.
    static func isKeptFromDevice(_ name: String) -> Bool {
        let name = name.lowercased()
        return name != "content-length" && (hopByHop.contains(name) || isOfServer(name, ofResponses))
    }

    private static func isOfServer(_ name: String, _ names: Set<String>) -> Bool {
        names.contains(name) || ownPrefixes.contains { name.hasPrefix($0) }
    }

    private static func filtered(_ fields: HTTPFields, _ isDropped: (String) -> Bool) -> HTTPFields {
        // A sender names further fields of the connection.
        let named = fields[values: .connection].flatMap { $0.split(separator: ",") }.map {
            String($0).trimmingSpace().lowercased()
        }
        return HTTPFields(
            fields.filter { field in
                let name = field.name.canonicalName
                return !hopByHop.contains(name) && !named.contains(name) && !isDropped(name)
            })
    }
}
