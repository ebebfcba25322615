public import Secrets

/// A persistent store of named secrets.
///
/// ```swift
/// let store: any SecretStore = try FileSecretStore()
/// let name = try SecretName("orders")
/// let key = try store.key(named: name) ?? store.generateKey(named: name)
/// ```
public protocol SecretStore: Sendable {
    /// Returns the bytes of a secret.
    ///
    /// - Parameter name: The name of the secret.
    /// - Returns: `nil` if no secret has this name.
    /// - Throws: ``DataVaultError``.
    func secret(named name: SecretName) throws(DataVaultError) -> Secret<[UInt8]>?

    /// Stores a secret durably and replaces a secret with the same name.
    ///
    /// - Parameters:
    ///   - secret: At most ``DataVaultLimits/maximumSecretByteCount`` bytes.
    ///   - name: The name of the secret.
    /// - Throws: ``DataVaultError``.
    func set(_ secret: Secret<[UInt8]>, named name: SecretName) throws(DataVaultError)

    /// Removes a secret.
    ///
    /// - Parameter name: The name of the secret. If no secret has this name, nothing happens.
    /// - Throws: ``DataVaultError``.
    func remove(named name: SecretName) throws(DataVaultError)

    /// Returns the sorted names of all secrets.
    ///
    /// - Throws: ``DataVaultError``.
    func names() throws(DataVaultError) -> [SecretName]

    /// Stores a secret durably under an unused name.
    ///
    /// - Parameters:
    ///   - secret: At most ``DataVaultLimits/maximumSecretByteCount`` bytes.
    ///   - name: The name of the secret.
    /// - Throws: ``DataVaultError``: `alreadyExists` if a secret has this name, and other errors of the store.
    func add(_ secret: Secret<[UInt8]>, named name: SecretName) throws(DataVaultError)
}

/// The limits of secret stores and vaults.
public enum DataVaultLimits {
    /// The maximum size of a secret or of a value in a vault, in bytes.
    public static let maximumSecretByteCount = 65_536
    /// The maximum length of a value name in a vault, in bytes of UTF-8.
    public static let maximumValueNameByteCount = 256
    /// The maximum total size of a vault, including names, in bytes (4 MiB). Each change rewrites the whole
    /// vault.
    public static let maximumVaultByteCount = 4 << 20
    /// The number of seconds to wait for a vault that another process is using.
    public static let lockPatience = 30

    /// Returns the bytes of a secret, or throws if there are too many.
    static func checked(_ secret: Secret<[UInt8]>, _ name: SecretName) throws(DataVaultError) -> [UInt8] {
        let bytes = secret.reveal()
        guard bytes.count <= maximumSecretByteCount else { throw .tooLong(name: name.text, bytes: bytes.count) }
        return bytes
    }
}

extension SecretStore {
    /// Returns a key that ``generateKey(named:)`` created, or any secret that `KeyFile` in `Secrets` accepts as
    /// a key.
    ///
    /// - Parameter name: The name of the secret.
    /// - Returns: `nil` if no secret has this name.
    /// - Throws: ``DataVaultError``: `notAKey` if the secret is not a key, and other errors of the store.
    public func key(named name: SecretName) throws(DataVaultError) -> EncryptionKey? {
        guard let secret = try secret(named: name) else { return nil }
        guard let key = (try? KeyFile(content: secret.reveal(), path: name.text))?.key else {
            throw .notAKey(name: name.text)
        }
        return key
    }

    /// Creates a key and stores it in the format of a key file: a header, and 64 hexadecimal digits.
    ///
    /// - Parameter name: An unused name. An existing key is never replaced, because its encrypted data would be
    ///   lost.
    /// - Returns: The key, which is durable.
    /// - Throws: ``DataVaultError``: `alreadyExists` if a secret has this name, and other errors of the store.
    public func generateKey(named name: SecretName) throws(DataVaultError) -> EncryptionKey {
        let key = EncryptionKey.generate()
        try add(KeyFile.content(for: key), named: name)
        return key
    }
}
