import ODataHTTP

/// The protection space of a user name and a password: a realm of a server or of a proxy (RFC 9110, 11.5).
///
/// ```swift
/// let space = ProtectionSpace(host: "services.example", port: 443, scheme: "basic", realm: "Shop")
/// let credentials = MemoryCredentialStore()
/// await credentials.save(UserCredentials(user: "ann", password: password), for: space)
/// ```
public struct ProtectionSpace: Sendable, Hashable, Codable {
    /// The host in lower case.
    public let host: String
    /// The port number.
    public let port: Int
    /// The scheme, `http` or `https`. Credentials that were given for HTTPS are never used for HTTP.
    public let scheme: String
    /// The realm; empty if the challenge states none.
    public let realm: String
    /// Whether the space belongs to a proxy.
    public let isProxy: Bool

    /// Creates a protection space; host and scheme are converted to lower case.
    public init(host: String, port: Int, scheme: String, realm: String, isProxy: Bool = false) {
        self.host = host.lowercased()
        self.port = port
        self.scheme = scheme.lowercased()
        self.realm = realm
        self.isProxy = isProxy
    }

    /// Creates the protection space of an origin.
    public init(_ origin: Origin, realm: String, isProxy: Bool = false) {
        self.init(host: origin.host, port: origin.port, scheme: origin.scheme, realm: realm, isProxy: isProxy)
    }
}

/// A user name and a password. The printed value reveals neither.
///
/// ```swift
/// let credentials = UserCredentials(user: "ann", password: password)
/// let proxy = ProxyCredentials(credentials)  // for a proxy that asks for a user
/// ```
public struct UserCredentials: Sendable, Hashable, CustomStringConvertible, CustomReflectable {
    /// The user name.
    public let user: String
    /// The password in clear text.
    public let password: String

    /// Creates credentials from a user name and a password.
    public init(user: String, password: String) {
        self.user = user
        self.password = password
    }

    /// A fixed text that reveals no credentials.
    public var description: String { "‹redacted›" }
    /// A mirror without children, so that no credentials are printed.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

/// A store of credentials, keyed by protection space. It can be backed by a vault, a system key store or
/// memory.
///
/// ```swift
/// struct VaultStore: CredentialStore {
///     func credentials(for space: ProtectionSpace) async throws -> UserCredentials? { … }
///     func save(_ credentials: UserCredentials, for space: ProtectionSpace) async throws { … }
///     func remove(for space: ProtectionSpace) async throws { … }
///     func removeAll() async throws { … }
/// }
/// ```
public protocol CredentialStore: Sendable {
    /// Returns the credentials of a space, or `nil` if none are saved.
    func credentials(for space: ProtectionSpace) async throws -> UserCredentials?
    /// Saves credentials and replaces earlier ones of the space.
    func save(_ credentials: UserCredentials, for space: ProtectionSpace) async throws
    /// Removes the credentials of a space.
    func remove(for space: ProtectionSpace) async throws
    /// Removes all credentials.
    func removeAll() async throws
}

/// A store that keeps credentials in memory until the process ends.
public actor MemoryCredentialStore: CredentialStore {
    private var kept: [ProtectionSpace: UserCredentials] = [:]

    /// Creates an empty store.
    public init() {}

    /// Returns the credentials of a space, or `nil` if none are saved.
    public func credentials(for space: ProtectionSpace) -> UserCredentials? { kept[space] }
    /// Saves credentials and replaces earlier ones of the space.
    public func save(_ credentials: UserCredentials, for space: ProtectionSpace) { kept[space] = credentials }
    /// Removes the credentials of a space.
    public func remove(for space: ProtectionSpace) { kept[space] = nil }
    /// Removes all credentials.
    public func removeAll() { kept = [:] }
}
