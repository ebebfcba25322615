import Foundation
public import Secrets

/// A store that keeps secrets in files that only their owner can read: mode 0600, in a folder of mode 0700.
///
/// Each secret is one file with its name. A file created by ``generateKey(named:)`` is also a key file, so that
/// `--key-file` can name it. Files are replaced atomically. A file or folder that other users can access is
/// refused.
///
/// ```swift
/// let keys = try FileSecretStore(directory: folder)
/// let name = try SecretName("orders")
/// let key = try keys.key(named: name) ?? keys.generateKey(named: name)
/// ```
public struct FileSecretStore: SecretStore {
    /// The folder that holds the files.
    public let directory: String
    private let files: any FileLayer

    /// Opens a store. The folder is created with the first secret.
    ///
    /// - Parameter directory: The folder, or `nil` for ``defaultDirectory()``.
    /// - Throws: ``DataVaultError/noHome``.
    public init(directory: String? = nil) throws(DataVaultError) {
        if let directory {
            self.init(directory: directory, files: SystemFiles())
        } else {
            self.init(directory: try Self.defaultDirectory(), files: SystemFiles())
        }
    }

    init(directory: String, files: any FileLayer) {
        self.directory = directory
        self.files = files
    }

    /// Returns `$XDG_DATA_HOME/outpost/keys` or `~/.local/share/outpost/keys`; on Apple's platforms,
    /// `outpost/keys` in Application Support.
    ///
    /// - Returns: The path of the folder, which need not exist.
    /// - Throws: ``DataVaultError/noHome``.
    public static func defaultDirectory() throws(DataVaultError) -> String {
        guard let folder = DataFolder.path() else { throw .noHome }
        return folder + "/keys"
    }

    /// Returns the folder according to the XDG base directory specification for given environment variables.
    static func defaultDirectory(environment: [String: String]) throws(DataVaultError) -> String {
        guard let folder = DataFolder.xdgPath(environment: environment) else { throw .noHome }
        return folder + "/keys"
    }

    /// Returns the bytes of a secret, or `nil`; see ``SecretStore/secret(named:)``.
    ///
    /// - Parameter name: The name of the secret.
    /// - Returns: All bytes of its file.
    /// - Throws: ``DataVaultError``: `exposed`, `notAFile`, `tooLong`, `system`.
    public func secret(named name: SecretName) throws(DataVaultError) -> Secret<[UInt8]>? {
        guard try files.isDirectoryThere(directory) else { return nil }
        let path = directory + "/" + name.text
        guard let bytes = try files.read(path, limit: DataVaultLimits.maximumSecretByteCount) else { return nil }
        guard bytes.count <= DataVaultLimits.maximumSecretByteCount else {
            throw .tooLong(name: name.text, bytes: bytes.count)
        }
        return Secret(bytes)
    }

    /// Stores a secret durably and atomically; see ``SecretStore/set(_:named:)``.
    ///
    /// - Parameters:
    ///   - secret: At most ``DataVaultLimits/maximumSecretByteCount`` bytes.
    ///   - name: The name of the secret.
    /// - Throws: ``DataVaultError``: `exposed`, `tooLong`, `system`.
    public func set(_ secret: Secret<[UInt8]>, named name: SecretName) throws(DataVaultError) {
        try files.replace(name.text, in: directory, with: DataVaultLimits.checked(secret, name))
    }

    /// Stores a secret under an unused name; see ``SecretStore/add(_:named:)``.
    ///
    /// - Parameters:
    ///   - secret: At most ``DataVaultLimits/maximumSecretByteCount`` bytes.
    ///   - name: The name of the secret.
    /// - Throws: ``DataVaultError``: `alreadyExists`, `exposed`, `tooLong`, `system`.
    public func add(_ secret: Secret<[UInt8]>, named name: SecretName) throws(DataVaultError) {
        do {
            try files.add(name.text, in: directory, DataVaultLimits.checked(secret, name))
        } catch .system(_, _, EEXIST) {
            throw .alreadyExists(name: name.text)
        }
    }

    /// Removes a secret; see ``SecretStore/remove(named:)``.
    ///
    /// - Parameter name: The name of the secret.
    /// - Throws: ``DataVaultError``: `exposed`, `system`.
    public func remove(named name: SecretName) throws(DataVaultError) {
        guard try files.isDirectoryThere(directory) else { return }
        // Unfinished files that a crash left may contain copies of secrets.
        try files.removeLeftovers(in: directory)
        let wasUnfinished = try files.removeUnfinished(name.text, in: directory)
        let wasThere = try files.remove(directory + "/" + name.text)
        if wasThere || wasUnfinished { try files.syncDirectory(directory) }
    }

    /// Returns the sorted names of all secrets. Files with illegal names are ignored.
    ///
    /// - Throws: ``DataVaultError``: `exposed`, `system`.
    public func names() throws(DataVaultError) -> [SecretName] {
        guard try files.isDirectoryThere(directory) else { return [] }
        return try files.names(in: directory).sorted().compactMap { try? SecretName($0) }
    }
}
