import ArgumentParser
import ToolLanguage

/// The client and the authorization server of a sign-in.
struct SignInOptions: ParsableArguments {
    @Option(
        name: .customLong("client-id"),
        help: .text("The identifier of the app that is registered for you.", valueName: "id"))
    var clientID: String?

    @Option(
        help: .text("A file with the secret of the app, for servers that demand one.", valueName: "file"),
        completion: .file())
    var clientSecretFile: String?

    @Option(help: .text("The authorization server. Its metadata name its endpoints.", valueName: "url"))
    var issuer: String?

    @Option(
        name: .customLong("authorize-url"),
        help: .text("The address at which a browser signs in.", valueName: "url"))
    var authorizeURL: String?

    @Option(
        name: .customLong("token-url"),
        help: .text("The address at which tokens are requested.", valueName: "url"))
    var tokenURL: String?

    @Option(
        name: .customLong("device-url"),
        help: .text("The address at which a code for another device is requested.", valueName: "url"))
    var deviceURL: String?

    @Option(
        name: .customLong("scope"),
        help: .text("The access that is asked for; may be repeated.", valueName: "scope"))
    var scopeTexts: [String] = []

    @OptionGroup var secrets: SecretOptions

    /// The scopes, of which each option may have several, separated by spaces.
    var scopes: [String] { scopeTexts.flatMap { $0.split(separator: " ").map { String($0) } } }

    mutating func validate() throws {
        guard issuer == nil || (authorizeURL ?? tokenURL ?? deviceURL) == nil else {
            throw ValidationError(translated("--issuer excludes --authorize-url, --token-url and --device-url."))
        }
        guard (tokenURL == nil) == ((authorizeURL ?? deviceURL) == nil) else {
            throw ValidationError(translated("--token-url goes together with --authorize-url or --device-url."))
        }
    }
}
