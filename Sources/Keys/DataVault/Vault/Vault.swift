import Foundation
import Secrets

/// A store of a few small secrets, encrypted under a password: certificates, keys, credentials.
///
/// ```swift
/// let vaults = try VaultFolder()
/// let vault = try await vaults.create("login", VaultCredentials(password: pin))
/// try await vault.setString("ada", named: "user")
/// await vault.lock()
/// try await vault.unlock(VaultCredentials(password: pin))
/// let user = try await vault.string(named: "user")
/// ```
///
/// A vault is *locked* or *unlocked*. Each object of this type is locked by itself: two processes that share a
/// vault unlock it each. A change of password or policy by one locks it for the others, a deletion makes it
/// absent for all. While it is locked, no key is in memory; while it is unlocked, the vault's key is, and values
/// only during the call that asks for one.
///
/// The copies that Swift makes of a `String` or an array cannot be wiped from here: neither the password that
/// was passed in, nor values that were handed out.
public actor Vault {
    /// The vault's name.
    public nonisolated let name: String
    nonisolated let folder: VaultFolder
    /// What an unlocked vault has in memory; nil while it is locked.
    var opened: Opened?
    private var relocking: Task<Void, Never>?

    struct Opened {
        var identity: [UInt8]
        var epoch: UInt64
        var dataKey: EncryptionKey
        /// When the vault locks itself, by the clock that never goes back.
        var deadline: Double?

        init(_ file: VaultFile, _ dataKey: EncryptionKey, content: VaultContent) {
            identity = file.header.identity
            epoch = file.header.epoch
            self.dataKey = dataKey
        }
    }

    init(name: String, folder: VaultFolder, opened: Opened?) {
        self.name = name
        self.folder = folder
        self.opened = opened
    }

    deinit { relocking?.cancel() }

    // MARK: Locking

    /// Locks the vault and wipes its key. A locked vault stays as it is.
    public func lock() {
        opened = nil
        relocking?.cancel()
        relocking = nil
    }

    /// Whether the vault is locked; one that is not there any more is.
    public var isLocked: Bool { (try? current()) == nil }

    /// Unlocks the vault, and starts its lock time-out again if it was unlocked already.
    ///
    /// The attempt is counted, durably, before the password is looked at, and the count starts again after the
    /// right one: ending the process in between saves nothing. What keeps the password from being judged, such as a key
    /// store whose owner cancels, counts for nothing. One attempt takes about half a second.
    ///
    /// - Parameter credentials: What the vault was made with, or its password was changed to.
    /// - Throws: ``DataVaultError``: `wrongPassword` for a wrong password or a wrong salt, `destroyed` when it
    ///   was one wrong attempt too many, `incompatiblePassword` when it is right and against the policy,
    ///   `noVault`, `olderCopy`, `keysMissing`, `damaged`, `busy`, `cancelled`, and those of the key store.
    public func unlock(_ credentials: VaultCredentials) async throws(DataVaultError) {
        let lock = try await folder.lock(name)
        defer { withExtendedLifetime(lock) {} }
        var attempt = try attempt(credentials)
        defer { attempt.content.wipeValues() }
        let age = attempt.record.latestTime - attempt.content.passwordSetAt
        if let violations = attempt.content.policy?.violations(of: credentials, age: age), !violations.isEmpty {
            self.lock()
            throw .incompatiblePassword(name: name, violations)
        }
        open(attempt.file, attempt.dataKey, content: attempt.content)
    }

    /// Starts the lock time-out again, from now.
    ///
    /// - Throws: ``DataVaultError``: `locked`, `noVault`.
    public func resetLockTimeout() throws(DataVaultError) {
        var (opened, content) = try content()
        defer { content.wipeValues() }
        startTimeout(content.effectiveLockTimeout, &opened)
        self.opened = opened
    }

    // MARK: What unlocking and changing share

    /// Keeps the key of a vault that was opened, and starts its time-out.
    func open(_ file: VaultFile, _ dataKey: EncryptionKey, content: VaultContent) {
        var opened = Opened(file, dataKey, content: content)
        startTimeout(content.effectiveLockTimeout, &opened)
        self.opened = opened
    }

    private func startTimeout(_ seconds: Int, _ opened: inout Opened) {
        relocking?.cancel()
        relocking = nil
        opened.deadline = nil
        guard seconds > 0 else { return }
        opened.deadline = folder.clock.elapsed() + Double(seconds)
        // Keys must not wait in memory for the next call. The check at each call stays: this task may be late.
        relocking = Task { [weak self, clock = folder.clock] in
            while let rest = await self?.lockIfDue(), rest > 0 {
                // No clock is asked for more than a day: time-outs may be as long as one likes.
                do { try await clock.sleep(min(rest, 86_400)) } catch { return }
            }
        }
    }

    /// Locks the vault when its time is over; else gives the rest of it in seconds.
    private func lockIfDue() -> Double {
        guard let deadline = opened?.deadline else { return 0 }
        let rest = deadline - folder.clock.elapsed()
        if rest <= 0 { lock() }
        return rest
    }

    /// The file and the key, if the vault is there and unlocked and nobody has changed password or policy.
    func current() throws(DataVaultError) -> (file: VaultFile, opened: Opened) {
        guard let file = try folder.file(of: name) else {
            lock()
            throw .noVault(name: name)
        }
        if let deadline = opened?.deadline, folder.clock.elapsed() >= deadline { lock() }
        guard let opened, opened.identity == file.header.identity, opened.epoch == file.header.epoch else {
            lock()
            throw .locked(name: name)
        }
        return (file, opened)
    }

    /// The content of an unlocked vault.
    func content() throws(DataVaultError) -> (opened: Opened, content: VaultContent) {
        let (file, opened) = try current()
        return (opened, try file.content(with: opened.dataKey, path: folder.path(of: name)))
    }

    /// Changes the content of an unlocked vault, durably, while nobody else does.
    ///
    /// - Parameter locks: Whether the change locks the vault for everyone who has it open.
    func change(
        locks: Bool = false, _ body: (inout VaultContent) throws(DataVaultError) -> Void
    ) async throws(DataVaultError) {
        let lock = try await folder.lock(name)
        defer { withExtendedLifetime(lock) {} }
        var (file, opened) = try current()
        var content = try file.content(with: opened.dataKey, path: folder.path(of: name))
        defer { content.wipeValues() }
        let limit = content.effectiveRetryLimit
        try body(&content)
        guard content.byteCount <= DataVaultLimits.maximumVaultByteCount else {
            throw .full(name: name, bytes: content.byteCount)
        }
        var record = try folder.record(file, name)
        if content.effectiveRetryLimit != limit {
            // A crash before the content says so too is mended at the next unlocking.
            record.limit = content.effectiveRetryLimit
            try folder.save(record, file.header.identity)
        }
        if locks { file.header.epoch &+= 1 }
        try file.seal(content, with: opened.dataKey)
        try folder.save(file, name)
        if locks {
            self.lock()
            record.epoch = file.header.epoch
            try folder.save(record, file.header.identity)
        }
    }
}
