import DataVault
import Foundation
import ODataClient
import ODataHTTP
import ToolLanguage

/// The vault with the sign-ins of `outpost login`, one for each origin of a service.
///
/// It is a vault of `outpost vault`, so that its owner can look at it, destroy it, or give it a password.
actor SignInVault {
    /// The name of the vault.
    static let name = "sign-ins"
    /// The time for which a command waits for another one that renews the same tokens.
    private static let patience = Duration.seconds(90)

    private let folder: VaultFolder
    private var vault: Vault?

    /// - Throws: `DataVaultError.noHome`.
    init() throws { folder = try VaultFolder() }

    /// Whether this account has ever signed in.
    nonisolated var isThere: Bool { folder.contains(Self.name) }

    /// The sign-in at an origin; `nil` if there is none.
    func signIn(at origin: Origin) async throws -> SignIn? {
        guard isThere else { return nil }
        guard let bytes = try await opened().data(named: origin.description) else { return nil }
        guard let signIn = try? JSONDecoder().decode(SignIn.self, from: Data(bytes)) else {
            throw Failure(
                message: "The sign-in at \(origin) cannot be read from the vault \(Self.name).",
                advice: "Sign in again: outpost login \(origin.description.shellQuoted)")
        }
        return signIn
    }

    /// Keeps a sign-in in place of an earlier one at the same origin.
    func keep(_ signIn: SignIn, at origin: Origin) async throws {
        let bytes = Array(try JSONEncoder().encode(signIn))
        try await opened().setData(bytes, named: origin.description)
    }

    /// Removes the sign-in at an origin.
    func remove(at origin: Origin) async throws {
        guard isThere else { return }
        _ = try await opened().removeValue(named: origin.description)
    }

    /// Runs a change of a sign-in while no other process changes the same one.
    nonisolated func exclusively<Result: Sendable>(
        at origin: Origin, _ body: @Sendable () async throws -> Result
    ) async throws -> Result {
        // The vault makes the folder of the lock.
        _ = try await opened()
        let file = origin.description.map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "-" }
        let path = "\(folder.directory)/.\(Self.name)-\(String(file.prefix(160))).lock"
        let deadline = ContinuousClock.now + Self.patience
        while true {
            if let lock = try SystemFiles().lock(path) {
                defer { withExtendedLifetime(lock) {} }
                return try await body()
            }
            guard ContinuousClock.now < deadline else {
                throw Failure(
                    message: "Another command has been renewing the sign-in at \(origin) for too long.",
                    advice: "End it, and run the same command again.")
            }
            try await Task.sleep(for: .milliseconds(20))
        }
    }

    /// The vault, which is made at the first use, and unlocked.
    private func opened() async throws -> Vault {
        if let vault, await !vault.isLocked { return vault }
        let opened: Vault
        do throws(DataVaultError) {
            opened = try folder.open(Self.name)
        } catch .noVault {
            do throws(DataVaultError) {
                let made = try await folder.create(Self.name)
                vault = made
                return made
            } catch .alreadyExists {
                // Another process has made it meanwhile.
                opened = try folder.open(Self.name)
            }
        }
        try await opened.unlock(try credentials())
        vault = opened
        return opened
    }

    private func credentials() throws -> VaultCredentials {
        guard try folder.hasPassword(Self.name) else { return .platformKey }
        guard let password = try Terminal.askSecret("Password of the vault \(Self.name): ") else {
            throw Failure(
                message: "The vault \(Self.name) has a password, and nobody is here to be asked.",
                advice: "Open it by the key of this account alone: outpost vault password \(Self.name) --no-password")
        }
        return VaultCredentials(password: password)
    }
}

/// The tokens of a sign-in in the vault, which several commands may use and renew at the same time.
struct VaultTokenStore: OAuth2TokenStore {
    let vault: SignInVault
    let origin: Origin

    func tokens() async throws -> OAuth2Tokens? { try await vault.signIn(at: origin)?.tokens }

    /// Replaces the tokens. A sign-in that was removed meanwhile does not come back.
    func save(_ tokens: OAuth2Tokens?) async throws {
        guard let tokens else { return try await vault.remove(at: origin) }
        guard var signIn = try await vault.signIn(at: origin) else { return }
        signIn.tokens = tokens
        try await vault.keep(signIn, at: origin)
    }

    func exclusively<Result: Sendable>(_ body: @Sendable () async throws -> Result) async throws -> Result {
        try await vault.exclusively(at: origin, body)
    }
}
