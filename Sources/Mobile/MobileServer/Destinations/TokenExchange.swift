import Crypto
import Foundation
import HTTPTypes
import ODataClient
import ODataHTTP
import ODataService
import Secrets

/// Exchanges the token of a user for one of a back end (RFC 8693), and keeps it until it expires.
actor TokenExchange {
    /// The greatest number of tokens that are kept.
    static let limit = 1000
    private static let answerLimit = 65_536

    private struct Kept {
        let token: Secret<String>
        let expires: ContinuousClock.Instant
    }

    private let endpoint: String
    private let clientID: String
    private let secret: Secret<String>
    private let scope: String?
    private let audience: String?
    private let transport: any HTTPTransport
    private var kept: [[UInt8]: Kept] = [:]

    /// - Throws: ``DestinationCredentialsError`` if the endpoint is neither https nor on this machine.
    init(
        endpoint: String, clientID: String, secret: Secret<String>, scope: String?, audience: String?,
        transport: any HTTPTransport
    ) throws {
        let request = try ServiceRoot("/").request(.post, url: endpoint)
        guard let origin = Origin(request), !origin.isPlain else {
            throw DestinationCredentialsError.incomplete("token_url")
        }
        self.endpoint = endpoint
        self.clientID = clientID
        self.secret = secret
        self.scope = scope
        self.audience = audience
        self.transport = transport
    }

    /// Returns the step that adds the token of a user to requests.
    nonisolated func step(for subject: Secret<String>) -> TokenAuthentication {
        TokenAuthentication(.bearer) { isRefused in
            try await self.token(for: subject, isRefused: isRefused).reveal()
        }
    }

    private func token(for subject: Secret<String>, isRefused: Bool) async throws -> Secret<String> {
        let name = Array(SHA256.hash(data: Data(subject.reveal().utf8)))
        if !isRefused, let known = kept[name], known.expires > .now { return known.token }
        var form = [
            ("grant_type", "urn:ietf:params:oauth:grant-type:token-exchange"),
            ("subject_token", subject.reveal()),
            ("subject_token_type", "urn:ietf:params:oauth:token-type:access_token"),
            ("requested_token_type", "urn:ietf:params:oauth:token-type:access_token"),
        ]
        if let audience { form.append(("audience", audience)) }
        if let scope { form.append(("scope", scope)) }
        var request = try ServiceRoot("/").request(.post, url: endpoint)
        request.headerFields[.contentType] = "application/x-www-form-urlencoded"
        request.headerFields[.accept] = "application/json"
        let pair = "\(Self.encoded(clientID)):\(Self.encoded(secret.reveal()))"
        request.headerFields[.authorization] = "Basic \(Data(pair.utf8).base64EncodedString())"
        let text = form.map { "\($0)=\(Self.encoded($1))" }.joined(separator: "&")
        let (response, body) = try await transport.send(request, body: ByteStream(Array(text.utf8)))
        let bytes = try await body.collect(limit: Self.answerLimit)
        guard response.status == .ok, let answer = try? JSONDecoder().decode(Answer.self, from: Data(bytes)) else {
            // A refused token of the user is the user's affair, anything else that of the operator.
            if response.status == .badRequest || response.status == .unauthorized { throw Self.refused }
            throw DestinationFailure.unavailable()
        }
        let token = Secret(answer.access_token)
        if kept.count >= Self.limit {
            let now = ContinuousClock.now
            kept = kept.filter { $0.value.expires > now }
            if kept.count >= Self.limit { kept = [:] }
        }
        kept[name] = Kept(token: token, expires: .now + .seconds(max(0, (answer.expires_in ?? 60) - 10)))
        return token
    }

    private struct Answer: Decodable {
        let access_token: String
        let expires_in: Int?
    }

    private static let refused = ODataError(
        status: 401, code: "Unauthorized", message: "The back end's issuer did not accept your token.")

    private static func encoded(_ text: String) -> String {
        text.addingPercentEncoding(withAllowedCharacters: unreserved) ?? ""
    }

    private static let unreserved = CharacterSet(
        charactersIn: "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~")
}
