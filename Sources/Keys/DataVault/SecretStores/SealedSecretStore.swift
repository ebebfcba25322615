public import Secrets

/// Secrets sealed under a master key of the caller's, in any other store.
///
/// On Linux there is no hardware that keeps keys for a program. Whoever has a better place for one key than
/// an owner-only file (a secret that an orchestrator mounts, a key server, the kernel's keyring) gives it
/// here, and the files of the store beneath are worthless without it.
///
/// ```swift
/// let master = try KeySource(keyFile: "/run/secrets/master.key")
/// guard case .key(let key) = master else { … }
/// let store = SealedSecretStore(try FileSecretStore(), masterKey: key)
/// ```
///
/// Each secret is AES-256-GCM with its name as associated data, under a key derived from the master key. The
/// store beneath sees names and lengths. It can put back an older secret of the same name, unseen.
public struct SealedSecretStore: SecretStore {
    private let base: any SecretStore
    private let cipher: RecordCipher

    /// - Parameters:
    ///   - base: Where the sealed secrets are kept.
    ///   - masterKey: A key that is not used for anything else.
    public init(_ base: any SecretStore, masterKey: EncryptionKey) {
        self.base = base
        cipher = RecordCipher(key: masterKey, purpose: "outpost sealed secrets 1")
    }

    /// The bytes of a secret, or nil; see ``SecretStore/secret(named:)``.
    ///
    /// - Throws: ``DataVaultError/unsealable(name:)`` when it was sealed under another key or altered.
    public func secret(named name: SecretName) throws(DataVaultError) -> Secret<[UInt8]>? {
        guard let sealed = try base.secret(named: name) else { return nil }
        do {
            return Secret(try cipher.open(sealed.reveal(), context: Array(name.text.utf8)))
        } catch {
            throw .unsealable(name: name.text)
        }
    }

    /// Keeps a secret; see ``SecretStore/set(_:named:)``. It may be 28 bytes shorter than the limit of ``DataVaultLimits``.
    public func set(_ secret: Secret<[UInt8]>, named name: SecretName) throws(DataVaultError) {
        try base.set(seal(secret, name), named: name)
    }

    /// Keeps a secret under a name that is not in use; see ``SecretStore/add(_:named:)``.
    public func add(_ secret: Secret<[UInt8]>, named name: SecretName) throws(DataVaultError) {
        try base.add(seal(secret, name), named: name)
    }

    /// Removes a secret; see ``SecretStore/remove(named:)``.
    public func remove(named name: SecretName) throws(DataVaultError) { try base.remove(named: name) }

    /// The names of all secrets, sorted.
    public func names() throws(DataVaultError) -> [SecretName] { try base.names() }

    private func seal(_ secret: Secret<[UInt8]>, _ name: SecretName) throws(DataVaultError) -> Secret<[UInt8]> {
        do {
            return Secret(try cipher.seal(secret.reveal(), context: Array(name.text.utf8)))
        } catch {
            throw .unsealable(name: name.text)
        }
    }
}
