public import DataVault
public import Secrets

/// How well what is kept is protected.
///
/// | | files | on Apple's platforms also |
/// |---|---|---|
/// | ``full`` | AES-256-GCM under a key | unreadable while the device is locked |
/// | ``afterFirstUnlock`` | AES-256-GCM under a key | unreadable until it was unlocked once |
/// | ``unprotected`` | plain, with checksums | no protection by the system |
///
/// Files are their owner's alone in any case (mode 0600, in a folder of mode 0700).
public enum StoragePolicy: String, Sendable, Codable, CaseIterable {
    /// Encrypted, and closed while the device is locked: the default.
    case full
    /// Encrypted, and readable in the background once the device was unlocked.
    case afterFirstUnlock
    /// Not encrypted: for what everybody may read.
    case unprotected

    /// Whether items are encrypted.
    public var isEncrypted: Bool { self != .unprotected }
}

/// Where the key of a store comes from.
public enum StoreKey: Sendable {
    /// A key or a passphrase of the caller's, who keeps it.
    case given(KeySource)
    /// A key that is made at the first use and kept in a secret store: on Linux files of the owner's, on Apple's
    /// platforms the keychain.
    case generated(in: any SecretStore, named: SecretName)
}
