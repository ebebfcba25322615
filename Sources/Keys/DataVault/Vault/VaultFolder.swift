import Foundation
public import Secrets

/// A folder of vaults, with the stores of their keys.
///
/// ```swift
/// let vaults = try VaultFolder()
/// let vault = try vaults.contains("login") ? vaults.open("login") : await vaults.create("login")
/// ```
///
/// Each vault is one file, `NAME.vault`, that only its owner can read. Its random *device key* and its count of
/// wrong passwords are in a key store: the keychain on Apple's platforms, owner-only files elsewhere. Programs
/// with the same folder and the same key store share their vaults. On Apple's platforms, sharing needs an app
/// group's folder and an access group.
public struct VaultFolder: Sendable {
    /// The folder.
    public let directory: String
    /// The cost of deriving keys from new passwords; each vault stores its own cost.
    public let derivation: ScryptParameters
    let keys: any SecretStore
    let tries: any SecretStore
    let files: any FileLayer
    let clock: VaultClock

    /// Opens a folder, which is created with its first vault.
    ///
    /// - Parameters:
    ///   - directory: The folder, or `nil` for ``defaultDirectory()``.
    ///   - keys: The store of device keys. `nil` selects the keychain on Apple's platforms. Elsewhere it
    ///     selects a ``FileSecretStore`` in the folder `keys` of `directory`, or in its default folder.
    ///   - tries: The store for the counts of wrong passwords; `nil` for the same store as `keys`. If the key
    ///     store asks its owner for a fingerprint, pass a store that does not.
    ///   - derivation: The cost of deriving keys from passwords.
    ///   - clock: The source of time.
    /// - Throws: ``DataVaultError/noHome``.
    public init(
        directory: String? = nil, keys: (any SecretStore)? = nil, tries: (any SecretStore)? = nil,
        derivation: ScryptParameters = .standard, clock: VaultClock = .system
    ) throws(DataVaultError) {
        let place: String
        if let directory { place = directory } else { place = try Self.defaultDirectory() }
        let store: any SecretStore
        if let keys {
            store = keys
        } else {
            #if canImport(Security)
                store = KeychainSecretStore(service: "outpost.vaults")
            #else
                store = try FileSecretStore(directory: directory.map { $0 + "/keys" })
            #endif
        }
        self.init(
            directory: place, keys: store, tries: tries ?? store, derivation: derivation, clock: clock,
            files: SystemFiles())
    }

    init(
        directory: String, keys: any SecretStore, tries: any SecretStore, derivation: ScryptParameters,
        clock: VaultClock, files: any FileLayer
    ) {
        self.directory = directory
        self.keys = keys
        self.tries = tries
        self.derivation = derivation
        self.clock = clock
        self.files = files
    }

    /// Returns the folder `vaults` beside ``FileSecretStore/defaultDirectory()``.
    ///
    /// - Throws: ``DataVaultError/noHome``.
    public static func defaultDirectory() throws(DataVaultError) -> String {
        (try FileSecretStore.defaultDirectory() as NSString).deletingLastPathComponent + "/vaults"
    }

    /// Creates a vault, which is unlocked.
    ///
    /// - Parameters:
    ///   - name: A legal ``SecretName`` that no vault in this folder has.
    ///   - credentials: The credentials of the vault. A new vault has no policy, so any password is accepted.
    /// - Returns: The vault.
    /// - Throws: ``DataVaultError``: `illegalName`, `alreadyExists`, `busy`, `cancelled`, `exposed`, `system`.
    public func create(
        _ name: String, _ credentials: VaultCredentials = .platformKey
    ) async throws(DataVaultError) -> Vault {
        _ = try SecretName(name)
        if try !files.isDirectoryThere(directory) { try files.makeDirectory(directory) }
        let lock = try await lock(name)
        defer { withExtendedLifetime(lock) {} }
        if let bytes = try bytes(of: name) {
            guard let file = try? VaultFile(bytes: bytes, path: path(of: name)), try isDestroyed(file) else {
                throw .alreadyExists(name: name)
            }
            try destroy(name, file.header.identity)
        }
        let header = VaultFile.Header(
            identity: randomBytes(16), epoch: 1, credentials: credentials, derivation: derivation)
        let deviceKey = Secret(randomBytes(EncryptionKey.byteCount))
        let now = clock.now()
        let content = VaultContent(passwordSetAt: now)
        let file = try VaultFile(header: header, content: content, credentials: credentials, deviceKey: deviceKey)
        guard let dataKey = try file.dataKey(credentials, deviceKey: deviceKey) else { throw .keysMissing(name: name) }
        do throws(DataVaultError) {
            // The file comes last: what is left without it opens nothing.
            try keys.add(deviceKey, named: Self.keyName(header.identity))
            var record = TriesRecord()
            record.epoch = header.epoch
            record.latestTime = now
            try save(record, header.identity)
            try files.add(name + Self.suffix, in: directory, file.bytes)
        } catch {
            undoCreation(name, file)
            throw error
        }
        return Vault(name: name, folder: self, opened: Vault.Opened(file, dataKey, content: content))
    }

    /// Returns whether a vault with this name exists.
    ///
    /// - Returns: `true` also for a damaged vault.
    public func contains(_ name: String) -> Bool {
        guard (try? SecretName(name)) != nil, let bytes = try? bytes(of: name) else { return false }
        guard let file = try? VaultFile(bytes: bytes, path: path(of: name)) else { return true }
        return (try? isDestroyed(file)) != true
    }

    /// Opens a vault, which is initially locked.
    ///
    /// - Throws: ``DataVaultError``: `noVault`, `damaged`, `unsupportedFormat`, `exposed`, `system`.
    public func open(_ name: String) throws(DataVaultError) -> Vault {
        guard (try? SecretName(name)) != nil, try file(of: name) != nil else { throw .noVault(name: name) }
        return Vault(name: name, folder: self, opened: nil)
    }

    /// Deletes a vault for all its users. No password is needed, and the deletion cannot be undone.
    ///
    /// - Throws: ``DataVaultError``: `noVault`, `busy`, `cancelled`, `exposed`, `system`.
    public func delete(_ name: String) async throws(DataVaultError) {
        guard contains(name) else { throw .noVault(name: name) }
        let lock = try await lock(name)
        defer { withExtendedLifetime(lock) {} }
        guard let bytes = try bytes(of: name) else { throw .noVault(name: name) }
        try destroy(name, (try? VaultFile(bytes: bytes, path: path(of: name)))?.header.identity)
    }

    /// Returns whether a vault has a password, so that a program can ask for one. Anyone with the file can see
    /// this property.
    ///
    /// - Throws: The errors of ``open(_:)``.
    public func hasPassword(_ name: String) throws(DataVaultError) -> Bool {
        guard (try? SecretName(name)) != nil, let file = try file(of: name) else { throw .noVault(name: name) }
        return file.header.hasPassword
    }

    /// Returns the sorted names of all vaults.
    ///
    /// - Throws: ``DataVaultError``: `exposed`, `system`.
    public func names() throws(DataVaultError) -> [String] {
        guard try files.isDirectoryThere(directory) else { return [] }
        return try files.names(in: directory).compactMap {
            $0.hasSuffix(Self.suffix) ? String($0.dropLast(Self.suffix.count)) : nil
        }.filter(contains).sorted()
    }
}

extension VaultFolder {
    static let suffix = ".vault"

    func path(of name: String) -> String { directory + "/" + name + Self.suffix }

    /// Returns the vault's file, or `nil` if the vault does not exist or is being destroyed.
    func file(of name: String) throws(DataVaultError) -> VaultFile? {
        guard let bytes = try bytes(of: name) else { return nil }
        let file = try VaultFile(bytes: bytes, path: path(of: name))
        return try isDestroyed(file) ? nil : file
    }

    func save(_ file: VaultFile, _ name: String) throws(DataVaultError) {
        try files.replace(name + Self.suffix, in: directory, with: file.bytes)
    }

    func deviceKey(_ file: VaultFile, _ name: String) throws(DataVaultError) -> Secret<[UInt8]> {
        guard let key = try keys.secret(named: Self.keyName(file.header.identity)),
            key.reveal().count == EncryptionKey.byteCount
        else { throw .keysMissing(name: name) }
        return key
    }

    /// Returns the vault's count of wrong passwords.
    func record(_ file: VaultFile, _ name: String) throws(DataVaultError) -> TriesRecord {
        guard let bytes = try tries.secret(named: Self.triesName(file.header.identity)),
            let record = TriesRecord(bytes: bytes.reveal())
        else { throw .keysMissing(name: name) }
        return record
    }

    func save(_ record: TriesRecord, _ identity: [UInt8]) throws(DataVaultError) {
        try tries.set(Secret(record.bytes), named: Self.triesName(identity))
    }

    /// Destroys a vault. Once it is marked as destroyed, a crash cannot save it.
    func destroy(_ name: String, _ identity: [UInt8]?) throws(DataVaultError) {
        if let identity {
            var record = TriesRecord()
            record.isDestroyed = true
            try save(record, identity)
            try keys.remove(named: Self.keyName(identity))
        }
        try files.removeLeftovers(in: directory)
        _ = try files.removeUnfinished(name + Self.suffix, in: directory)
        _ = try files.remove(path(of: name))
        try files.syncDirectory(directory)
        // A restored copy of the file then has neither keys nor a record.
        if let identity { try tries.remove(named: Self.triesName(identity)) }
    }

    /// Takes back a vault that could not be made. Its keys stay if its file does.
    private func undoCreation(_ name: String, _ file: VaultFile) {
        do throws(DataVaultError) {
            // The file may be there, and only its name not be durable.
            if try bytes(of: name) == file.bytes {
                _ = try files.remove(path(of: name))
                try files.syncDirectory(directory)
            }
        } catch {
            return
        }
        try? keys.remove(named: Self.keyName(file.header.identity))
        try? tries.remove(named: Self.triesName(file.header.identity))
    }

    /// Waits for the lock that makes a change, or an attempt at the password, one after the other.
    func lock(_ name: String) async throws(DataVaultError) -> FileLock {
        let deadline = VaultClock.system.elapsed() + Double(DataVaultLimits.lockPatience)
        while true {
            if let lock = try files.lock(directory + "/." + name + ".lock") { return lock }
            guard VaultClock.system.elapsed() < deadline else { throw .busy(name: name) }
            do {
                try await Task.sleep(for: .milliseconds(5))
            } catch {
                throw .cancelled
            }
        }
    }

    private func bytes(of name: String) throws(DataVaultError) -> [UInt8]? {
        guard try files.isDirectoryThere(directory) else { return nil }
        return try files.read(path(of: name), limit: VaultFile.maximumByteCount)
    }

    private func isDestroyed(_ file: VaultFile) throws(DataVaultError) -> Bool {
        guard let bytes = try tries.secret(named: Self.triesName(file.header.identity)) else { return false }
        return TriesRecord(bytes: bytes.reveal())?.isDestroyed ?? false
    }

    static func keyName(_ identity: [UInt8]) throws(DataVaultError) -> SecretName {
        try SecretName("vault-" + identity.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined())
    }

    static func triesName(_ identity: [UInt8]) throws(DataVaultError) -> SecretName {
        try SecretName(try keyName(identity).text + ".tries")
    }
}
