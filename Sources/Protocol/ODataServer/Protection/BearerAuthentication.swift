import Foundation
import HTTPTypes
import JWTKit
import NIOSSL
import ODataHTTP
import ODataService

/// Bearer tokens (RFC 6750) that an OpenID Connect issuer signed: JSON Web Tokens, checked with the issuer's
/// public keys.
///
/// ```swift
/// let keys = try BearerAuthentication.Keys(jsonWebKeySet: Data(contentsOf: url))
/// let tokens = BearerAuthentication(issuer: "https://login.example/", audience: "shop", keys: keys)
/// ```
///
/// The signature, `iss`, `aud`, `exp` and `nbf` must hold. `sub` becomes the principal's name; `scope`, `scp` and
/// `roles` its roles; other claims that are text are kept by their names.
public struct BearerAuthentication: RequestAuthenticator {
    /// Who must have issued a token.
    public let issuer: String
    /// For whom a token must be.
    public let audience: String
    private let keys: Keys

    /// Makes it of an issuer's name, an audience and the issuer's keys.
    public init(issuer: String, audience: String, keys: Keys) {
        self.issuer = issuer
        self.audience = audience
        self.keys = keys
    }

    /// The challenge for `WWW-Authenticate`.
    public var challenge: String? { "Bearer" }
    /// What is needed.
    public var explanation: String { "A bearer token is needed." }

    /// The subject of the request's token, if the token is in order.
    public func principal(of request: HTTPRequest, certificate: NIOSSLCertificate?) async -> Principal? {
        guard let token = request.credentials("bearer"), token.utf8.count <= Self.maxTokenLength,
            TokenHeader.isAcceptable(in: token)
        else { return nil }
        guard let claims = await keys.verified(token), claims.isFrom(issuer), claims.isFor(audience) else { return nil }
        return claims.principal
    }

    /// The most bytes of a token that are looked at.
    public static let maxTokenLength = 16_384

    /// The public keys of an issuer.
    public actor Keys {
        /// How often keys are fetched again at most, when a token names one that is not known.
        public static let refetchInterval = Duration.seconds(60)
        /// How long keys are not fetched again after that has failed.
        public static let pauseAfterFailure = Duration.seconds(1)

        private var collection: JWTKeyCollection?
        private let source: (@Sendable () async throws -> Data)?
        private var earliestFetch: ContinuousClock.Instant?
        private var fetching: Task<JWTKeyCollection?, Never>?

        /// Keys that never change, from a JSON Web Key Set (RFC 7517, 5).
        ///
        /// - Throws: what JWTKit throws when the text is no key set.
        public init(jsonWebKeySet: Data) async throws {
            source = nil
            collection = try await Self.collection(jsonWebKeySet)
        }

        /// Keys from the address that an issuer publishes as `jwks_uri`: fetched when first needed, and again when a
        /// token names a key that is not among them.
        ///
        /// - Throws: ``TransportError/invalidURL(_:)`` unless the address is absolute.
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

        /// The claims of a token whose signature and times hold.
        func verified(_ token: String) async -> TokenClaims? {
            if let collection, let claims = try? await collection.verify(token, as: TokenClaims.self) { return claims }
            guard let fresh = await refetched() else { return nil }
            return try? await fresh.verify(token, as: TokenClaims.self)
        }

        /// The keys as they are published now; who asks while they are fetched waits for them.
        ///
        /// - Returns: `nil` where they are not to be had, or were fetched not long ago.
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

/// What a token says (RFC 7519, 4).
struct TokenClaims: JWTPayload {
    private let values: [String: Value]

    /// A claim: text, a number, a list of texts, or something else that nobody here looks at.
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

    /// Requires that the token is valid now: a token without an end is refused.
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

    /// The subject with its roles; `nil` where the token names nobody.
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
