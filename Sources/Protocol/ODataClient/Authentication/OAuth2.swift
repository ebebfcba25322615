import ErrorCodes
import Foundation
import HTTPTypes
import ODataHTTP
import ODataService

/// OAuth 2.0 (RFC 6749): obtains access tokens and renews them, before they expire and once if the service
/// refuses one.
///
/// If many requests need a token at the same time, the token is requested once. The expiry is checked each time
/// a request is sent, including repeats. A token that expires during a long transfer is therefore renewed when
/// the transfer resumes.
///
/// ```swift
/// let oauth = try OAuth2(
///     .init(tokenEndpoint: "https://login.example/token", clientID: "app", grant: .clientCredentials,
///         clientSecret: secret),
///     transport: transport)
/// configuration.authentication = Authentication(oauth)
/// ```
public final class OAuth2: AuthenticationStep {
    /// The way in which the first token is obtained.
    public enum Grant: Sendable {
        /// The client's own secret (RFC 6749, 4.4).
        case clientCredentials
        /// A person signs in with a browser (RFC 6749, 4.1), protected by a proof key (RFC 7636).
        ///
        /// - Parameters:
        ///   - endpoint: The URL at which the person signs in.
        ///   - redirectURI: The URL to which the browser is redirected afterwards.
        ///   - browse: Shows a URL in a browser and returns the URL to which the browser was redirected.
        case authorizationCode(
            endpoint: String, redirectURI: String, browse: @Sendable (_ url: String) async throws -> String)
    }

    /// The authorization server and the requested token.
    public struct Configuration: Sendable, CustomStringConvertible, CustomReflectable {
        /// The URL at which tokens are requested. It must use HTTPS, or be on this machine.
        public var tokenEndpoint: String
        /// The identifier of the client at the authorization server.
        public var clientID: String
        /// The client secret; `nil` for apps, which cannot keep one.
        public var clientSecret: String?
        /// Whether the secret is sent in the body and not in `Authorization` (RFC 6749, 2.3.1).
        public var sendsSecretInBody: Bool
        /// The way in which the first token is obtained.
        public var grant: Grant
        /// The requested scopes of the token.
        public var scopes: [String]
        /// Further parameters of each token request, such as `resource` or `audience`.
        public var parameters: [String: String]
        /// The time before its expiry at which a token is renewed.
        public var refreshMargin: Duration

        /// Creates a configuration.
        public init(
            tokenEndpoint: String, clientID: String, grant: Grant, clientSecret: String? = nil,
            sendsSecretInBody: Bool = false, scopes: [String] = [], parameters: [String: String] = [:],
            refreshMargin: Duration = .seconds(60)
        ) {
            self.tokenEndpoint = tokenEndpoint
            self.clientID = clientID
            self.grant = grant
            self.clientSecret = clientSecret
            self.sendsSecretInBody = sendsSecretInBody
            self.scopes = scopes
            self.parameters = parameters
            self.refreshMargin = refreshMargin
        }

        /// A fixed text that reveals no secret.
        public var description: String { "‹redacted›" }
        /// A mirror without children, so that no secret is printed.
        public var customMirror: Mirror { Mirror(self, children: [:]) }
    }

    private let endpoint: OAuth2Endpoint
    private let store: any OAuth2TokenStore
    private let margin: Int64
    private let now: @Sendable () -> Int64
    private let tokens: SingleFlight<OAuth2Tokens>

    /// Creates the step. No token is requested yet.
    ///
    /// - Parameters:
    ///   - transport: Sends the token requests. It must not add the credentials of a service.
    ///   - store: Keeps tokens across launches.
    ///   - now: Returns the current time in seconds since 1970.
    /// - Throws: ``OAuth2Error/insecureEndpoint(_:)``.
    public init(
        _ configuration: Configuration, transport: any HTTPTransport,
        store: any OAuth2TokenStore = MemoryTokenStore(),
        now: @escaping @Sendable () -> Int64 = { Int64(Date().timeIntervalSince1970) }
    ) throws(OAuth2Error) {
        let endpoint = try OAuth2Endpoint(configuration, transport: transport, now: now)
        self.endpoint = endpoint
        self.store = store
        self.now = now
        let margin = configuration.refreshMargin.components.seconds
        self.margin = margin
        tokens = SingleFlight { last in
            // The first call uses the token of an earlier launch, unless it has expired.
            let stored = try await store.tokens()
            if last == nil, let stored, stored.isGood(at: now() + margin) { return stored }
            let fresh = try await endpoint.tokens(refreshing: last?.refreshToken ?? stored?.refreshToken)
            try await store.save(fresh)
            return fresh
        }
    }

    /// Adds the access token, and renews it first if it is about to expire.
    ///
    /// - Throws: ``OAuth2Error``, and the errors of the transport and the store.
    public func prepare(_ request: inout HTTPRequest) async throws {
        let limit = now() + margin
        let current = try await tokens.value { $0.isGood(at: limit) }
        TokenPlacement.bearer.put(current.accessToken, into: &request)
    }

    /// Renews the token that was refused, once in an exchange.
    public func answer(_ challenge: AuthenticationChallenge) async throws -> AuthenticationAnswer {
        guard challenge.attempt == 1, let current = await tokens.current else { return .decline }
        // Another request may have renewed the token already.
        guard TokenPlacement.bearer.holds(current.accessToken, in: challenge.request) else { return .retry }
        _ = try await tokens.value(otherThan: current)
        return .retry
    }

    /// Forgets all tokens, in the store too. The next request obtains new ones.
    public func signOut() async throws {
        await tokens.set(nil)
        try await store.save(nil)
    }
}

/// The tokens that a token endpoint has issued (RFC 6749, 5.1).
public struct OAuth2Tokens: Sendable, Hashable, Codable, CustomStringConvertible, CustomReflectable {
    /// The token that is sent to services.
    public let accessToken: String
    /// The token that obtains new tokens, if the server has issued one.
    public let refreshToken: String?
    /// The expiry of the access token in seconds since 1970; `nil` if the server does not state it.
    public let expires: Int64?

    /// Creates a set of tokens.
    public init(accessToken: String, refreshToken: String?, expires: Int64?) {
        self.accessToken = accessToken
        self.refreshToken = refreshToken
        self.expires = expires
    }

    func isGood(at time: Int64) -> Bool { (expires ?? .max) > time }

    /// A fixed text that reveals no token.
    public var description: String { "‹redacted›" }
    /// A mirror without children, so that no token is printed.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

/// A store that keeps tokens across launches, for instance in a vault.
public protocol OAuth2TokenStore: Sendable {
    /// Returns the saved tokens, or `nil` if there are none.
    func tokens() async throws -> OAuth2Tokens?
    /// Saves tokens and replaces earlier ones; `nil` removes them.
    func save(_ tokens: OAuth2Tokens?) async throws
}

/// A store that keeps tokens in memory until the process ends.
public actor MemoryTokenStore: OAuth2TokenStore {
    private var kept: OAuth2Tokens?

    /// Creates a store with optional initial tokens.
    public init(_ tokens: OAuth2Tokens? = nil) { kept = tokens }

    /// Returns the saved tokens, or `nil` if there are none.
    public func tokens() -> OAuth2Tokens? { kept }
    /// Saves tokens and replaces earlier ones; `nil` removes them.
    public func save(_ tokens: OAuth2Tokens?) { kept = tokens }
}

/// The reason why no token was obtained.
public enum OAuth2Error: Error, Hashable, Sendable, CustomStringConvertible {
    /// The endpoint is not a URL, or it would be used without TLS over a network.
    case insecureEndpoint(String)
    /// The server refused the request (RFC 6749, 4.1.2.1 and 5.2), with a code such as `invalid_grant` and a
    /// description.
    case refused(code: String, description: String?)
    /// The `state` in the redirect differs from the one that was sent: the response belongs to another sign-in.
    case stateMismatch
    /// The redirect contains no authorization code.
    case noCode
    /// The response of the endpoint contains no valid tokens.
    case invalidResponse(status: Int, reason: String)

    /// An explanation of the error.
    public var description: String {
        switch self {
        case .insecureEndpoint(let url): "\(url) is not an https URL."
        case .refused(let code, let text): "The authorization server refuses: \(code)\(text.map { " (\($0))" } ?? "")."
        case .stateMismatch: "The answer to the sign-in belongs to another request."
        case .noCode: "The sign-in ended without a code."
        case .invalidResponse(let status, let reason):
            "The token endpoint answered \(status) without tokens: \(reason)."
        }
    }
}

extension OAuth2Error: CodedError {
    /// `oauth.…`; what a server refuses by the codes of RFC 6749, 5.2 that an app can do something about.
    public var errorCode: ErrorCode {
        let name =
            switch self {
            case .insecureEndpoint: "insecure-endpoint"
            case .refused("invalid_grant", _): "sign-in-again"
            case .refused("access_denied", _): "denied"
            case .refused: "refused"
            case .stateMismatch: "state-mismatch"
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
        case .refused, .stateMismatch, .noCode: .credentials
        case .invalidResponse(let status, _): status >= 500 ? .transient : .answer
        }
    }
}
