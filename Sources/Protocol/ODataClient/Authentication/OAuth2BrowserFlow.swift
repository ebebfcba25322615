import Foundation
import ODataHTTP

/// A sign-in with a browser on the same machine (RFC 6749, 4.1; RFC 8252), protected by a proof key (RFC 7636, S256).
///
/// ```swift
/// let flow = try OAuth2BrowserFlow(configuration, server: server, transport: transport)
/// let tokens = try await flow.signIn(redirectURI: "app://back") { url in try await openBrowser(url) }
/// try await tokenStore.save(tokens)
/// ```
public struct OAuth2BrowserFlow: Sendable {
    private let client: OAuth2Endpoint
    private let endpoint: String
    private let issuer: String?
    private let requiresIssuer: Bool

    /// Creates a flow for a server whose metadata is known.
    ///
    /// - Parameters:
    ///   - configuration: The client and the requested scopes; the grant does not matter.
    ///   - server: The authorization server. Its token endpoint replaces that of the configuration.
    ///   - transport: Sends the token request. It must not add the credentials of a service.
    ///   - now: Returns the current time in seconds since 1970.
    /// - Throws: ``OAuth2Error/insecureEndpoint(_:)``; ``OAuth2Error/invalidMetadata(issuer:reason:)`` for a server
    ///   without an authorization endpoint.
    public init(
        _ configuration: OAuth2.Configuration, server: OAuth2Server, transport: any HTTPTransport,
        now: @escaping @Sendable () -> Int64 = { Int64(Date().timeIntervalSince1970) }
    ) throws(OAuth2Error) {
        guard let endpoint = server.authorizationEndpoint else {
            throw .invalidMetadata(
                issuer: server.name, reason: "it has no authorization endpoint that supports proof keys")
        }
        try OAuth2Endpoint.check(endpoint)
        var configuration = configuration
        configuration.tokenEndpoint = server.tokenEndpoint
        client = try OAuth2Endpoint(configuration, transport: transport, now: now)
        self.endpoint = endpoint
        issuer = server.issuer
        requiresIssuer = server.sendsIssuer
    }

    /// Creates a flow for an endpoint that was checked.
    init(client: OAuth2Endpoint, endpoint: String) {
        self.client = client
        self.endpoint = endpoint
        issuer = nil
        requiresIssuer = false
    }

    /// Lets a person sign in.
    ///
    /// - Parameters:
    ///   - redirectURI: The URL to which the browser is redirected afterwards. On a loopback address, only this
    ///     machine can receive it (RFC 8252, 7.3).
    ///   - browse: Shows a URL in a browser and returns the URL to which the browser was redirected.
    /// - Throws: ``OAuth2Error``, and the errors of the transport and of `browse`.
    public func signIn(
        redirectURI: String, browse: @Sendable (_ url: String) async throws -> String
    ) async throws -> OAuth2Tokens {
        let key = ProofKey()
        let state = ProofKey.random()
        let query = FormEncoding.encode(
            [
                ("response_type", "code"), ("client_id", client.configuration.clientID), ("redirect_uri", redirectURI),
                ("state", state), ("code_challenge", key.challenge), ("code_challenge_method", "S256"),
            ] + client.scope)
        let landing = try await browse(endpoint + (endpoint.contains("?") ? "&" : "?") + query)
        return try await client.tokens(for: [
            ("grant_type", "authorization_code"), ("code", try code(in: landing, state: state)),
            ("redirect_uri", redirectURI), ("code_verifier", key.verifier),
        ])
    }

    /// Returns the authorization code in the URL to which the browser was redirected.
    private func code(in landing: String, state: String) throws(OAuth2Error) -> String {
        let pairs = FormEncoding.pairs(in: landing.drop { $0 != "?" }.dropFirst().prefix { $0 != "#" })
        let answer = Dictionary(pairs) { $1 }
        // A parameter must not occur twice (RFC 6749, 3.1).
        let isAmbiguous = ["state", "code", "iss", "error"].contains { name in
            pairs.filter { $0.0 == name }.count > 1
        }
        guard !isAmbiguous, answer["state"] == state else { throw .stateMismatch }
        if let issuer {
            guard answer["iss"] ?? (requiresIssuer ? nil : issuer) == issuer else { throw .issuerMismatch }
        }
        if let error = answer["error"] {
            throw .refusal(code: error, description: answer["error_description"], hiding: [state])
        }
        guard let code = answer["code"], !code.isEmpty else { throw .noCode }
        return code
    }
}
