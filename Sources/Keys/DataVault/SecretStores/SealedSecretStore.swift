public import Secrets

/// A store that seals secrets with a master key of the caller, and keeps them in any other store.
///
/// On Linux, no hardware keeps keys for a program. A program may have a better place for one key than an
/// owner-only file: a secret that an orchestrator mounts, a key server, or the kernel's keyring. With that key
/// as the master key, the files of the underlying store are worthless alone.
///
/// ```swift
/// let master = try KeySource(keyFile: "/run/secrets/master.key")
/// guard case .key(let key) = master else { … }
/// let store = SealedSecretStore(try FileSecretStore(), masterKey: key)
/// ```
///
/// Each secret is encrypted with AES-256-GCM with its name as associated data, under a key derived from the
/// master key. The underlying store sees names and lengths. It can restore an older secret of the same name
/// without detection.
public struct SealedSecretStore: SecretStore {
    private let base: any SecretStore
    private let cipher: RecordCipher

    /// Creates a store.
    ///
    /// - Parameters:
    ///   - base: The store for the sealed secrets.
    ///   - masterKey: A key that is not used for anything else.
    public init(_ base: any SecretStore, masterKey: EncryptionKey) {
        self.base = base
        cipher = RecordCipher(key: masterKey, purpose: "outpost sealed secrets 1")
    }

    /// Returns the bytes of a secret, or `nil`; see ``SecretStore/secret(named:)``.
    ///
    /// - Throws: ``DataVaultError/unsealable(name:)`` if the secret was sealed with another key or altered.
    public func secret(named name: SecretName) throws(DataVaultError) -> Secret<[UInt8]>? {
        guard let sealed = try base.secret(named: name) else { return nil }
        do {
            return Secret(try cipher.open(sealed.reveal(), context: Array(name.text.utf8)))
        } catch {
            throw .unsealable(name: name.text)
        }
    }

    /// Stores a secret; see ``SecretStore/set(_:named:)``. It must be 28 bytes shorter than the limit of
    /// ``DataVaultLimits``.
    public func set(_ secret: Secret<[UInt8]>, named name: SecretName) throws(DataVaultError) {
        try base.set(seal(secret, name), named: name)
    }

    /// Stores a secret under an unused name; see ``SecretStore/add(_:named:)``.
    public func add(_ secret: Secret<[UInt8]>, named name: SecretName) throws(DataVaultError) {
        try base.add(seal(secret, name), named: name)
    }

    /// Removes a secret; see ``SecretStore/remove(named:)``.
    public func remove(named name: SecretName) throws(DataVaultError) { try base.remove(named: name) }

    /// Returns the sorted names of all secrets.
    public func names() throws(DataVaultError) -> [SecretName] { try base.names() }

    private func seal(_ secret: Secret<[UInt8]>, _ name: SecretName) throws(DataVaultError) -> Secret<[UInt8]> {
        do {
            return Secret(try cipher.seal(secret.reveal(), context: Array(name.text.utf8)))
        } catch {
            throw .unsealable(name: name.text)
        }
    }
}
