/// Who sends a request: what authentication found out, for authorisation to judge.
public struct Principal: Hashable, Sendable {
    /// The name or identifier, unique within whoever issued it.
    public var name: String
    /// The roles or scopes.
    public var roles: Set<String>
    /// What else is known, by name: the claims of a token.
    public var claims: [String: String]

    /// Makes a principal.
    public init(name: String, roles: Set<String> = [], claims: [String: String] = [:]) {
        self.name = name
        self.roles = roles
        self.claims = claims
    }

    /// What tells this principal from every other one: the issuer, where a certificate or a token names it, and the name,
    /// which is unique at its issuer only (`rules.md` 45).
    package var identity: [String] { [claims["iss"] ?? claims["issuer"] ?? "", name] }
}
