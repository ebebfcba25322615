import ArgumentParser
import Foundation
import ODataServer
import ODataTransportNIO
import Secrets
import ToolLanguage

/// The options for the users of a served service and their authentication.
struct AccessOptions: ParsableArguments {
    @Option(
        name: .customLong("auth"),
        help: .text(
            "Ask for a user of this file, which 'outpost users add' writes.", valueName: "file"))
    var usersFile: String?

    @Option(help: .text("Ask for this user; the password comes from --password-file.", valueName: "name"))
    var user: String?

    @Option(
        name: .customLong("password-file"),
        help: .text("The file with the password of --user.", valueName: "file"))
    var passwordFile: String?

    @Option(
        name: .customLong("token-issuer"),
        help: .text("Accept bearer tokens that this OpenID Connect issuer signed.", valueName: "url"))
    var tokenIssuer: String?

    @Option(
        name: .customLong("token-audience"),
        help: .text("The audience that the tokens of --token-issuer must have.", valueName: "name"))
    var tokenAudience: String?

    @Option(
        name: .customLong("token-keys"),
        help: .text("The JSON Web Key Set of --token-issuer: a file, or its URL.", valueName: "file|url"))
    var tokenKeys: String?

    @Option(
        name: [.customLong("tls"), .customLong("tls-certificate")],
        help: .text("Serve over TLS and HTTP/2 with this PEM certificate chain.", valueName: "file"))
    var certificate: String?

    @Option(
        name: .customLong("tls-key"),
        help: .text(
            "The PEM private key of --tls, when it is not in the same file.", valueName: "file"))
    var certificateKey: String?

    @Option(
        name: .customLong("tls-clients"),
        help: .text(
            """
            Require client certificates that one of these PEM authorities signed, beside the sign-in of --auth, --user \
            or --token-issuer where one of these is given.
            """, valueName: "file"))
    var clientAuthorities: String?

    @Option(
        name: .customLong("tls-crl"),
        help: .text(
            "Refuse client certificates that these lists (PEM or DER) revoke; read again when the file changes.",
            valueName: "file"))
    var revocationLists: String?

    @Flag(
        name: .customLong("allow-either"),
        help: .text(
            "Admit callers with a client certificate or a sign-in. Without it, --tls-clients and --auth demand both.")
    )
    var allowsEither = false

    @Option(
        name: .customLong("cors"),
        help: .text("Let scripts of this origin use the service; * for any.", valueName: "origin"))
    var origins: [String] = []

    @Flag(help: .text("Require a token with each change, fetched by X-CSRF-Token: Fetch."))
    var csrf = false

    func validate() throws {
        guard certificateKey == nil || certificate != nil else {
            throw ValidationError(translated("--tls-key needs --tls."))
        }
        guard clientAuthorities == nil || certificate != nil else {
            throw ValidationError(translated("--tls-clients needs --tls."))
        }
        guard revocationLists == nil || clientAuthorities != nil else {
            throw ValidationError(translated("--tls-crl needs --tls-clients."))
        }
        guard !allowsEither || clientAuthorities != nil && (usersFile ?? user ?? tokenIssuer) != nil else {
            throw ValidationError(
                translated("--allow-either needs --tls-clients, and --auth, --user or --token-issuer."))
        }
        guard (user == nil) == (passwordFile == nil) else {
            throw ValidationError(translated("--user and --password-file go together."))
        }
        guard (tokenIssuer == nil) == (tokenAudience == nil), (tokenIssuer == nil) == (tokenKeys == nil) else {
            throw ValidationError(translated("--token-issuer, --token-audience and --token-keys go together."))
        }
        for origin in origins where origin != "*" && !Self.isOrigin(origin) {
            throw ValidationError(
                translated("--cors: '\(origin)' is no origin, such as https://app.example or http://localhost:3000."))
        }
        guard !origins.contains("*") || origins.count == 1 else {
            throw ValidationError(translated("--cors * allows all origins: name no others beside it."))
        }
    }

    /// Whether a text is a scheme, a host and perhaps a port, as browsers send it (RFC 6454, 6.2).
    private static func isOrigin(_ text: String) -> Bool {
        guard let parts = URLComponents(string: text), parts.scheme != nil, parts.host?.isEmpty == false else {
            return false
        }
        return parts.path.isEmpty && parts.query == nil && parts.fragment == nil && parts.user == nil
    }

    /// The files for TLS.
    var tls: ODataServer.TLS? {
        certificate.map {
            ODataServer.TLS(
                certificateChainFile: $0, privateKeyFile: certificateKey ?? $0, clientAuthorities: clientAuthorities,
                revocationLists: revocationLists)
        }
    }

    /// The rules for scripts of other origins.
    var crossOrigin: CrossOriginPolicy? {
        guard !origins.isEmpty else { return nil }
        return origins == ["*"]
            ? CrossOriginPolicy(origins: .any)
            : CrossOriginPolicy(origins: .these(Set(origins)), allowsCredentials: true)
    }

    /// Returns the means of authentication; an empty list admits everybody.
    ///
    /// - Parameter users: the users with passwords; `nil` if there are none.
    func authentication(_ users: UserDirectory?) async throws -> [any RequestAuthenticator] {
        if let certificate { try NamedFile.requireSafe(certificateKey ?? certificate) }
        var ways: [any RequestAuthenticator] = []
        if let users { ways.append(BasicAuthentication(users: users)) }
        if let tokenIssuer, let tokenAudience, let tokenKeys {
            ways.append(
                BearerAuthentication(issuer: tokenIssuer, audience: tokenAudience, keys: try await keys(tokenKeys)))
        }
        if clientAuthorities != nil { ways.append(ClientCertificateAuthentication()) }
        return ways
    }

    /// The digests of the passwords in the file of users, and the password of the one user that has a file of its own.
    struct Passwords {
        var hashes: [String: PasswordHash] = [:]
        var passwords: [String: String] = [:]
    }

    /// Reads the passwords; `nil` if no user has one.
    func passwords() throws -> Passwords? {
        var known = Passwords()
        if let usersFile {
            known.hashes = try UsersFile(path: usersFile).hashes
            // An empty list of users would admit everybody.
            guard !known.hashes.isEmpty else {
                throw Failure(
                    message: "\(usersFile) names no user.",
                    advice: "Add one with: outpost users add \(usersFile.shellQuoted) NAME", status: .misused)
            }
        }
        if let user, let passwordFile { known.passwords[user] = try NamedFile.password(in: passwordFile) }
        return known.hashes.isEmpty && known.passwords.isEmpty ? nil : known
    }

    private func keys(_ source: String) async throws -> BearerAuthentication.Keys {
        do {
            if source.hasPrefix("https://") || source.hasPrefix("http://") {
                return try BearerAuthentication.Keys(url: source, transport: try NIOTransport())
            }
            return try await BearerAuthentication.Keys(jsonWebKeySet: try contents(of: source))
        } catch let error as Failure {
            throw error
        } catch {
            throw Failure(message: "\(source) is no JSON Web Key Set.")
        }
    }

    private func contents(of path: String) throws -> Data { Data(try NamedFile.contents(of: path)) }
}
