import ArgumentParser
import Foundation
import HTTPTypes
import ODataClient
import ODataHTTP
import ODataService
import Supportability
import ToolLanguage

/// The authorization server and the client with which a person signs in at a service: from the options of the command,
/// completed by the recipe of the service and by the challenge of its response.
struct SignInPlan {
    /// The service that receives the tokens.
    let origin: Origin
    let server: OAuth2Server
    let configuration: OAuth2.Configuration
    /// The host name in the redirect address.
    let redirectHost: String

    /// Finds the missing parts.
    ///
    /// - Throws: ``Failure`` that names the missing option; `OAuth2Error`; `TransportError`.
    init(_ url: String, _ options: SignInOptions, transport: any HTTPTransport) async throws {
        let (root, origin) = try Self.service(url)
        let recipe = SignInRecipe(root, origin: origin)
        self.origin = origin
        redirectHost = recipe?.redirectHost ?? RedirectListener.address
        guard let clientID = options.clientID else {
            throw Failure(
                message:
                    "The identifier of an app that is registered at the authorization server of \(origin) is missing.",
                advice: "Register one, or ask the operator of the service, and give it: --client-id ID",
                status: .misused)
        }
        let secret = try options.clientSecretFile.map { try NamedFile.password(in: $0) }
        var scopes = options.scopes
        if scopes.isEmpty { scopes = recipe?.scopes ?? [] }
        if let tokenURL = options.tokenURL {
            server = try OAuth2Server(
                authorizationEndpoint: options.authorizeURL, tokenEndpoint: tokenURL, deviceEndpoint: options.deviceURL)
        } else if let issuer = options.issuer {
            server = try await OAuth2Server.discover(issuer, transport: transport)
        } else if let own = recipe?.server {
            server = own
        } else {
            // The service is a stranger: a secret is sent only to a server that the person or the recipe names.
            var hint = SignInHint()
            if secret == nil {
                hint = try await SignInHint(root, origin: origin, isOptional: recipe != nil, transport: transport)
            }
            guard let issuer = hint.issuer ?? recipe?.issuer else {
                throw Failure(
                    message: "\(origin) does not say where to sign in.",
                    advice: """
                        Name the authorization server: --issuer URL
                        Or its endpoints: --token-url URL, and --device-url URL or --authorize-url URL
                        """,
                    status: .misused)
            }
            server = try await OAuth2Server.discover(issuer, transport: transport)
        }
        configuration = OAuth2.Configuration(
            tokenEndpoint: server.tokenEndpoint, clientID: clientID, clientSecret: secret, scopes: scopes,
            revocationEndpoint: server.revocationEndpoint)
    }

    /// Reads the address of a service that may get tokens.
    ///
    /// - Throws: ``Failure`` for an address that is none, or that would be spoken to without TLS over a network.
    static func service(_ url: String) throws -> (URLComponents, Origin) {
        guard let root = URLComponents(string: url), root.user == nil, root.password == nil,
            let request = try? ServiceRoot("/").request(.get, url: url), let origin = Origin(request)
        else {
            throw Failure(
                message: "\(SecretRedaction().redacted(url)) is not the address of a service.",
                advice: "Give the root of the service, such as https://host/service/.", status: .misused)
        }
        guard !origin.isPlain else {
            throw Failure(
                message: "\(origin) is not an https address, so others on the network could read a token.",
                advice: "Use the https address of the service.", status: .misused)
        }
        return (root, origin)
    }

    /// The name of the authorization server for people: its scheme, host and port.
    var serverName: String {
        (try? ServiceRoot("/").request(.get, url: server.tokenEndpoint)).flatMap { Origin($0) }?.description
            ?? server.tokenEndpoint
    }
}

/// The authorization server that the service names in its response to a request without credentials.
struct SignInHint {
    private(set) var issuer: String?

    init() {}

    /// Asks the service.
    ///
    /// - Parameter isOptional: Whether a failure does not matter, because a recipe names a server.
    init(
        _ root: URLComponents, origin: Origin, isOptional: Bool, transport: any HTTPTransport
    ) async throws {
        do {
            var request = try ServiceRoot("/").request(.get, url: root.string ?? "")
            request.headerFields[.accept] = "application/json"
            let (response, stream) = try await transport.send(request, body: nil)
            _ = try? await stream.collect(limit: 65_536)
            guard response.status == .unauthorized else { return }
            let challenge = AuthenticationChallenge(
                request: request, response: response, origin: origin, isProxy: false, page: [], attempt: 1)
            guard let bearer = challenge.schemes.first(where: { $0.name == "bearer" }) else { return }
            if let uri = bearer.parameters["authorization_uri"], let issuer = SignInRecipe.entraIssuer(uri) {
                self.issuer = issuer
            } else if let place = bearer.parameters["resource_metadata"] {
                issuer = try await Self.issuer(inMetadataAt: place, of: origin, transport: transport)
            }
        } catch {
            guard isOptional else { throw error }
        }
    }

    private struct ResourceMetadata: Decodable {
        let resource: String
        let authorization_servers: [String]?
    }

    /// Reads the metadata of a protected resource (RFC 9728, 3), which must be at the service and about it.
    private static func issuer(
        inMetadataAt url: String, of origin: Origin, transport: any HTTPTransport
    ) async throws -> String? {
        let request = try ServiceRoot("/").request(.get, url: url)
        guard Origin(request) == origin else { return nil }
        let (response, stream) = try await transport.send(request, body: nil)
        guard response.status == .ok,
            let metadata = try? JSONDecoder().decode(
                ResourceMetadata.self, from: Data(try await stream.collect(limit: 65_536))),
            let resource = try? ServiceRoot("/").request(.get, url: metadata.resource), Origin(resource) == origin
        else { return nil }
        return metadata.authorization_servers?.first
    }
}
