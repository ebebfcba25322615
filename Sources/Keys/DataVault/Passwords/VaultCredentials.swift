public import Secrets

/// What a person gives to open a vault: a password, and a salt if the app uses one.
///
/// Either may be left out; an empty text is the same as none. With neither, the vault is opened by the key
/// that the platform's key store keeps for it, and by nothing a person knows.
///
/// ```swift
/// let credentials = VaultCredentials(password: pin, salt: deviceName)
/// try await vault.unlock(credentials)
/// try await other.unlock(.platformKey)
/// ```
public struct VaultCredentials: Sendable {
    /// The password.
    public let password: Secret<String>?
    /// A text that must be the same each time; each vault has a random salt of its own besides.
    public let salt: Secret<String>?

    /// No password and no salt: the key in the platform's key store alone.
    public static let platformKey = VaultCredentials(password: nil)

    /// - Parameters:
    ///   - password: Any length, any characters. It is compared after Unicode normalisation (form C).
    ///   - salt: Any text.
    public init(password: String?, salt: String? = nil) {
        self.password = password.flatMap { $0.isEmpty ? nil : Secret($0) }
        self.salt = salt.flatMap { $0.isEmpty ? nil : Secret($0) }
    }

    /// Whether neither is given.
    public var isPlatformKey: Bool { password == nil && salt == nil }
}
