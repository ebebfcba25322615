import ErrorCodes

/// The reason why no token was obtained.
public enum OAuth2Error: Error, Hashable, Sendable, CustomStringConvertible {
    /// The endpoint is not a URL, or it would be used without TLS over a network.
    case insecureEndpoint(String)
    /// The server refused the request (RFC 6749, 4.1.2.1 and 5.2), with a code such as `invalid_grant` and a
    /// description.
    case refused(code: String, description: String?)
    /// The `state` in the redirect differs from the one that was sent: the response belongs to another sign-in.
    case stateMismatch
    /// The `iss` in the redirect is not the authorization server that was asked (RFC 9207).
    case issuerMismatch
    /// The redirect contains no authorization code.
    case noCode
    /// The response of the endpoint contains no valid tokens.
    case invalidResponse(status: Int, reason: String)
    /// The metadata of an authorization server cannot be used (RFC 8414).
    case invalidMetadata(issuer: String, reason: String)
    /// The person did not finish the sign-in in time (RFC 8628, 3.5).
    case expired
    /// There are no tokens, or the server no longer renews them: a person must sign in.
    case signInNeeded

    /// An explanation of the error.
    public var description: String {
        switch self {
        case .insecureEndpoint(let url): "\(url) is not an https URL."
        case .refused(let code, let text): "The authorization server refuses: \(code)\(text.map { " (\($0))" } ?? "")."
        case .stateMismatch: "The response to the sign-in belongs to another request."
        case .issuerMismatch: "The answer to the sign-in comes from another authorization server."
        case .noCode: "The sign-in ended without a code."
        case .invalidResponse(let status, let reason):
            "The token endpoint answered \(status) without tokens: \(reason)."
        case .invalidMetadata(let issuer, let reason): "The authorization server \(issuer) cannot be used: \(reason)."
        case .expired: "The sign-in was not finished in time."
        case .signInNeeded: "The sign-in has ended, or there was none."
        }
    }
}

extension OAuth2Error: CodedError {
    /// `oauth.…`; what a server refuses by the codes of RFC 6749, 5.2 that an app can do something about.
    public var errorCode: ErrorCode {
        let name =
            switch self {
            case .insecureEndpoint: "insecure-endpoint"
            case .refused("invalid_grant", _), .signInNeeded: "sign-in-again"
            case .refused("access_denied", _): "denied"
            case .refused: "refused"
            case .stateMismatch: "state-mismatch"
            case .issuerMismatch: "issuer-mismatch"
            case .invalidMetadata: "invalid-metadata"
            case .expired: "expired"
            case .noCode: "no-code"
            case .invalidResponse: "invalid-response"
            }
        return ErrorCode(rawValue: "oauth.\(name)")
    }

    /// A refused code or refresh token wants the user to sign in; the rest, whoever set the sign-in up.
    public var failureKind: FailureKind {
        switch self {
        case .insecureEndpoint: .request
        case .refused("temporarily_unavailable", _), .refused("server_error", _): .transient
        case .refused, .stateMismatch, .issuerMismatch, .noCode, .expired, .signInNeeded: .credentials
        case .invalidResponse(let status, _): status >= 500 || status == 429 ? .transient : .answer
        case .invalidMetadata: .answer
        }
    }
}
