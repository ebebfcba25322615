import Foundation
import HTTPTypes
import JWTKit
import NIOSSL
import ODataHTTP
import ODataService

/// Bearer tokens (RFC 6750) of an OpenID Connect issuer: JSON Web Tokens, verified with the issuer's public
/// keys.
///
/// ```swift
/// let keys = try BearerAuthentication.Keys(jsonWebKeySet: Data(contentsOf: url))
/// let tokens = BearerAuthentication(issuer: "https://login.example/", audience: "shop", keys: keys)
/// ```
///
/// The signature, `iss`, `aud`, `exp` and `nbf` must be valid. The principal has the name `sub` and the roles
/// in `scope`, `scp` and `roles`. Other text claims are kept by their names.
public struct BearerAuthentication: RequestAuthenticator {
    /// The required issuer of a token.
    public let issuer: String
    /// The required audience of a token.
    public let audience: String
    private let keys: Keys

    /// Creates an authentication with an issuer, an audience and the issuer's keys.
    public init(issuer: String, audience: String, keys: Keys) {
        self.issuer = issuer
        self.audience = audience
        self.keys = keys
    }

    /// The challenge for `WWW-Authenticate`.
    public var challenge: String? { "Bearer" }
    /// The required credentials in words.
    public var explanation: String { "A bearer token is needed." }

    /// Returns the subject of the token in a request, if the token is valid.
    public func principal(of request: HTTPRequest, certificate: NIOSSLCertificate?) async -> Principal? {
        guard let token = request.credentials("bearer"), token.utf8.count <= Self.maxTokenLength,
            TokenHeader.isAcceptable(in: token)
        else { return nil }
        guard let claims = await keys.verified(token), claims.isFrom(issuer), claims.isFor(audience) else { return nil }
        return claims.principal
    }

    /// The maximum number of bytes of a token.
    public static let maxTokenLength = 16_384

    /// The public keys of an issuer.
    public actor Keys {
        /// The minimum time between two downloads of the keys. They are downloaded again if a token names an
        /// unknown key.
        public static let refetchInterval = Duration.seconds(60)
        /// The time until the next download of the keys after a failure.
        public static let pauseAfterFailure = Duration.seconds(1)

        private var collection: JWTKeyCollection?
        private let source: (@Sendable () async throws -> Data)?
        private var earliestFetch: ContinuousClock.Instant?
        private var fetching: Task<JWTKeyCollection?, Never>?

        /// Creates constant keys from a JSON Web Key Set (RFC 7517, 5).
        ///
        /// - Throws: The error of JWTKit if the text is not a key set.
        public init(jsonWebKeySet: Data) async throws {
            source = nil
            collection = try await Self.collection(jsonWebKeySet)
        }

        /// Creates keys from the `jwks_uri` of an issuer. They are downloaded when they are first needed, and
        /// again if a token names an unknown key.
        ///
        /// - Throws: ``TransportError/invalidURL(_:)`` unless the URL is absolute.
        public init(url: String, transport: any HTTPTransport) throws(TransportError) {
            let request = try ServiceRoot(url).request(.get, url: url)
            source = {
                let (response, body) = try await transport.send(request, body: nil)
                guard response.status == .ok else { throw CocoaError(.fileReadUnknown) }
                return Data(try await body.collect(limit: 1 << 20))
            }
        }

        private static func collection(_ data: Data) async throws -> JWTKeyCollection {
            try await JWTKeyCollection().add(jwksJSON: String(decoding: try SigningKeys.only(data), as: UTF8.self))
        }

        /// Returns the claims of a token with a valid signature and valid times.
        func verified(_ token: String) async -> TokenClaims? {
            if let collection, let claims = try? await collection.verify(token, as: TokenClaims.self) { return claims }
            guard let fresh = await refetched() else { return nil }
            return try? await fresh.verify(token, as: TokenClaims.self)
        }

        /// Downloads the published keys. Concurrent callers wait for the same download.
        ///
        /// - Returns: `nil` if the download failed, or if the last one was too recent.
        private func refetched() async -> JWTKeyCollection? {
            if let fetching { return await fetching.value }
            guard let source, earliestFetch.map({ $0 <= .now }) ?? true else { return nil }
            let task = Task { await self.fetch(source) }
            fetching = task
            return await task.value
        }

        private func fetch(_ source: @Sendable () async throws -> Data) async -> JWTKeyCollection? {
            defer { fetching = nil }
            let fresh = try? await Self.collection(source())
            if let fresh { collection = fresh }
            earliestFetch = .now + (fresh == nil ? Self.pauseAfterFailure : Self.refetchInterval)
            return fresh
        }
    }
}

/// The claims of a token (RFC 7519, 4).
struct TokenClaims: JWTPayload {
    private let values: [String: Value]

    /// A claim: a text, a number, a list of texts, or a value of another type, which is ignored.
    private enum Value: Codable {
        case text(String)
        case number(Double)
        case texts([String])
        case other

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let text = try? container.decode(String.self) {
                self = .text(text)
            } else if let number = try? container.decode(Double.self) {
                self = .number(number)
            } else if let texts = try? container.decode([String].self) {
                self = .texts(texts)
            } else {
                self = .other
            }
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            switch self {
            case .text(let text): try container.encode(text)
            case .number(let number): try container.encode(number)
            case .texts(let texts): try container.encode(texts)
            case .other: try container.encodeNil()
            }
        }

        var texts: [String] {
            switch self {
            case .text(let text): [text]
            case .texts(let texts): texts
            default: []
            }
        }
    }

    init(from decoder: any Decoder) throws { values = try decoder.singleValueContainer().decode([String: Value].self) }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(values)
    }

    /// Checks that the token is valid now. A token without an expiry is refused.
    func verify(using algorithm: some JWTAlgorithm) throws {
        let now = Date().timeIntervalSince1970
        guard case .number(let end)? = values["exp"], now < end else {
            throw JWTError.claimVerificationFailure(failedClaim: nil, reason: "expired")
        }
        switch values["nbf"] {
        case nil: break
        case .number(let start)? where now >= start: break
        default: throw JWTError.claimVerificationFailure(failedClaim: nil, reason: "not yet valid")
        }
    }

    func isFrom(_ issuer: String) -> Bool {
        if case .text(let text)? = values["iss"] { text == issuer } else { false }
    }

    func isFor(_ audience: String) -> Bool { values["aud"]?.texts.contains(audience) ?? false }

    /// The subject with its roles; `nil` if the token has no subject.
    var principal: Principal? {
        guard case .text(let subject)? = values["sub"], !subject.isEmpty else { return nil }
        var roles: Set<String> = []
        for name in ["scope", "scp", "roles"] {
            for text in values[name]?.texts ?? [] {
                roles.formUnion(text.split(separator: " ").map(String.init))
            }
        }
        var claims: [String: String] = [:]
        for case (let name, .text(let text)) in values { claims[name] = text }
        return Principal(name: subject, roles: roles, claims: claims)
    }
}
