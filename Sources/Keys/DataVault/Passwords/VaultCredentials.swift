public import Secrets

/// The credentials of a vault: a password, and a salt if the app uses one.
///
/// Either may be omitted; an empty string counts as omitted. Without both, the vault is opened with the key in
/// the platform's key store, and needs no knowledge of a person.
///
/// ```swift
/// let credentials = VaultCredentials(password: password, salt: "device 7")
/// try await vault.unlock(credentials)
/// let withoutPassword = VaultCredentials.platformKey
/// ```
public struct VaultCredentials: Sendable {
    /// The password, or `nil`.
    public let password: Secret<String>?
    /// A text that must be the same each time. Each vault also has its own random salt.
    public let salt: Secret<String>?

    /// No password and no salt: the vault is opened with the key in the platform's key store.
    public static let platformKey = VaultCredentials(password: nil)

    /// Creates credentials.
    ///
    /// - Parameters:
    ///   - password: Any length, any characters. It is normalised to Unicode form C.
    ///   - salt: Any text.
    public init(password: String?, salt: String? = nil) {
        self.password = password.flatMap { $0.isEmpty ? nil : Secret($0) }
        self.salt = salt.flatMap { $0.isEmpty ? nil : Secret($0) }
    }

    /// Whether both password and salt are omitted.
    public var isPlatformKey: Bool { password == nil && salt == nil }
}
