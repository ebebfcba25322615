import ArgumentParser
import Foundation
import ODataServer
import ODataTransportNIO

/// Who may use a service, and how they show who they are.
struct AccessOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Ask for this user; the password comes from --password-file.", valueName: "name"))
    var user: String?

    @Option(
        name: .customLong("password-file"),
        help: ArgumentHelp("The file with the password of --user.", valueName: "file"))
    var passwordFile: String?

    @Option(
        name: .customLong("token-issuer"),
        help: ArgumentHelp("Accept bearer tokens that this OpenID Connect issuer signed.", valueName: "url"))
    var tokenIssuer: String?

    @Option(
        name: .customLong("token-audience"),
        help: ArgumentHelp("Whom the tokens of --token-issuer must be for.", valueName: "name"))
    var tokenAudience: String?

    @Option(
        name: .customLong("token-keys"),
        help: ArgumentHelp("The JSON Web Key Set of --token-issuer: a file, or its URL.", valueName: "file|url"))
    var tokenKeys: String?

    @Option(
        name: .customLong("tls-certificate"),
        help: ArgumentHelp("Serve over TLS with this PEM certificate chain.", valueName: "file"))
    var certificate: String?

    @Option(
        name: .customLong("tls-key"),
        help: ArgumentHelp("The PEM private key of --tls-certificate.", valueName: "file"))
    var certificateKey: String?

    @Option(
        name: .customLong("tls-clients"),
        help: ArgumentHelp(
            "Require client certificates that one of these PEM authorities signed.", valueName: "file"))
    var clientAuthorities: String?

    @Option(
        name: .customLong("cors"),
        help: ArgumentHelp("Let scripts of this origin use the service; * for any.", valueName: "origin"))
    var origins: [String] = []

    @Flag(help: "Require a token with each change, fetched by X-CSRF-Token: Fetch.")
    var csrf = false

    func validate() throws {
        guard (certificate == nil) == (certificateKey == nil) else {
            throw ValidationError("--tls-certificate and --tls-key go together.")
        }
        guard clientAuthorities == nil || certificate != nil else {
            throw ValidationError("--tls-clients needs --tls-certificate.")
        }
        guard (user == nil) == (passwordFile == nil) else {
            throw ValidationError("--user and --password-file go together.")
        }
        guard (tokenIssuer == nil) == (tokenAudience == nil), (tokenIssuer == nil) == (tokenKeys == nil) else {
            throw ValidationError("--token-issuer, --token-audience and --token-keys go together.")
        }
        guard !origins.contains("*") || origins.count == 1 else {
            throw ValidationError("--cors * allows all origins: name no others beside it.")
        }
    }

    /// The files for TLS.
    var tls: ODataServer.TLS? {
        guard let certificate, let certificateKey else { return nil }
        return ODataServer.TLS(
            certificateChainFile: certificate, privateKeyFile: certificateKey, clientAuthorities: clientAuthorities)
    }

    /// What scripts of other origins may do.
    var crossOrigin: CrossOriginPolicy? {
        guard !origins.isEmpty else { return nil }
        return origins == ["*"]
            ? CrossOriginPolicy(origins: .any)
            : CrossOriginPolicy(origins: .these(Set(origins)), allowsCredentials: true)
    }

    /// The ways to find out who asks; none lets everybody in.
    func authentication() async throws -> [any Authentication] {
        var ways: [any Authentication] = []
        if let user, let passwordFile {
            let password = String(decoding: try contents(of: passwordFile), as: UTF8.self)
            ways.append(BasicAuthentication(user: user, password: password.trimmingCharacters(in: .newlines)))
        }
        if let tokenIssuer, let tokenAudience, let tokenKeys {
            ways.append(
                BearerAuthentication(issuer: tokenIssuer, audience: tokenAudience, keys: try await keys(tokenKeys)))
        }
        if clientAuthorities != nil { ways.append(ClientCertificateAuthentication()) }
        return ways
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

    private func contents(of path: String) throws -> Data {
        guard let data = FileManager.default.contents(atPath: path) else {
            throw Failure(message: "\(path) cannot be read.")
        }
        return data
    }
}
