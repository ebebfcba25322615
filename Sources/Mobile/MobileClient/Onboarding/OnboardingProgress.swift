import DataVault
import Foundation
import ODataClient
import ODataHTTP
import Secrets

/// The durable progress of an onboarding. Each step is written before its effect is visible.
struct OnboardingProgress: Codable, Sendable, Equatable {
    /// The last step that is done.
    enum Done: Int, Codable, Sendable, Comparable {
        case nothing, discovered, trusted, signedIn, registered, policiesKnown, unlocked, ready

        static func < (left: Done, right: Done) -> Bool { left.rawValue < right.rawValue }
    }

    var profile: ConnectionProfile
    var user: String?
    var done = Done.nothing
    var methods: [SignInMethod] = []
    var needsActivation = false
    /// The public keys of servers that the user has accepted.
    var pins: Set<String> = []
    /// The user as the sign-in knows it.
    var subject: String?
    var lock: LockReason?

    init(_ profile: ConnectionProfile, user: String?) {
        self.profile = profile
        self.user = user
    }
}

/// The credentials of a sign-in as a vault keeps them.
struct KeptSignIn: Codable, Sendable, CustomStringConvertible, CustomReflectable {
    enum Kind: String, Codable, Sendable {
        case basic, tokens, certificate, cookies, activation, anonymous
    }

    var kind: Kind
    /// The name of the security configuration.
    var method: String?
    var user: String?
    var password: String?
    var activation: String?
    var tokens: OAuth2Tokens?
    var tokenEndpoint: String?
    var revocationEndpoint: String?
    var clientID: String?
    var certificate: [UInt8]?
    /// The cookies of a sign-in page.
    var cookies: [Cookie]?

    static let record = "sign-in"

    init(_ kind: Kind, method: String?) {
        self.kind = kind
        self.method = method
    }

    /// The name of the user for people.
    var subject: String { user ?? (kind == .anonymous ? "anonymous" : kind.rawValue) }

    /// A fixed text that reveals no secret.
    var description: String { "‹redacted›" }
    /// A mirror without children, so that no secret is printed.
    var customMirror: Mirror { Mirror(self, children: [:]) }
}

/// The vault of a session's secrets, which opens with the passcode: credentials, cookies and the keys of stores.
///
/// Before the passcode is chosen, the records of the device hold the credentials.
actor SessionSecrets {
    private let records: SessionRecords
    private var vault: Vault?

    init(_ records: SessionRecords) { self.records = records }

    func use(_ vault: Vault) { self.vault = vault }

    var isOpen: Bool {
        get async {
            guard let vault else { return false }
            return await !vault.isLocked
        }
    }

    /// Moves the credentials from the records of the device into the vault.
    func adopt() async throws(MobileError) {
        guard let signIn: KeptSignIn = try await records.value(KeptSignIn.record) else { return }
        try await set(signIn)
        try await records.remove(KeptSignIn.record)
    }

    func signIn() async throws(MobileError) -> KeptSignIn? {
        guard let vault else { return try await records.value(KeptSignIn.record) }
        let bytes: [UInt8]?
        do throws(DataVaultError) {
            bytes = try await vault.data(named: KeptSignIn.record)
        } catch {
            throw MobileError(error)
        }
        if let bytes, let signIn = try? JSONDecoder().decode(KeptSignIn.self, from: Data(bytes)) { return signIn }
        return try await records.value(KeptSignIn.record)
    }

    func set(_ signIn: KeptSignIn?) async throws(MobileError) {
        guard let vault else { return try await records.set(signIn, KeptSignIn.record) }
        try await set(signIn, KeptSignIn.record, in: vault)
    }

    func cookies() async throws(MobileError) -> [Cookie] {
        guard let vault else { return [] }
        do throws(DataVaultError) {
            guard let bytes = try await vault.data(named: "cookies") else { return [] }
            return (try? JSONDecoder().decode([Cookie].self, from: Data(bytes))) ?? []
        } catch {
            throw MobileError(error)
        }
    }

    func set(_ cookies: [Cookie]) async throws(MobileError) {
        guard let vault, !cookies.isEmpty else { return }
        try await set(cookies, "cookies", in: vault)
    }

    /// Returns the key of a store, which is made at the first use.
    func key(named name: String) async throws(MobileError) -> EncryptionKey {
        guard let vault else { throw .locked(.passcode) }
        do throws(DataVaultError) {
            return try await vault.key(named: "store:\(name)")
        } catch {
            throw MobileError(error)
        }
    }

    func lock() async { await vault?.lock() }

    /// Applies the rules for the passcode.
    ///
    /// - Parameter policy: The rules; `nil` if no passcode is demanded.
    /// - Returns: Whether the rules are new, so that the vault is locked now.
    func apply(_ policy: PasswordPolicy?) async throws(MobileError) -> Bool {
        guard let vault else { return false }
        let wanted = policy ?? Self.noPasscode
        do throws(DataVaultError) {
            let hasNone = try await vault.isDefaultPasswordUsed
            let isForbidden = hasNone && !wanted.defaultPasswordAllowed
            guard try await vault.passwordPolicy != wanted || isForbidden else { return false }
            try await vault.setPasswordPolicy(wanted)
            guard hasNone, !isForbidden else { return true }
            try await vault.unlock(.platformKey)
            return false
        } catch {
            throw MobileError(error)
        }
    }

    /// The rules of a server that demands no passcode.
    static var noPasscode: PasswordPolicy {
        var policy = PasswordPolicy()
        policy.defaultPasswordAllowed = true
        return policy
    }

    private func set<Value: Encodable>(_ value: Value?, _ name: String, in vault: Vault) async throws(MobileError) {
        do {
            if let value {
                try await vault.setData(Array(try JSONEncoder().encode(value)), named: name)
            } else {
                try await vault.removeValue(named: name)
            }
        } catch let error as DataVaultError {
            throw MobileError(error)
        } catch {
            throw .device(reason: "\(error)")
        }
    }
}

/// The tokens of a session in its vault, which OAuth renews.
struct SessionTokenStore: OAuth2TokenStore {
    let secrets: SessionSecrets

    func tokens() async throws -> OAuth2Tokens? { try await secrets.signIn()?.tokens }

    /// Replaces the tokens. A sign-in that was removed meanwhile does not come back.
    func save(_ tokens: OAuth2Tokens?) async throws {
        guard var signIn = try await secrets.signIn() else { return }
        signIn.tokens = tokens
        try await secrets.set(signIn)
    }
}
