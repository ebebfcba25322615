import Crypto
import ErrorCodes
import Foundation
import HTTPTypes
import ODataClient
import ODataHTTP
import ODataService
import Secrets

/// The credentials with which a destination's back end is asked (`mobile-server.md` 6.3).
///
/// Secrets are read when the destination is opened. The credentials of a user stay in memory for the time of a session.
struct DestinationCredentials: Sendable {
    private enum Source: Sendable {
        /// The same for everybody.
        case technical(Authentication)
        /// Those of the request.
        case forwarded
        /// A token for the one of the request.
        case exchanged(TokenExchange)
    }

    private let source: Source
    private let feeds: Authentication?
    /// The client certificate of every request.
    let identity: ClientIdentity?

    /// Whether users have sessions of their own at the back end.
    var isPersonal: Bool {
        if case .technical = source { false } else { true }
    }

    /// Reads the credentials of a destination.
    ///
    /// - Throws: ``SecretResolverError``, ``DestinationCredentialsError``, `OAuth2Error`.
    init(
        _ configuration: DestinationAuthentication, secrets: SecretResolver, transport: any HTTPTransport
    ) async throws {
        func needed<Value>(_ value: Value?, _ name: String) throws -> Value {
            guard let value else { throw DestinationCredentialsError.incomplete(name) }
            return value
        }
        func secret() async throws -> String {
            try await secrets.value(of: needed(configuration.secret, "secret")).reveal()
        }
        var identity: ClientIdentity?
        switch configuration.kind {
        case .none: source = .technical(.none)
        case .basic:
            source = .technical(
                .basic(user: try needed(configuration.user, "user"), password: try await secret()))
        case .apiKey:
            let name = configuration.field ?? "X-API-Key"
            guard HTTPField.Name(name) != nil else { throw DestinationCredentialsError.incomplete("field") }
            source = .technical(.header(name, try await secret()))
        case .certificate:
            let chain = try await secrets.value(of: .file(needed(configuration.certificate, "certificate"))).reveal()
            let key = try await secrets.value(of: needed(configuration.key, "key")).reveal()
            identity = .pem(chain: Array(chain.utf8), key: Array(key.utf8))
            source = .technical(.none)
        case .clientCredentials:
            let oauth = OAuth2.Configuration(
                tokenEndpoint: try needed(configuration.tokenURL, "token_url"),
                clientID: try needed(configuration.user, "user"), grant: .clientCredentials,
                clientSecret: try await secret(),
                scopes: configuration.scope?.split(separator: " ").map(String.init) ?? [],
                parameters: configuration.audience.map { ["audience": $0] } ?? [:])
            source = .technical(Authentication(try OAuth2(oauth, transport: transport)))
        case .tokenExchange:
            source = .exchanged(
                try TokenExchange(
                    endpoint: try needed(configuration.tokenURL, "token_url"),
                    clientID: try needed(configuration.user, "user"), secret: Secret(try await secret()),
                    scope: configuration.scope, audience: configuration.audience, transport: transport))
        case .passThrough: source = .forwarded
        case .propagation: throw DestinationCredentialsError.unsupported("propagation")
        }
        self.identity = identity
        var feeds: Authentication?
        if let user = configuration.feedUser {
            let password = try await secrets.value(of: needed(configuration.feedSecret, "feed_secret")).reveal()
            feeds = .basic(user: user, password: password)
        }
        self.feeds = feeds
    }

    /// Returns the authentication of a request.
    ///
    /// - Parameter credentials: The value of `Authorization` that the user showed.
    /// - Throws: 401 if the user showed none.
    func authentication(for credentials: Secret<String>?) throws(ODataError) -> Authentication {
        switch source {
        case .technical(let authentication): return authentication
        case .forwarded:
            guard let value = credentials?.reveal(), !value.isEmpty else { throw Self.missing }
            let field = value.contains(" ") ? value : "Bearer \(value)"
            return Authentication { $0.headerFields[.authorization] = field }
        case .exchanged(let exchange):
            guard let value = credentials?.reveal(), let token = Self.token(in: value) else { throw Self.missing }
            return Authentication(exchange.step(for: Secret(token)))
        }
    }

    /// Returns the authentication of the reader of shared feeds: a technical user.
    ///
    /// - Throws: ``DestinationCredentialsError`` if the destination has none.
    func feedAuthentication() throws(DestinationCredentialsError) -> Authentication {
        if let feeds { return feeds }
        guard case .technical(let authentication) = source else { throw .incomplete("feed_user") }
        return authentication
    }

    /// Returns a name for the session of a user at the back end, without the credentials.
    func sessionName(for credentials: Secret<String>?) -> [UInt8] {
        guard isPersonal, let value = credentials?.reveal() else { return [] }
        return Array(SHA256.hash(data: Data(value.utf8)))
    }

    private static func token(in value: String) -> String? {
        let parts = value.split(separator: " ", maxSplits: 1)
        if parts.count == 1 { return String(parts[0]) }
        return parts.count == 2 && parts[0].lowercased() == "bearer" ? String(parts[1]) : nil
    }

    private static let missing = ODataError(
        status: 401, code: "Unauthorized", message: "The back end needs your own credentials.")
}

/// The reason why a destination has no usable credentials.
public enum DestinationCredentialsError: Error, Hashable, Sendable {
    /// A key of the configuration is missing or cannot be used.
    case incomplete(String)
    /// This build does not know the kind.
    case unsupported(String)
}

extension DestinationCredentialsError: CustomStringConvertible {
    /// A description of the problem.
    public var description: String {
        switch self {
        case .incomplete(let name): "The key authentication.\(name) of the destination is missing or cannot be used."
        case .unsupported(let kind): "This version does not have the authentication \(kind) of destinations."
        }
    }
}

extension DestinationCredentialsError: CodedError {
    /// The code `destination.credentials`.
    public var errorCode: ErrorCode { ErrorCode(rawValue: "destination.credentials") }
    /// Always `FailureKind.request`: the configuration must be changed.
    public var failureKind: FailureKind { .request }
    /// The description as `reason`.
    public var errorArguments: [String: String] { ["reason": description] }
}

/// A transport with a client certificate for every request.
struct IdentityTransport: HTTPTransport {
    let base: any HTTPTransport
    let identity: ClientIdentity?

    func send(
        _ request: HTTPRequest, body: ByteStream?, options: TransferOptions
    ) async throws -> (HTTPResponse, ByteStream) {
        var options = options
        if let identity { options.clientIdentity = identity }
        return try await base.send(request, body: body, options: options)
    }
}
