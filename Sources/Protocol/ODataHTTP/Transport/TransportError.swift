import ErrorCodes

/// The error for a missing or incomplete response.
///
/// ```swift
/// do {
///     try await store.sync()
/// } catch TransportError.cannotConnect(let host, let reason) {
///     show("\(host) cannot be reached: \(reason)")
/// }
/// ```
public enum TransportError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The transport does not support the URL.
    case invalidURL(String)
    /// No connection was established, so the request did not reach the service.
    case cannotConnect(host: String, reason: String)
    /// The certificate of the server is not trusted, so the request was not sent.
    case untrustedCertificate(host: String, reason: String)
    /// The server rejected the client certificate, or requires one. The request was not executed.
    case clientCertificateRefused(host: String, reason: String)
    /// The proxy requires authentication (RFC 9110, 15.5.8), so the request did not reach the service.
    case proxyAuthenticationRequired(proxy: String)
    /// The response did not arrive in time; the request may have been executed.
    case timedOut(host: String)
    /// The connection was lost after the request had started; the request may have been executed.
    case connectionLost(host: String, reason: String)
    /// The body ended early or broke the protocol.
    case truncated(host: String, reason: String)
    /// The response is not HTTP: another service uses this address, or an intermediary responded.
    case malformed(host: String, reason: String)
    /// The response exceeds a limit of the client, because of an attack or a faulty service. A repeat would give
    /// the same response.
    case tooLarge(host: String, reason: String)
    /// The body of the response arrived more slowly than a limit of the client allows.
    case tooSlow(host: String, reason: String)
    /// Credentials, or fields that may contain them, would be sent unencrypted to another machine; nothing was
    /// sent.
    case plainHTTP(host: String)
    /// A link of the service leads to another origin and not below the service root; it was not followed.
    case foreignLink(origin: String, service: String)
    /// A link of an https service leads to plain http; it was not followed.
    case insecureLink(origin: String, service: String)
    /// The transport does not support a requested option; nothing was sent.
    case unsupportedOption(String, transport: String)

    /// Whether the service certainly did not receive the request, so that it can be repeated.
    public var isCertainlyUnsent: Bool {
        switch self {
        case .invalidURL, .cannotConnect, .untrustedCertificate, .clientCertificateRefused,
            .proxyAuthenticationRequired, .plainHTTP, .foreignLink, .insecureLink, .unsupportedOption:
            true
        case .timedOut, .connectionLost, .truncated, .malformed, .tooLarge, .tooSlow: false
        }
    }

    /// A message with the problem and the host.
    public var description: String {
        switch self {
        case .invalidURL(let url): "\(url) is not an http or https URL."
        case .cannotConnect(let host, let reason): "Cannot connect to \(host): \(reason)"
        case .untrustedCertificate(let host, let reason): "The certificate of \(host) is not trusted: \(reason)"
        case .clientCertificateRefused(let host, let reason): "\(host) refuses the client's certificate: \(reason)"
        case .proxyAuthenticationRequired(let proxy): "The proxy \(proxy) requires a user name and a password."
        case .timedOut(let host): "\(host) did not answer in time."
        case .connectionLost(let host, let reason): "The connection to \(host) was lost: \(reason)"
        case .truncated(let host, let reason): "The answer of \(host) is incomplete: \(reason)"
        case .malformed(let host, let reason): "The answer of \(host) cannot be understood: \(reason)"
        case .tooLarge(let host, let reason): "The answer of \(host) was refused: \(reason)"
        case .tooSlow(let host, let reason): "The answer of \(host) was given up: \(reason)"
        case .plainHTTP(let host):
            "Credentials are not sent to \(host): without https, anyone on the network can read them."
        case .foreignLink(let origin, let service):
            "A link of the service at \(service) leads to \(origin), and was not followed."
        case .insecureLink(let origin, let service):
            "A link of the service at \(service) leads to \(origin), which is not encrypted, and was not followed."
        case .unsupportedOption(let option, let transport):
            "Cannot send the request: \(transport) does not support the option \(option). Use another transport, or leave the option out."
        }
    }
}

extension TransportError: CodedError {
    /// `transport.…`.
    public var errorCode: ErrorCode {
        let name =
            switch self {
            case .invalidURL: "invalid-url"
            case .cannotConnect: "cannot-connect"
            case .untrustedCertificate: "untrusted-certificate"
            case .clientCertificateRefused: "client-certificate-refused"
            case .proxyAuthenticationRequired: "proxy-authentication"
            case .timedOut: "timed-out"
            case .connectionLost: "connection-lost"
            case .truncated: "truncated"
            case .malformed: "malformed"
            case .tooLarge: "too-large"
            case .tooSlow: "too-slow"
            case .plainHTTP: "plain-http"
            case .foreignLink: "foreign-link"
            case .insecureLink: "insecure-link"
            case .unsupportedOption: "unsupported-option"
            }
        return ErrorCode(rawValue: "transport.\(name)")
    }

    /// The host and what happened.
    public var errorArguments: [String: String] {
        switch self {
        case .invalidURL(let url): ["url": url]
        case .timedOut(let host), .proxyAuthenticationRequired(let host), .plainHTTP(let host): ["host": host]
        case .foreignLink(let origin, let service), .insecureLink(let origin, let service):
            ["origin": origin, "service": service]
        case .unsupportedOption(let option, let transport): ["option": option, "transport": transport]
        case .cannotConnect(let host, let reason), .untrustedCertificate(let host, let reason),
            .clientCertificateRefused(let host, let reason), .connectionLost(let host, let reason),
            .truncated(let host, let reason), .malformed(let host, let reason), .tooLarge(let host, let reason),
            .tooSlow(let host, let reason):
            ["host": host, "reason": reason]
        }
    }

    /// Whether the request may have acted.
    public var failureKind: FailureKind {
        switch self {
        case .invalidURL, .unsupportedOption: .request
        case .cannotConnect: .connection
        case .untrustedCertificate: .trust
        case .clientCertificateRefused, .proxyAuthenticationRequired: .credentials
        case .timedOut, .connectionLost, .truncated, .tooSlow: .inDoubt
        case .malformed, .tooLarge, .foreignLink, .insecureLink: .answer
        case .plainHTTP: .trust
        }
    }
}
