import ErrorCodes
import Foundation
import HTTPTypes
import ODataHTTP
import ODataService

/// OAuth 2.0 (RFC 6749): gets access tokens, renews them before they expire, and once when the service refuses one.
///
/// However many requests need a token at the same time, it is asked for once. A token is looked at each time a
/// request is sent, repeats included, so one that expires within a long transfer is renewed when the transfer goes on.
///
/// ```swift
/// let oauth = try OAuth2(
///     .init(tokenEndpoint: "https://login.example/token", clientID: "app", grant: .clientCredentials,
///         clientSecret: secret),
///     transport: transport)
/// configuration.authentication = Authentication(oauth)
/// ```
public final class OAuth2: AuthenticationStep {
    /// How the first token is got.
    public enum Grant: Sendable {
        /// By the client's own secret (RFC 6749, 4.4).
        case clientCredentials
        /// By a person in a browser (RFC 6749, 4.1), with a proof key (RFC 7636).
        ///
        /// - Parameters:
        ///   - endpoint: where the person signs in.
        ///   - redirectURI: where the browser is sent back to.
        ///   - browse: shows a URL in a browser and gives the URL that it was sent back to.
        case authorizationCode(
            endpoint: String, redirectURI: String, browse: @Sendable (_ url: String) async throws -> String)
    }

    /// Whom to ask, and for what.
    public struct Configuration: Sendable, CustomStringConvertible, CustomReflectable {
        /// Where tokens are got; over HTTPS, or on this machine.
        public var tokenEndpoint: String
        /// What the client is called there.
        public var clientID: String
        /// Its secret; `nil` for apps, which can keep none.
        public var clientSecret: String?
        /// Whether the secret stands in the body and not in `Authorization` (RFC 6749, 2.3.1).
        public var sendsSecretInBody: Bool
        /// How the first token is got.
        public var grant: Grant
        /// What the token is to allow.
        public var scopes: [String]
        /// Further parameters of each token request, such as `resource` or `audience`.
        public var parameters: [String: String]
        /// How long before its end a token is renewed.
        public var refreshMargin: Duration

        /// Makes a configuration.
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

        /// Nothing of what it holds.
        public var description: String { "‹redacted›" }
        /// Nothing of what it holds.
        public var customMirror: Mirror { Mirror(self, children: [:]) }
    }

    private let endpoint: OAuth2Endpoint
    private let store: any OAuth2TokenStore
    private let margin: Int64
    private let now: @Sendable () -> Int64
    private let tokens: SingleFlight<OAuth2Tokens>

    /// Makes the step; nothing is asked for yet.
    ///
    /// - Parameters:
    ///   - transport: carries the requests for tokens. Credentials of a service have no place in it.
    ///   - store: keeps tokens across launches.
    ///   - now: the seconds since 1970.
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
            // The first call takes what an earlier launch has left, unless it is over.
            let stored = try await store.tokens()
            if last == nil, let stored, stored.isGood(at: now() + margin) { return stored }
            let fresh = try await endpoint.tokens(refreshing: last?.refreshToken ?? stored?.refreshToken)
            try await store.save(fresh)
            return fresh
        }
    }

    /// Adds the access token, a new one if the last one is about to end.
    ///
    /// - Throws: ``OAuth2Error``, and what the transport and the store throw.
    public func prepare(_ request: inout HTTPRequest) async throws {
        let limit = now() + margin
        let current = try await tokens.value { $0.isGood(at: limit) }
        TokenPlacement.bearer.put(current.accessToken, into: &request)
    }

    /// Renews the token that was refused, once for an exchange.
    public func answer(_ challenge: AuthenticationChallenge) async throws -> AuthenticationAnswer {
        guard challenge.attempt == 1, let current = await tokens.current else { return .decline }
        // Another request may have renewed it already.
        guard TokenPlacement.bearer.holds(current.accessToken, in: challenge.request) else { return .retry }
        _ = try await tokens.value(otherThan: current)
        return .retry
    }

    /// Forgets all tokens, in the store too; the next request asks for new ones.
    public func signOut() async throws {
        await tokens.set(nil)
        try await store.save(nil)
    }
}

/// What a token endpoint has given (RFC 6749, 5.1).
public struct OAuth2Tokens: Sendable, Hashable, Codable, CustomStringConvertible, CustomReflectable {
    /// The token for services.
    public let accessToken: String
    /// The token for new tokens, if there is one.
    public let refreshToken: String?
    /// When the access token ends, in seconds since 1970; `nil` when that is not said.
    public let expires: Int64?

    /// Makes tokens.
    public init(accessToken: String, refreshToken: String?, expires: Int64?) {
        self.accessToken = accessToken
        self.refreshToken = refreshToken
        self.expires = expires
    }

    func isGood(at time: Int64) -> Bool { (expires ?? .max) > time }

    /// Nothing of what it holds.
    public var description: String { "‹redacted›" }
    /// Nothing of what it holds.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

/// Keeps tokens across launches, in a vault for instance.
public protocol OAuth2TokenStore: Sendable {
    /// What is kept.
    func tokens() async throws -> OAuth2Tokens?
    /// Keeps tokens in place of the last ones; `nil` forgets them.
    func save(_ tokens: OAuth2Tokens?) async throws
}

/// Keeps tokens in memory.
public actor MemoryTokenStore: OAuth2TokenStore {
    private var kept: OAuth2Tokens?

    /// Makes a store.
    public init(_ tokens: OAuth2Tokens? = nil) { kept = tokens }

    /// What is kept.
    public func tokens() -> OAuth2Tokens? { kept }
    /// Keeps tokens.
    public func save(_ tokens: OAuth2Tokens?) { kept = tokens }
}

/// Why no token could be had.
public enum OAuth2Error: Error, Hashable, Sendable, CustomStringConvertible {
    /// The endpoint is no URL, or is to be spoken to in clear over a network.
    case insecureEndpoint(String)
    /// The server refuses (RFC 6749, 4.1.2.1 and 5.2): its code, such as `invalid_grant`, and its words.
    case refused(code: String, description: String?)
    /// The browser was sent back with another `state` than it was sent with: somebody else's answer.
    case stateMismatch
    /// The browser was sent back without a code.
    case noCode
    /// The endpoint answered with something else than tokens.
    case invalidResponse(status: Int, reason: String)

    /// What is wrong.
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
