public import DataVault
public import Secrets

/// The protection of stored items.
///
/// | policy | files | on Apple platforms also |
/// |---|---|---|
/// | ``full`` | AES-256-GCM with a key | unreadable while the device is locked |
/// | ``afterFirstUnlock`` | AES-256-GCM with a key | unreadable until the first unlock |
/// | ``unprotected`` | plain, with checksums | no protection by the system |
///
/// Only the owner can access the files (mode 0600, in a folder of mode 0700).
public enum StoragePolicy: String, Sendable, Codable, CaseIterable {
    /// Encrypted, and inaccessible while the device is locked. This is the default.
    case full
    /// Encrypted, and readable in the background after the first unlock.
    case afterFirstUnlock
    /// Not encrypted; for public data.
    case unprotected

    /// Whether items are encrypted.
    public var isEncrypted: Bool { self != .unprotected }
}

/// The source of a store's key.
public enum StoreKey: Sendable {
    /// A key or a passphrase that the caller keeps.
    case given(KeySource)
    /// A key that is generated at the first use and kept in a secret store: files of the owner on Linux, the
    /// keychain on Apple platforms.
    case generated(in: any SecretStore, named: SecretName)
}
