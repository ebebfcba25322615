import Crypto
public import DataVault
public import ODataClient
import Foundation

/// Keeps the user names and passwords of protection spaces in a vault.
///
/// ```swift
/// let store = VaultCredentialStore(try await vaults.open("login"))
/// try await store.save(UserCredentials(user: "ann", password: password), for: space)
/// ```
public struct VaultCredentialStore: CredentialStore {
    private static let prefix = "credentials:"

    private struct Kept: Codable {
        var user: String
        var password: String
    }

    private let vault: Vault

    /// Creates a store.
    ///
    /// - Parameter vault: The vault. While it is locked, all functions throw `DataVaultError.locked`.
    public init(_ vault: Vault) { self.vault = vault }

    /// Returns the credentials of a space, or `nil` if none are saved.
    ///
    /// - Throws: `DataVaultError`.
    public func credentials(for space: ProtectionSpace) async throws -> UserCredentials? {
        guard let bytes = try await vault.data(named: Self.name(space)) else { return nil }
        let kept = try JSONDecoder().decode(Kept.self, from: Data(bytes))
        return UserCredentials(user: kept.user, password: kept.password)
    }

    /// Saves credentials and replaces earlier ones of the space.
    ///
    /// - Throws: `DataVaultError`.
    public func save(_ credentials: UserCredentials, for space: ProtectionSpace) async throws {
        let kept = Kept(user: credentials.user, password: credentials.password)
        try await vault.setData(Array(try JSONEncoder().encode(kept)), named: Self.name(space))
    }

    /// Removes the credentials of a space.
    ///
    /// - Throws: `DataVaultError`.
    public func remove(for space: ProtectionSpace) async throws {
        try await vault.removeValue(named: Self.name(space))
    }

    /// Removes all credentials.
    ///
    /// - Throws: `DataVaultError`.
    public func removeAll() async throws {
        for item in try await vault.items where item.name.hasPrefix(Self.prefix) {
            try await vault.removeValue(named: item.name)
        }
    }

    /// The name of a space in the vault. A realm can be longer than a name.
    private static func name(_ space: ProtectionSpace) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        let digest = SHA256.hash(data: try encoder.encode(space))
        return prefix + digest.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}

/// Keeps the tokens of a sign-in in a vault.
///
/// ```swift
/// let oauth = try OAuth2(
///     configuration, transport: transport, store: VaultTokens(try await vaults.open("login"), named: "shop"))
/// ```
public struct VaultTokens: OAuth2TokenStore {
    private let vault: Vault
    private let name: String

    /// Creates a store.
    ///
    /// - Parameters:
    ///   - vault: The vault. While it is locked, all functions throw `DataVaultError.locked`.
    ///   - name: The name of the sign-in, such as the origin of the service.
    public init(_ vault: Vault, named name: String) {
        self.vault = vault
        self.name = "tokens:" + name
    }

    /// Returns the saved tokens, or `nil` if there are none.
    ///
    /// - Throws: `DataVaultError`.
    public func tokens() async throws -> OAuth2Tokens? {
        guard let bytes = try await vault.data(named: name) else { return nil }
        return try JSONDecoder().decode(OAuth2Tokens.self, from: Data(bytes))
    }

    /// Saves tokens and replaces earlier ones; `nil` removes them.
    ///
    /// - Throws: `DataVaultError`.
    public func save(_ tokens: OAuth2Tokens?) async throws {
        guard let tokens else {
            try await vault.removeValue(named: name)
            return
        }
        try await vault.setData(Array(try JSONEncoder().encode(tokens)), named: name)
    }
}

/// Keeps the cookies of a session in a vault.
///
/// ```swift
/// let kept = VaultCookies(try await vaults.open("login"), named: "shop")
/// let jar = CookieJar(try await kept.cookies())
/// try await kept.save(jar)
/// ```
public struct VaultCookies: Sendable {
    private let vault: Vault
    private let name: String

    /// Creates a store.
    ///
    /// - Parameters:
    ///   - vault: The vault. While it is locked, all functions throw `DataVaultError.locked`.
    ///   - name: The name of the session.
    public init(_ vault: Vault, named name: String) {
        self.vault = vault
        self.name = "cookies:" + name
    }

    /// Returns the saved cookies.
    ///
    /// - Throws: `DataVaultError`.
    public func cookies() async throws -> [Cookie] {
        guard let bytes = try await vault.data(named: name) else { return [] }
        return try JSONDecoder().decode([Cookie].self, from: Data(bytes))
    }

    /// Saves the cookies of a jar in place of earlier ones.
    ///
    /// - Throws: `DataVaultError`: `tooLong` if they have more than 65,536 bytes.
    public func save(_ jar: CookieJar) async throws {
        try await vault.setData(Array(try JSONEncoder().encode(jar.cookies)), named: name)
    }
}
