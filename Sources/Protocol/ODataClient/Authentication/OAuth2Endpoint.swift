import Foundation
import HTTPTypes
import ODataHTTP
import ODataService

/// A client of an authorization server.
struct OAuth2Endpoint: Sendable {
    /// The maximum number of bytes of a response.
    static let maxResponseSize = 65_536

    let configuration: OAuth2.Configuration
    let transport: any HTTPTransport
    let now: @Sendable () -> Int64

    init(
        _ configuration: OAuth2.Configuration, transport: any HTTPTransport, now: @escaping @Sendable () -> Int64
    ) throws(OAuth2Error) {
        try Self.check(configuration.tokenEndpoint)
        if let endpoint = configuration.revocationEndpoint { try Self.check(endpoint) }
        if case .authorizationCode(let endpoint, _, _) = configuration.grant { try Self.check(endpoint) }
        self.configuration = configuration
        self.transport = transport
        self.now = now
    }

    /// Requires TLS or a loopback address, because the request contains secrets (RFC 6749, 3.2).
    static func check(_ url: String) throws(OAuth2Error) {
        guard let root = try? ServiceRoot("/").request(.get, url: url), let origin = Origin(root),
            !origin.isPlain
        else { throw .insecureEndpoint(url) }
    }

    /// Obtains new tokens, with the refresh token if there is one, otherwise by the configured grant.
    func tokens(refreshing refreshToken: String?) async throws -> OAuth2Tokens {
        if let refreshToken {
            do {
                let fresh = try await tokens(for: [("grant_type", "refresh_token"), ("refresh_token", refreshToken)])
                guard fresh.refreshToken == nil else { return fresh }
                // If the server issues no new refresh token, the old one remains valid (RFC 6749, 6).
                return OAuth2Tokens(
                    accessToken: fresh.accessToken, refreshToken: refreshToken, expires: fresh.expires,
                    issued: fresh.issued)
            } catch OAuth2Error.refused(let code, _) where Self.endings.contains(code) {
                // The refresh token has expired; the user or the client must sign in again.
            }
        }
        switch configuration.grant {
        case .clientCredentials:
            return try await tokens(for: [("grant_type", "client_credentials")] + scope)
        case .authorizationCode(let endpoint, let redirectURI, let browse):
            let flow = OAuth2BrowserFlow(client: self, endpoint: endpoint)
            return try await flow.signIn(redirectURI: redirectURI, browse: browse)
        case .signedIn: throw OAuth2Error.signInNeeded
        }
    }

    /// The codes with which servers end a sign-in: RFC 6749, 5.2, and OpenID Connect Core 1.0, 3.1.2.6.
    private static let endings: Set = ["invalid_grant", "interaction_required", "login_required", "consent_required"]

    /// The form parameter with the requested scopes.
    var scope: [(String, String)] {
        configuration.scopes.isEmpty ? [] : [("scope", configuration.scopes.joined(separator: " "))]
    }

    /// Requests tokens with the parameters of a grant.
    func tokens(for grant: [(String, String)]) async throws -> OAuth2Tokens {
        let form = grant + configuration.parameters.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
        let start = now()
        let data = try await post(form, to: configuration.tokenEndpoint)
        return try OAuth2TokenResponse.tokens(in: data, issued: start)
    }

    /// Revokes tokens (RFC 7009, 2.1): the refresh token and with it the access tokens, or else the access token.
    ///
    /// Nothing happens if the server has no revocation endpoint.
    func revoke(_ tokens: OAuth2Tokens) async throws {
        guard let endpoint = configuration.revocationEndpoint else { return }
        let (token, kind) =
            tokens.refreshToken.map { ($0, "refresh_token") } ?? (tokens.accessToken, "access_token")
        _ = try await post([("token", token), ("token_type_hint", kind)], to: endpoint)
    }

    /// Sends a form with the identifier and the secret of the client.
    ///
    /// - Returns: The body of a response with the status 200.
    /// - Throws: ``OAuth2Error/refused(code:description:)`` for an error of OAuth, without the secrets of the form;
    ///   ``OAuth2Error/invalidResponse(status:reason:)`` for any other response.
    func post(_ parameters: [(String, String)], to url: String) async throws -> Data {
        var message = try ServiceRoot("/").request(.post, url: url)
        message.headerFields[.accept] = "application/json"
        message.headerFields[.contentType] = "application/x-www-form-urlencoded"
        var form = parameters
        if let secret = configuration.clientSecret, !configuration.sendsSecretInBody {
            message.headerFields[.authorization] = BasicCredentials.field(
                user: FormEncoding.encode(configuration.clientID), password: FormEncoding.encode(secret))
        } else {
            form.append(("client_id", configuration.clientID))
            if let secret = configuration.clientSecret { form.append(("client_secret", secret)) }
        }
        let (response, stream) = try await transport.send(
            message, body: ByteStream(Array(FormEncoding.encode(form).utf8)))
        let data = Data(try await stream.collect(limit: Self.maxResponseSize))
        let status = response.status.code
        guard status == 200 else {
            guard let refusal = try? JSONDecoder().decode(Refusal.self, from: data) else {
                throw OAuth2Error.invalidResponse(status: status, reason: "it is no error of OAuth")
            }
            let secrets = form.filter { !Self.openParameters.contains($0.0) }.map(\.1)
            throw OAuth2Error.refusal(
                code: refusal.error, description: refusal.error_description,
                hiding: secrets + [configuration.clientSecret].compactMap { $0 })
        }
        return data
    }

    private struct Refusal: Decodable {
        let error: String
        let error_description: String?
    }

    /// The parameters whose values may appear in messages.
    private static let openParameters: Set = [
        "client_id", "grant_type", "redirect_uri", "scope", "token_type_hint", "resource", "audience",
    ]
}

extension OAuth2Error {
    /// Returns the refusal of a server, whose texts are shown to people: bounded, without control characters, and
    /// without the secrets that the server may repeat.
    static func refusal(code: String, description: String?, hiding secrets: [String]) -> OAuth2Error {
        func clean(_ text: String, _ limit: Int) -> String {
            var text = text
            for secret in secrets where secret.count > 3 {
                text = text.replacingOccurrences(of: secret, with: "‹redacted›")
            }
            let shown = text.unicodeScalars.prefix(limit).map { scalar in
                switch scalar.properties.generalCategory {
                case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse: " " as Unicode.Scalar
                default: scalar
                }
            }
            return String(String.UnicodeScalarView(shown))
        }
        return .refused(code: clean(code, 64), description: description.map { clean($0, 500) })
    }
}
