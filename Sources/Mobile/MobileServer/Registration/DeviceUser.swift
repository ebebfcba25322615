import ODataService

/// A user as a security configuration has identified it. A subject is unique at its issuer only (`rules.md` 45).
public struct DeviceUser: Hashable, Sendable {
    /// The issuer: `basic:NAME`, `cookie:NAME`, `oidc:URL`, `certificate:CA`, `activation:NAME` or
    /// `anonymous:REGISTRATION`.
    public var issuer: String
    /// The identifier at the issuer.
    public var subject: String
    /// The name for people.
    public var name: String
    /// The roles of the directory or the token, with those of the security configuration.
    public var roles: Set<String>
    /// The claims of the token.
    public var claims: [String: String]

    /// Creates a user.
    public init(
        issuer: String, subject: String, name: String? = nil, roles: Set<String> = [], claims: [String: String] = [:]
    ) {
        self.issuer = issuer
        self.subject = subject
        self.name = name ?? subject
        self.roles = roles
        self.claims = claims
    }

    /// The user as the principal of a request. The claim `iss` is the issuer.
    public var principal: Principal {
        var claims = claims
        claims["iss"] = issuer
        return Principal(name: subject, roles: roles, claims: claims)
    }
}
