public import Secrets

/// Where named secrets are kept between runs.
///
/// ```swift
/// let store: any SecretStore = try FileSecretStore()
/// let name = try SecretName("orders")
/// let key = try store.key(named: name) ?? store.generateKey(named: name)
/// ```
public protocol SecretStore: Sendable {
    /// The bytes of a secret.
    ///
    /// - Parameter name: A legal ``SecretName``.
    /// - Returns: Nil when there is none of that name.
    /// - Throws: ``DataVaultError``.
    func secret(named name: SecretName) throws(DataVaultError) -> Secret<[UInt8]>?

    /// Keeps a secret, in place of one of the same name; when it returns, the secret is durable.
    ///
    /// - Parameters:
    ///   - secret: At most ``DataVaultLimits/maximumSecretByteCount`` bytes.
    ///   - name: A legal ``SecretName``.
    /// - Throws: ``DataVaultError``.
    func set(_ secret: Secret<[UInt8]>, named name: SecretName) throws(DataVaultError)

    /// Removes a secret.
    ///
    /// - Parameter name: A legal ``SecretName``; when there is none of that name, nothing happens.
    /// - Throws: ``DataVaultError``.
    func remove(named name: SecretName) throws(DataVaultError)

    /// The names of all secrets, sorted.
    ///
    /// - Throws: ``DataVaultError``.
    func names() throws(DataVaultError) -> [SecretName]

    /// Keeps a secret under a name that is not in use; when it returns, the secret is durable.
    ///
    /// - Parameters:
    ///   - secret: At most ``DataVaultLimits/maximumSecretByteCount`` bytes.
    ///   - name: A legal ``SecretName``.
    /// - Throws: ``DataVaultError/alreadyExists(name:)`` and the others.
    func add(_ secret: Secret<[UInt8]>, named name: SecretName) throws(DataVaultError)
}

/// The limits of secret stores and vaults.
public enum DataVaultLimits {
    /// The longest secret, or value of a vault, in bytes.
    public static let maximumSecretByteCount = 65_536
    /// The longest name of a value in a vault, in bytes of UTF-8.
    public static let maximumValueNameByteCount = 256
    /// The most that a vault may hold, names and all, in bytes (4 MiB). It is rewritten at each change.
    public static let maximumVaultByteCount = 4 << 20
    /// How long one waits for a vault that another process is working on, in seconds.
    public static let lockPatience = 30

    /// The bytes of a secret that is not too long.
    static func checked(_ secret: Secret<[UInt8]>, _ name: SecretName) throws(DataVaultError) -> [UInt8] {
        let bytes = secret.reveal()
        guard bytes.count <= maximumSecretByteCount else { throw .tooLong(name: name.text, bytes: bytes.count) }
        return bytes
    }
}

extension SecretStore {
    /// A key that was made by ``generateKey(named:)``, or any secret that `KeyFile` in `Secrets` takes for a key.
    ///
    /// - Parameter name: Its name.
    /// - Returns: Nil when there is no secret of that name.
    /// - Throws: ``DataVaultError/notAKey(name:)`` when the secret is something else, and the others.
    public func key(named name: SecretName) throws(DataVaultError) -> EncryptionKey? {
        guard let secret = try secret(named: name) else { return nil }
        guard let key = (try? KeyFile(content: secret.reveal(), path: name.text))?.key else {
            throw .notAKey(name: name.text)
        }
        return key
    }

    /// Makes a new key and keeps it in the form of a key file: a header, and 64 hexadecimal digits.
    ///
    /// - Parameter name: A name that no secret has: a key is never replaced by chance, because what it
    ///   encrypts would be lost.
    /// - Returns: The key, which is durable by now.
    /// - Throws: ``DataVaultError/alreadyExists(name:)`` and the others.
    public func generateKey(named name: SecretName) throws(DataVaultError) -> EncryptionKey {
        let key = EncryptionKey.generate()
        try add(KeyFile.content(for: key), named: name)
        return key
    }
}
