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
///         clientSecret: password),
///     transport: transport)
/// let client = try ODataClient(serviceRoot: root, transport: transport, authentication: Authentication(oauth))
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
        /// A person has signed in with ``OAuth2DeviceFlow`` or ``OAuth2BrowserFlow``, and the store has the tokens.
        ///
        /// If the store has no tokens, or if they cannot be renewed, requests fail with
        /// ``OAuth2Error/signInNeeded``.
        case signedIn
    }

    /// The authorization server and the requested token.
    ///
    /// ```swift
    /// let configuration = OAuth2.Configuration(
    ///     tokenEndpoint: "https://login.example/token", clientID: "app", scopes: ["openid", "offline_access"])
    /// let oauth = try OAuth2(configuration, transport: transport, store: tokenStore)
    /// ```
    public struct Configuration: Sendable, CustomStringConvertible, CustomReflectable {
        /// The URL at which tokens are requested. It must use HTTPS, or be on this machine.
        public var tokenEndpoint: String
        /// The URL at which tokens are revoked (RFC 7009); `nil` if the server has none.
        public var revocationEndpoint: String?
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
        /// The time before its expiry at which a token is renewed, at most half of its lifetime.
        public var refreshMargin: Duration

        /// Creates a configuration.
        public init(
            tokenEndpoint: String, clientID: String, grant: Grant = .signedIn, clientSecret: String? = nil,
            sendsSecretInBody: Bool = false, scopes: [String] = [], parameters: [String: String] = [:],
            refreshMargin: Duration = .seconds(60), revocationEndpoint: String? = nil
        ) {
            self.tokenEndpoint = tokenEndpoint
            self.revocationEndpoint = revocationEndpoint
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
            @Sendable func usable(_ stored: OAuth2Tokens?) -> OAuth2Tokens? {
                guard let stored, stored.accessToken != last?.accessToken, stored.isGood(at: now(), margin: margin)
                else { return nil }
                return stored
            }
            // The tokens of an earlier launch, or those that another process has renewed.
            if let current = usable(try await store.tokens()) { return current }
            return try await store.exclusively {
                // A refresh token may be valid only once: another process may have used it meanwhile.
                let stored = try await store.tokens()
                if let current = usable(stored) { return current }
                let fresh = try await endpoint.tokens(refreshing: stored?.refreshToken)
                try await store.save(fresh)
                return fresh
            }
        }
    }

    /// Adds the access token, and renews it first if it is about to expire.
    ///
    /// - Throws: ``OAuth2Error``, and the errors of the transport and the store.
    public func prepare(_ request: inout HTTPRequest) async throws {
        let time = now()
        let current = try await tokens.value { $0.isGood(at: time, margin: margin) }
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

    /// Forgets all tokens, in the store too, and revokes them if the server has a revocation endpoint (RFC 7009).
    ///
    /// The next request obtains new tokens.
    ///
    /// - Throws: ``OAuth2Error`` and the errors of the transport if the server did not confirm the revocation. The
    ///   tokens are removed from the store in this case, too.
    public func signOut() async throws {
        let store = store
        let removed = try await store.exclusively {
            let stored = try await store.tokens()
            try await store.save(nil)
            return stored
        }
        await tokens.set(nil)
        if let removed { try await endpoint.revoke(removed) }
    }
}

/// The tokens that a token endpoint has issued (RFC 6749, 5.1).
///
/// ```swift
/// if let tokens = try await tokenStore.tokens(), let expires = tokens.expires {
///     show("signed in until \(Date(timeIntervalSince1970: Double(expires)))")
/// }
/// ```
public struct OAuth2Tokens: Sendable, Hashable, Codable, CustomStringConvertible, CustomReflectable {
    /// The token that is sent to services.
    public let accessToken: String
    /// The token that obtains new tokens, if the server has issued one.
    public let refreshToken: String?
    /// The expiry of the access token in seconds since 1970; `nil` if the server does not state it.
    public let expires: Int64?
    /// The time at which the access token was requested, in seconds since 1970; `nil` if it is unknown.
    public let issued: Int64?

    /// Creates a set of tokens.
    public init(accessToken: String, refreshToken: String?, expires: Int64?, issued: Int64? = nil) {
        self.accessToken = accessToken
        self.refreshToken = refreshToken
        self.expires = expires
        self.issued = issued
    }

    /// Returns whether the access token is used at a time without being renewed.
    ///
    /// - Parameter margin: The seconds before the expiry at which a token is renewed. A token that lives less than
    ///   twice as long is renewed after half of its lifetime, so that it serves more than one request.
    func isGood(at time: Int64, margin: Int64) -> Bool {
        guard let expires else { return true }
        guard expires > time else { return false }
        let rest = Self.seconds(from: time, to: expires)
        let lifetime = issued.map { Self.seconds(from: $0, to: expires) } ?? .max
        return rest > min(margin, max(0, lifetime / 2))
    }

    /// Returns a difference of times; the largest number if it cannot be represented.
    private static func seconds(from start: Int64, to end: Int64) -> Int64 {
        let (seconds, isOutside) = end.subtractingReportingOverflow(start)
        return isOutside ? .max : seconds
    }

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
    /// Runs a renewal of the tokens while no other process runs one.
    ///
    /// Servers may accept a refresh token only once, and revoke all tokens if it arrives twice. A store that several
    /// processes share therefore holds a lock of the operating system during the call. By default, there is none.
    func exclusively<Result: Sendable>(_ body: @Sendable () async throws -> Result) async throws -> Result
}

extension OAuth2TokenStore {
    /// Runs the renewal without a lock, for a store that only one process uses.
    public func exclusively<Result: Sendable>(_ body: @Sendable () async throws -> Result) async throws -> Result {
        try await body()
    }
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
