/// The authenticated sender of a request, on which authorisation is based.
public struct Principal: Hashable, Sendable {
    /// The name or identifier, which is unique at its issuer.
    public var name: String
    /// The roles or scopes.
    public var roles: Set<String>
    /// Other claims about the principal by name, such as the claims of a token.
    public var claims: [String: String]

    /// Creates a principal.
    public init(name: String, roles: Set<String> = [], claims: [String: String] = [:]) {
        self.name = name
        self.roles = roles
        self.claims = claims
    }

    /// The issuer and the name, which together identify the principal (`rules.md` 45). The issuer is empty if
    /// neither a certificate nor a token states it.
    package var identity: [String] { [claims["iss"] ?? claims["issuer"] ?? "", name] }
}
