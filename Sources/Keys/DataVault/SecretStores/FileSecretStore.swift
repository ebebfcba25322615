import Foundation
public import Secrets

/// Secrets in files that their owner alone can read: mode 0600, in a folder of mode 0700.
///
/// Each secret is one file of its name. A file made by ``generateKey(named:)`` is a key file too, so that `--key-file` can
/// name it. Files are replaced atomically, and
/// a file or folder that lets others in is refused, not used.
public struct FileSecretStore: SecretStore {
    /// The folder that holds the files.
    public let directory: String
    private let files: any FileLayer

    /// Opens a store; the folder is made when the first secret is kept.
    ///
    /// - Parameter directory: The folder, or nil for ``defaultDirectory()``.
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

    /// `$XDG_DATA_HOME/outpost/keys` or `~/.local/share/outpost/keys`; on Apple's platforms
    /// `outpost/keys` in Application Support.
    ///
    /// - Returns: The path of the folder, which need not exist.
    /// - Throws: ``DataVaultError/noHome``.
    public static func defaultDirectory() throws(DataVaultError) -> String {
        guard let folder = DataFolder.path() else { throw .noHome }
        return folder + "/keys"
    }

    /// The rule of the XDG base directory specification, for given variables.
    static func defaultDirectory(environment: [String: String]) throws(DataVaultError) -> String {
        guard let folder = DataFolder.xdgPath(environment: environment) else { throw .noHome }
        return folder + "/keys"
    }

    /// The bytes of a secret, or nil; see ``SecretStore/secret(named:)``.
    ///
    /// - Parameter name: Its name.
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

    /// Keeps a secret, durably and atomically; see ``SecretStore/set(_:named:)``.
    ///
    /// - Parameters:
    ///   - secret: At most ``DataVaultLimits/maximumSecretByteCount`` bytes.
    ///   - name: Its name.
    /// - Throws: ``DataVaultError``: `exposed`, `tooLong`, `system`.
    public func set(_ secret: Secret<[UInt8]>, named name: SecretName) throws(DataVaultError) {
        try files.replace(name.text, in: directory, with: DataVaultLimits.checked(secret, name))
    }

    /// Keeps a secret under a name that is not in use; see ``SecretStore/add(_:named:)``.
    ///
    /// - Parameters:
    ///   - secret: At most ``DataVaultLimits/maximumSecretByteCount`` bytes.
    ///   - name: Its name.
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
    /// - Parameter name: Its name.
    /// - Throws: ``DataVaultError``: `exposed`, `system`.
    public func remove(named name: SecretName) throws(DataVaultError) {
        guard try files.isDirectoryThere(directory) else { return }
        // What a crash left half made may be a copy of it.
        try files.removeLeftovers(in: directory)
        if try files.remove(directory + "/" + name.text) { try files.syncDirectory(directory) }
    }

    /// The names of all secrets, sorted; files with other names are no secrets.
    ///
    /// - Throws: ``DataVaultError``: `exposed`, `system`.
    public func names() throws(DataVaultError) -> [SecretName] {
        guard try files.isDirectoryThere(directory) else { return [] }
        return try files.names(in: directory).sorted().compactMap { try? SecretName($0) }
    }
}
