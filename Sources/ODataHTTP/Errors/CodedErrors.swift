import ErrorCodes

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

extension InvalidResponseError: CodedError {
    /// `answer.…`.
    public var errorCode: ErrorCode {
        let name =
            switch problem {
            case .webPage: "web-page"
            case .mediaType: "media-type"
            case .malformed: "malformed"
            case .unknownContext: "unknown-context"
            case .redirect: "redirect"
            case .tooLarge: "too-large"
            }
        return ErrorCode(rawValue: "answer.\(name)")
    }

    /// The address and the place.
    public var errorArguments: [String: String] {
        ["url": url, "status": String(status), "reason": description]
    }
    /// The answer cannot be understood.
    public var failureKind: FailureKind { .answer }
}

extension ClientIdentityError: CodedError {
    /// `configuration.unusable-identity`.
    public var errorCode: ErrorCode { ErrorCode(rawValue: "configuration.unusable-identity") }
    /// Another certificate, or another password for it.
    public var failureKind: FailureKind { .credentials }
}
