import ODataHTTP

/// What a user name and a password are for: a realm of a server or of a proxy (RFC 9110, 11.5).
public struct ProtectionSpace: Sendable, Hashable, Codable {
    /// The host in lower case.
    public let host: String
    /// The port.
    public let port: Int
    /// `http` or `https`: what was given over HTTPS is never looked up for HTTP.
    public let scheme: String
    /// The realm; an empty text where none is said.
    public let realm: String
    /// Whether it is a proxy.
    public let isProxy: Bool

    /// Makes a space.
    public init(host: String, port: Int, scheme: String, realm: String, isProxy: Bool = false) {
        self.host = host.lowercased()
        self.port = port
        self.scheme = scheme.lowercased()
        self.realm = realm
        self.isProxy = isProxy
    }

    /// The space of an origin.
    public init(_ origin: Origin, realm: String, isProxy: Bool = false) {
        self.init(host: origin.host, port: origin.port, scheme: origin.scheme, realm: realm, isProxy: isProxy)
    }
}

/// A user name and a password.
public struct UserCredentials: Sendable, Hashable, CustomStringConvertible, CustomReflectable {
    /// The name.
    public let user: String
    /// The password.
    public let password: String

    /// Makes credentials.
    public init(user: String, password: String) {
        self.user = user
        self.password = password
    }

    /// Nothing of what it holds.
    public var description: String { "‹redacted›" }
    /// Nothing of what it holds.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

/// Keeps credentials by what they are for. A vault, a key store of the system or memory may be behind it.
///
/// ```swift
/// struct VaultStore: CredentialStore {
///     func credentials(for space: ProtectionSpace) async throws -> UserCredentials? { … }
///     …
/// }
/// ```
public protocol CredentialStore: Sendable {
    /// What is kept for a space; `nil` for nothing.
    func credentials(for space: ProtectionSpace) async throws -> UserCredentials?
    /// Keeps credentials in place of those kept before.
    func save(_ credentials: UserCredentials, for space: ProtectionSpace) async throws
    /// Forgets what is kept for a space.
    func remove(for space: ProtectionSpace) async throws
    /// Forgets everything.
    func removeAll() async throws
}

/// Keeps credentials in memory until the process ends.
public actor MemoryCredentialStore: CredentialStore {
    private var kept: [ProtectionSpace: UserCredentials] = [:]

    /// Makes an empty store.
    public init() {}

    /// What is kept for a space.
    public func credentials(for space: ProtectionSpace) -> UserCredentials? { kept[space] }
    /// Keeps credentials.
    public func save(_ credentials: UserCredentials, for space: ProtectionSpace) { kept[space] = credentials }
    /// Forgets what is kept for a space.
    public func remove(for space: ProtectionSpace) { kept[space] = nil }
    /// Forgets everything.
    public func removeAll() { kept = [:] }
}
