import Crypto
import Foundation
import HTTPTypes
import ODataHTTP
import ODataService

/// A client of an authorization server.
struct OAuth2Endpoint: Sendable {
    /// The maximum number of bytes of a token response.
    static let maxResponseSize = 65_536

    private let configuration: OAuth2.Configuration
    private let transport: any HTTPTransport
    private let now: @Sendable () -> Int64

    init(
        _ configuration: OAuth2.Configuration, transport: any HTTPTransport, now: @escaping @Sendable () -> Int64
    ) throws(OAuth2Error) {
        try Self.check(configuration.tokenEndpoint)
        if case .authorizationCode(let endpoint, _, _) = configuration.grant { try Self.check(endpoint) }
        self.configuration = configuration
        self.transport = transport
        self.now = now
    }

    /// Requires TLS or a loopback address, because the request contains secrets (RFC 6749, 3.2).
    private static func check(_ url: String) throws(OAuth2Error) {
        guard let root = try? ServiceRoot("/").request(.get, url: url), let origin = Origin(root),
            !origin.isPlain
        else { throw .insecureEndpoint(url) }
    }

    /// Obtains new tokens, with the refresh token if there is one, otherwise by the configured grant.
    func tokens(refreshing refreshToken: String?) async throws -> OAuth2Tokens {
        if let refreshToken {
            do {
                let fresh = try await request([("grant_type", "refresh_token"), ("refresh_token", refreshToken)])
                guard fresh.refreshToken == nil else { return fresh }
                // If the server issues no new refresh token, the old one remains valid (RFC 6749, 6).
                return OAuth2Tokens(
                    accessToken: fresh.accessToken, refreshToken: refreshToken, expires: fresh.expires)
            } catch OAuth2Error.refused(code: "invalid_grant", _) {
                // The refresh token has expired; the user or the client must sign in again.
            }
        }
        switch configuration.grant {
        case .clientCredentials:
            return try await request([("grant_type", "client_credentials")] + scope)
        case .authorizationCode(let endpoint, let redirectURI, let browse):
            return try await signIn(endpoint: endpoint, redirectURI: redirectURI, browse: browse)
        }
    }

    private var scope: [(String, String)] {
        configuration.scopes.isEmpty ? [] : [("scope", configuration.scopes.joined(separator: " "))]
    }

    private func signIn(
        endpoint: String, redirectURI: String, browse: @Sendable (String) async throws -> String
    ) async throws -> OAuth2Tokens {
        let key = ProofKey()
        let state = ProofKey.random()
        let query = FormEncoding.encode(
            [
                ("response_type", "code"), ("client_id", configuration.clientID), ("redirect_uri", redirectURI),
                ("state", state), ("code_challenge", key.challenge), ("code_challenge_method", "S256"),
            ] + scope)
        let landing = try await browse(endpoint + (endpoint.contains("?") ? "&" : "?") + query)
        let answer = FormEncoding.decode(landing.drop { $0 != "?" }.dropFirst().prefix { $0 != "#" })
        guard answer["state"] == state else { throw OAuth2Error.stateMismatch }
        if let error = answer["error"] {
            throw OAuth2Error.refused(code: error, description: answer["error_description"])
        }
        guard let code = answer["code"] else { throw OAuth2Error.noCode }
        return try await request([
            ("grant_type", "authorization_code"), ("code", code), ("redirect_uri", redirectURI),
            ("code_verifier", key.verifier),
        ])
    }

    private struct Answer: Decodable {
        let access_token: String
        let token_type: String?
        let expires_in: Seconds?
        let refresh_token: String?
    }

    /// The lifetime in seconds: a number (RFC 6749, 5.1), or digits in a string, as in Microsoft's v1 endpoint.
    /// Any other value counts as unknown.
    private struct Seconds: Decodable {
        let value: Double?

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            let number =
                (try? container.decode(Double.self)) ?? (try? container.decode(String.self)).flatMap(Double.init)
            value = number.flatMap { $0.isFinite ? $0 : nil }
        }
    }

    private struct Refusal: Decodable {
        let error: String
        let error_description: String?
    }

    private func request(_ parameters: [(String, String)]) async throws -> OAuth2Tokens {
        var message = try ServiceRoot("/").request(.post, url: configuration.tokenEndpoint)
        message.headerFields[.accept] = "application/json"
        message.headerFields[.contentType] = "application/x-www-form-urlencoded"
        var form = parameters + configuration.parameters.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
        if let secret = configuration.clientSecret, !configuration.sendsSecretInBody {
            message.headerFields[.authorization] = BasicCredentials.field(
                user: FormEncoding.encode(configuration.clientID), password: FormEncoding.encode(secret))
        } else {
            form.append(("client_id", configuration.clientID))
            if let secret = configuration.clientSecret { form.append(("client_secret", secret)) }
        }
        let start = now()
        let (response, stream) = try await transport.send(
            message, body: ByteStream(Array(FormEncoding.encode(form).utf8)))
        let data = Data(try await stream.collect(limit: Self.maxResponseSize))
        let decoder = JSONDecoder()
        guard response.status.code == 200 else {
            guard let refusal = try? decoder.decode(Refusal.self, from: data) else {
                throw OAuth2Error.invalidResponse(status: response.status.code, reason: "it is no error of OAuth")
            }
            throw OAuth2Error.refused(code: refusal.error, description: refusal.error_description)
        }
        guard let answer = try? decoder.decode(Answer.self, from: data), !answer.access_token.isEmpty else {
            throw OAuth2Error.invalidResponse(status: 200, reason: "it holds no access token")
        }
        guard answer.token_type?.lowercased() ?? "bearer" == "bearer" else {
            throw OAuth2Error.invalidResponse(status: 200, reason: "its tokens are not bearer tokens")
        }
        let seconds = answer.expires_in?.value.map { Int64(min(max(0, $0), 1e12)) }
        return OAuth2Tokens(
            accessToken: answer.access_token, refreshToken: answer.refresh_token, expires: seconds.map { start + $0 })
    }
}

/// A proof key (RFC 7636, 4): a code can be redeemed only with the verifier from which its request was made.
struct ProofKey: Sendable {
    let verifier: String
    /// The SHA-256 hash of the verifier (method S256).
    let challenge: String

    init(verifier: String = random()) {
        self.verifier = verifier
        challenge = Self.encode(Data(SHA256.hash(data: Data(verifier.utf8))))
    }

    /// Returns 256 random bits as 43 characters of the base64url alphabet.
    static func random() -> String {
        var generator = SystemRandomNumberGenerator()
        return encode(Data((0..<32).map { _ in UInt8.random(in: 0...255, using: &generator) }))
    }

    private static func encode(_ data: Data) -> String {
        data.base64EncodedString().replacingOccurrences(of: "+", with: "-").replacingOccurrences(of: "/", with: "_")
            .replacingOccurrences(of: "=", with: "")
    }
}
