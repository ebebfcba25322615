/// Why no response came, or only a part of it.
public enum TransportError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The URL is not one this transport can send to.
    case invalidURL(String)
    /// No connection could be made: nothing reached the service.
    case cannotConnect(host: String, reason: String)
    /// The server's certificate is not trusted: nothing was sent.
    case untrustedCertificate(host: String, reason: String)
    /// The server refused the certificate that the client showed, or wants one: nothing acted.
    case clientCertificateRefused(host: String, reason: String)
    /// The proxy wants to know who asks (RFC 9110, 15.5.8): nothing reached the service.
    case proxyAuthenticationRequired(proxy: String)
    /// Nothing came in time; the request may have acted.
    case timedOut(host: String)
    /// The connection was lost after the request had begun: it may have acted.
    case connectionLost(host: String, reason: String)
    /// The body ended early or broke the protocol.
    case truncated(host: String, reason: String)

    /// Whether the service certainly did not see the request, so that it can be sent again.
    public var isCertainlyUnsent: Bool {
        switch self {
        case .invalidURL, .cannotConnect, .untrustedCertificate, .clientCertificateRefused,
            .proxyAuthenticationRequired:
            true
        case .timedOut, .connectionLost, .truncated: false
        }
    }

    /// What happened and with whom.
    public var description: String {
        switch self {
        case .invalidURL(let url): "\(url) is not an http or https URL."
        case .cannotConnect(let host, let reason): "Cannot connect to \(host): \(reason)"
        case .untrustedCertificate(let host, let reason): "The certificate of \(host) is not trusted: \(reason)"
        case .clientCertificateRefused(let host, let reason): "\(host) refuses the client's certificate: \(reason)"
        case .proxyAuthenticationRequired(let proxy): "The proxy \(proxy) wants a user name and a password."
        case .timedOut(let host): "\(host) did not answer in time."
        case .connectionLost(let host, let reason): "The connection to \(host) was lost: \(reason)"
        case .truncated(let host, let reason): "The answer of \(host) is incomplete: \(reason)"
        }
    }
}
