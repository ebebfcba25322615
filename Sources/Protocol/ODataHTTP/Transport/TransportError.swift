import ErrorCodes

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
    /// The answer is not HTTP: something else listens at this address, or answers in between.
    case malformed(host: String, reason: String)
    /// The answer exceeds a limit of the client, as an attack or a faulty service does: the same request would give the
    /// same answer.
    case tooLarge(host: String, reason: String)
    /// The body of the answer came more slowly than a limit of the client allows.
    case tooSlow(host: String, reason: String)
    /// Credentials, or header fields that may hold some, would go over plain http to another machine: nothing was sent.
    case plainHTTP(host: String)
    /// A link of the service leads to another origin, and not below the service root: it was not followed.
    case foreignLink(origin: String, service: String)
    /// A link of a service that is reached over https leads to plain http: it was not followed.
    case insecureLink(origin: String, service: String)
    /// The transport cannot do something that the request's options ask for: nothing was sent.
    case unsupportedOption(String, transport: String)

    /// Whether the service certainly did not see the request, so that it can be sent again.
    public var isCertainlyUnsent: Bool {
        switch self {
        case .invalidURL, .cannotConnect, .untrustedCertificate, .clientCertificateRefused,
            .proxyAuthenticationRequired, .plainHTTP, .foreignLink, .insecureLink, .unsupportedOption:
            true
        case .timedOut, .connectionLost, .truncated, .malformed, .tooLarge, .tooSlow: false
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
        case .malformed(let host, let reason): "The answer of \(host) cannot be understood: \(reason)"
        case .tooLarge(let host, let reason): "The answer of \(host) was refused: \(reason)"
        case .tooSlow(let host, let reason): "The answer of \(host) was given up: \(reason)"
        case .plainHTTP(let host):
            "Credentials are not sent to \(host): without https, everybody on the way can read them."
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
