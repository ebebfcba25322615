import Foundation
import HTTPTypes
import ODataHTTP
import ODataServer
import ODataService

/// The issuers of tokens. OpenID Connect Discovery 1.0, section 4, leads to their keys.
actor TokenIssuers {
    private struct Name: Hashable {
        var issuer: String
        var audience: String
    }

    private struct Document: Decodable {
        var issuer: String
        var keysURL: String

        enum CodingKeys: String, CodingKey {
            case issuer
            case keysURL = "jwks_uri"
        }
    }

    private static let maxDocumentSize = 256 * 1024
    private static let pauseAfterFailure = Duration.seconds(10)

    private let transport: any HTTPTransport
    private var known: [Name: BearerAuthentication] = [:]
    private var failed: [Name: ContinuousClock.Instant] = [:]

    init(transport: any HTTPTransport) { self.transport = transport }

    /// Returns the check of the tokens of an issuer for an audience.
    ///
    /// - Throws: ``ODataError`` 503 if the issuer cannot be reached.
    func way(issuer: String, audience: String) async throws(ODataError) -> BearerAuthentication {
        let name = Name(issuer: issuer, audience: audience)
        if let way = known[name] { return way }
        if let time = failed[name], ContinuousClock.now - time < Self.pauseAfterFailure { throw Self.unavailable }
        do {
            let keys = try BearerAuthentication.Keys(url: try await keysURL(of: issuer), transport: transport)
            let way = BearerAuthentication(issuer: issuer, audience: audience, keys: keys)
            known[name] = way
            failed[name] = nil
            return way
        } catch {
            failed[name] = .now
            throw Self.unavailable
        }
    }

    private static let unavailable = ODataError(
        .busy, "The issuer of the tokens cannot be reached. Try again later.", retryAfter: 10)

    private func keysURL(of issuer: String) async throws -> String {
        let root = issuer.hasSuffix("/") ? issuer : issuer + "/"
        let url = root + ".well-known/openid-configuration"
        guard Self.isAllowed(url) else { throw Self.unavailable }
        let (response, body) = try await transport.send(try ServiceRoot(root).request(.get, url: url), body: nil)
        guard response.status == .ok else { throw Self.unavailable }
        let bytes = try await body.collect(limit: Self.maxDocumentSize)
        let document = try JSONDecoder().decode(Document.self, from: Data(bytes))
        // A document of another issuer would let that issuer sign for this one (Discovery 1.0, 4.3).
        guard document.issuer == issuer, Self.isAllowed(document.keysURL) else { throw Self.unavailable }
        return document.keysURL
    }

    /// Returns whether keys may be fetched from a URL: by https, or from this machine.
    static func isAllowed(_ url: String) -> Bool {
        if url.lowercased().hasPrefix("https://") { return true }
        guard url.lowercased().hasPrefix("http://") else { return false }
        let rest = url.dropFirst("http://".count)
        return Authority(String(rest.prefix { $0 != "/" && $0 != "?" }))?.isLoopback ?? false
    }
}
