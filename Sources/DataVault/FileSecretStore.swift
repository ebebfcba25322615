import Foundation
public import Secrets

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// Secrets in files that their owner alone can read: mode 0600, in a folder of mode 0700.
///
/// Each secret is one file of its name. A file made by ``generateKey(named:)`` is a key file too (64
/// hexadecimal digits and a line end), so that `--key-file` can name it. Files are replaced atomically, and
/// a file or folder that lets others in is refused, not used.
public struct FileSecretStore: SecretStore {
    /// The folder that holds the files.
    public let directory: String

    /// Opens a store; the folder is made when the first secret is kept.
    ///
    /// - Parameter directory: The folder, or nil for ``defaultDirectory()``.
    /// - Throws: ``DataVaultError/noHome``.
    public init(directory: String? = nil) throws(DataVaultError) {
        if let directory {
            self.directory = directory
        } else {
            self.directory = try Self.defaultDirectory()
        }
    }

    /// `$XDG_DATA_HOME/outpost/keys` or `~/.local/share/outpost/keys`; on Apple's platforms
    /// `outpost/keys` in Application Support.
    ///
    /// - Returns: The path of the folder, which need not exist.
    /// - Throws: ``DataVaultError/noHome``.
    public static func defaultDirectory() throws(DataVaultError) -> String {
        #if canImport(Darwin)
            let folders = FileManager.default.urls(for: .applicationSupportDirectory, in: .userDomainMask)
            guard let support = folders.first else { throw .noHome }
            return support.path + "/outpost/keys"
        #else
            return try defaultDirectory(environment: ProcessInfo.processInfo.environment)
        #endif
    }

    /// The rule of the XDG base directory specification, for given variables.
    static func defaultDirectory(environment: [String: String]) throws(DataVaultError) -> String {
        // The specification says that a relative path must be ignored.
        if let data = environment["XDG_DATA_HOME"], data.hasPrefix("/") { return data + "/outpost/keys" }
        guard let home = environment["HOME"], home.hasPrefix("/") else { throw .noHome }
        return home + "/.local/share/outpost/keys"
    }

    /// The bytes of a secret, or nil; see ``SecretStore/secret(named:)``.
    ///
    /// - Parameter name: Its name.
    /// - Returns: All bytes of its file.
    /// - Throws: ``DataVaultError``: `exposed`, `notAFile`, `tooLong`, `system`.
    public func secret(named name: SecretName) throws(DataVaultError) -> Secret<[UInt8]>? {
        guard try isDirectoryThere() else { return nil }
        let path = path(of: name)
        guard let file = try OwnerOnlyFile(reading: path) else { return nil }
        let bytes = try file.read(limit: DataVaultLimits.maximumSecretByteCount)
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
        try write(secret, named: name) { temporary, path in rename(temporary, path) }
    }

    /// Removes a secret; see ``SecretStore/remove(named:)``.
    ///
    /// - Parameter name: Its name.
    /// - Throws: ``DataVaultError``: `exposed`, `system`.
    public func remove(named name: SecretName) throws(DataVaultError) {
        guard try isDirectoryThere() else { return }
        let path = path(of: name)
        if unlink(path) != 0 {
            if errno == ENOENT { return }
            throw .system(operation: "removing", path: path, code: errno)
        }
        try OwnerOnlyFile.syncDirectory(directory)
    }

    /// The names of all secrets, sorted; files with other names are no secrets.
    ///
    /// - Throws: ``DataVaultError``: `exposed`, `system`.
    public func names() throws(DataVaultError) -> [SecretName] {
        guard try isDirectoryThere() else { return [] }
        let names: [String]
        do {
            names = try FileManager.default.contentsOfDirectory(atPath: directory)
        } catch {
            throw .system(operation: "listing", path: directory, code: EIO)
        }
        return names.sorted().compactMap { try? SecretName($0) }
    }

    /// Makes and keeps a key; see ``SecretStore/generateKey(named:)``.
    ///
    /// - Parameter name: A name that is not in use.
    /// - Returns: The key.
    /// - Throws: ``DataVaultError``: `alreadyExists`, `exposed`, `system`.
    public func generateKey(named name: SecretName) throws(DataVaultError) -> EncryptionKey {
        let key = EncryptionKey.generate()
        let line = Secret(Array(key.hexadecimal.reveal().utf8) + [UInt8(ascii: "\n")])
        do {
            // A link fails where a rename would replace: of two processes, one gets the name.
            try write(line, named: name) { temporary, path in
                guard OwnerOnlyFile.link(temporary, path) == 0 else { return -1 }
                return unlink(temporary)
            }
        } catch .system(_, _, EEXIST) {
            throw .alreadyExists(name: name.text)
        }
        return key
    }

    private func path(of name: SecretName) -> String { directory + "/" + name.text }

    private func write(
        _ secret: Secret<[UInt8]>, named name: SecretName, publish: (String, String) -> Int32
    ) throws(DataVaultError) {
        let bytes = secret.reveal()
        guard bytes.count <= DataVaultLimits.maximumSecretByteCount else {
            throw .tooLong(name: name.text, bytes: bytes.count)
        }
        try makeDirectory()
        // The leading dot keeps what a crash leaves behind out of `names()`.
        let temporary = directory + "/.new-" + String(UInt64.random(in: .min ... .max), radix: 36)
        do throws(DataVaultError) {
            let file = try OwnerOnlyFile(creating: temporary)
            try file.writeAndSync(bytes)
            guard publish(temporary, path(of: name)) == 0 else {
                throw DataVaultError.system(operation: "keeping", path: path(of: name), code: errno)
            }
        } catch {
            unlink(temporary)
            throw error
        }
        try OwnerOnlyFile.syncDirectory(directory)
    }

    private func makeDirectory() throws(DataVaultError) {
        if try isDirectoryThere() { return }
        do {
            try FileManager.default.createDirectory(
                atPath: (directory as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
        } catch {
            throw .system(operation: "making the folder", path: directory, code: EIO)
        }
        if mkdir(directory, 0o700) != 0, errno != EEXIST {
            throw .system(operation: "making the folder", path: directory, code: errno)
        }
        guard try isDirectoryThere() else { throw .notAFile(path: directory) }
    }

    private func isDirectoryThere() throws(DataVaultError) -> Bool {
        var status = stat()
        guard stat(directory, &status) == 0 else {
            if errno == ENOENT { return false }
            throw .system(operation: "opening", path: directory, code: errno)
        }
        guard status.st_mode & S_IFMT == S_IFDIR else { throw .notAFile(path: directory) }
        try OwnerOnlyFile.check(status, path: directory)
        return true
    }
}
