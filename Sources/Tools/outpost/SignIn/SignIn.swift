import Foundation
import ODataClient

/// A sign-in as the vault keeps it: everything that renews the tokens, and the tokens.
struct SignIn: Codable, CustomStringConvertible, CustomReflectable {
    let tokenEndpoint: String
    let revocationEndpoint: String?
    let clientID: String
    let clientSecret: String?
    let scopes: [String]
    var tokens: OAuth2Tokens

    init(_ configuration: OAuth2.Configuration, _ tokens: OAuth2Tokens) {
        tokenEndpoint = configuration.tokenEndpoint
        revocationEndpoint = configuration.revocationEndpoint
        clientID = configuration.clientID
        clientSecret = configuration.clientSecret
        scopes = configuration.scopes
        self.tokens = tokens
    }

    /// A fixed text that reveals no secret.
    var description: String { "‹redacted›" }
    /// A mirror without children, so that no secret is printed.
    var customMirror: Mirror { Mirror(self, children: [:]) }

    var configuration: OAuth2.Configuration {
        OAuth2.Configuration(
            tokenEndpoint: tokenEndpoint, clientID: clientID, clientSecret: clientSecret, scopes: scopes,
            revocationEndpoint: revocationEndpoint)
    }
}
