import Foundation
import HTTPTypes
import ODataHTTP
import ODataService

/// An authorization server: its endpoints, as its metadata or its documentation states them (RFC 8414).
///
/// ```swift
/// let server = try await OAuth2Server.discover("https://login.example/tenant", transport: transport)
/// ```
public struct OAuth2Server: Sendable, Hashable, Codable {
    /// The identifier of the server; `nil` if only its endpoints are known.
    public let issuer: String?
    /// The URL at which a person signs in with a browser.
    public let authorizationEndpoint: String?
    /// The URL at which tokens are requested.
    public let tokenEndpoint: String
    /// The URL at which a device asks for a code (RFC 8628).
    public let deviceEndpoint: String?
    /// The URL at which tokens are revoked (RFC 7009).
    public let revocationEndpoint: String?
    /// Whether each redirect names the issuer (RFC 9207).
    public let sendsIssuer: Bool

    /// The maximum number of bytes of a metadata document.
    static let maxDocumentSize = 262_144

    /// Creates a server from its endpoints.
    ///
    /// - Throws: ``OAuth2Error/insecureEndpoint(_:)`` for an endpoint that is neither https nor on this machine.
    public init(
        issuer: String? = nil, authorizationEndpoint: String? = nil, tokenEndpoint: String,
        deviceEndpoint: String? = nil, revocationEndpoint: String? = nil, sendsIssuer: Bool = false
    ) throws(OAuth2Error) {
        for endpoint in [authorizationEndpoint, tokenEndpoint, deviceEndpoint, revocationEndpoint] {
            if let endpoint { try OAuth2Endpoint.check(endpoint) }
        }
        self.issuer = issuer
        self.authorizationEndpoint = authorizationEndpoint
        self.tokenEndpoint = tokenEndpoint
        self.deviceEndpoint = deviceEndpoint
        self.revocationEndpoint = revocationEndpoint
        self.sendsIssuer = sendsIssuer
    }

    /// The name of the server for people.
    var name: String { issuer ?? tokenEndpoint }

    /// Reads the metadata of a server: at the place of RFC 8414, 3.1, or else at that of OpenID Connect Discovery 1.0,
    /// 4.
    ///
    /// - Parameters:
    ///   - issuer: The identifier of the server, an https URL without query and fragment.
    ///   - transport: Sends the requests, without credentials.
    /// - Throws: ``OAuth2Error/insecureEndpoint(_:)``; ``OAuth2Error/invalidMetadata(issuer:reason:)`` if there is no
    ///   document, or if it is that of another server (RFC 8414, 3.3); the errors of the transport.
    public static func discover(_ issuer: String, transport: any HTTPTransport) async throws -> OAuth2Server {
        try OAuth2Endpoint.check(issuer)
        let base = issuer.hasSuffix("/") ? String(issuer.dropLast()) : issuer
        guard !base.contains("?"), !base.contains("#"), let scheme = base.firstRange(of: "://") else {
            throw OAuth2Error.invalidMetadata(issuer: issuer, reason: "its identifier has a query or a fragment")
        }
        let path = base[scheme.upperBound...].firstIndex(of: "/") ?? base.endIndex
        let places = [
            "\(base[..<path])/.well-known/oauth-authorization-server\(base[path...])",
            "\(base)/.well-known/openid-configuration",
        ]
        for place in places {
            guard let data = try await document(at: place, transport: transport),
                let metadata = try? JSONDecoder().decode(Metadata.self, from: data)
            else { continue }
            return try metadata.server(of: issuer)
        }
        throw OAuth2Error.invalidMetadata(issuer: issuer, reason: "it has no metadata that name a token endpoint")
    }

    private static func document(at url: String, transport: any HTTPTransport) async throws -> Data? {
        var request = try ServiceRoot("/").request(.get, url: url)
        request.headerFields[.accept] = "application/json"
        let (response, stream) = try await transport.send(request, body: nil)
        let data = Data(try await stream.collect(limit: maxDocumentSize))
        return response.status == .ok ? data : nil
    }

    private struct Metadata: Decodable {
        let issuer: String
        let authorization_endpoint: String?
        let token_endpoint: String
        let device_authorization_endpoint: String?
        let revocation_endpoint: String?
        let code_challenge_methods_supported: [String]?
        let authorization_response_iss_parameter_supported: Bool?

        func server(of expected: String) throws(OAuth2Error) -> OAuth2Server {
            guard isSame(expected) else {
                throw .invalidMetadata(issuer: expected, reason: "its metadata belongs to another issuer")
            }
            // A server that states its methods and lacks S256 cannot protect a code (RFC 7636, 4.2).
            let takesProofKeys = code_challenge_methods_supported?.contains("S256") ?? true
            let endpoints = [
                token_endpoint, authorization_endpoint, device_authorization_endpoint, revocation_endpoint,
            ]
            if expected.lowercased().hasPrefix("https:") {
                for endpoint in endpoints {
                    guard let endpoint, !endpoint.lowercased().hasPrefix("https:") else { continue }
                    throw .insecureEndpoint(endpoint)
                }
            }
            return try OAuth2Server(
                issuer: issuer.contains(Self.tenant) ? nil : issuer,
                authorizationEndpoint: takesProofKeys ? authorization_endpoint : nil, tokenEndpoint: token_endpoint,
                deviceEndpoint: device_authorization_endpoint, revocationEndpoint: revocation_endpoint,
                sendsIssuer: authorization_response_iss_parameter_supported ?? false)
        }

        /// The segment that Microsoft Entra ID writes for the tenant if the tenant is not known before the sign-in.
        private static let tenant = "{tenantid}"

        /// Returns whether the document belongs to an issuer: the identifiers are equal, apart from a slash at the
        /// end and from one segment for the tenant.
        private func isSame(_ expected: String) -> Bool {
            func segments(_ url: String) -> [Substring] {
                (url.hasSuffix("/") ? url.dropLast() : url[...]).split(
                    separator: "/", omittingEmptySubsequences: false)
            }
            let (stated, asked) = (segments(issuer), segments(expected))
            guard stated.count == asked.count else { return false }
            return zip(stated, asked).enumerated().allSatisfy { index, pair in
                pair.0 == pair.1 || index > 2 && pair.0 == Self.tenant
            }
        }
    }
}
