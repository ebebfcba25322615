import Foundation
import Secrets

/// A store for a few small secrets (certificates, keys, credentials), encrypted with a password.
///
/// ```swift
/// let vaults = try VaultFolder()
/// let vault = try await vaults.create("login", VaultCredentials(password: password))
/// try await vault.setString("ada", named: "user")
/// await vault.lock()
/// try await vault.unlock(VaultCredentials(password: password))
/// let user = try await vault.string(named: "user")
/// ```
///
/// A vault is *locked* or *unlocked*. The state belongs to each object: two processes that share a vault each
/// unlock it. A change of password or policy by one process locks the vault for the others; a deletion removes
/// it for all. While a vault is locked, no key is in memory. While it is unlocked, its key is in memory, and
/// values only during a call that needs them.
///
/// Swift's copies of a `String` or an array cannot be wiped by this type. Neither a passed password nor
/// returned values are wiped.
public actor Vault {
    /// The vault's name.
    public nonisolated let name: String
    nonisolated let folder: VaultFolder
    /// The state of an unlocked vault; `nil` while it is locked.
    var opened: Opened?
    private var relocking: Task<Void, Never>?

    struct Opened {
        var identity: [UInt8]
        var epoch: UInt64
        var dataKey: EncryptionKey
        /// The time at which the vault locks itself, by the monotonic clock.
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

    /// Locks the vault and removes its key from memory. Has no effect on a locked vault.
    public func lock() {
        opened = nil
        relocking?.cancel()
        relocking = nil
    }

    /// Whether the vault is locked. A vault that does not exist counts as locked.
    public var isLocked: Bool { (try? current()) == nil }

    /// Unlocks the vault. If it was unlocked already, its lock time-out restarts.
    ///
    /// The attempt is counted durably before the password is checked, and the count is reset after the right
    /// password. Ending the process in between therefore gains no attempts. If the password could not be
    /// checked, for example because the owner of the key store cancelled, no attempt is counted. One attempt
    /// takes about half a second.
    ///
    /// - Parameter credentials: The credentials from the creation or the last password change of the vault.
    /// - Throws: ``DataVaultError``: `wrongPassword` for a wrong password or salt; `destroyed` if the attempt
    ///   exceeded the limit; `incompatiblePassword` if the password is right but violates the policy;
    ///   `noVault`, `olderCopy`, `keysMissing`, `damaged`, `busy`, `cancelled`, and errors of the key store.
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

    /// Restarts the lock time-out from now.
    ///
    /// - Throws: ``DataVaultError``: `locked`, `noVault`.
    public func resetLockTimeout() throws(DataVaultError) {
        var (opened, content) = try content()
        defer { content.wipeValues() }
        startTimeout(content.effectiveLockTimeout, &opened)
        self.opened = opened
    }

    // MARK: Common to unlocking and changes

    /// Keeps the key of an opened vault in memory and starts the time-out.
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
        // The task removes the key even without a further call. Each call still checks the deadline, because
        // the task may be late.
        relocking = Task { [weak self, clock = folder.clock] in
            while let rest = await self?.lockIfDue(), rest > 0 {
                // Sleeping at most a day at a time allows time-outs of any length.
                do { try await clock.sleep(min(rest, 86_400)) } catch { return }
            }
        }
    }

    /// Locks the vault if its time-out has passed; otherwise returns the remaining seconds.
    private func lockIfDue() -> Double {
        guard let deadline = opened?.deadline else { return 0 }
        let rest = deadline - folder.clock.elapsed()
        if rest <= 0 { lock() }
        return rest
    }

    /// Returns the file and the key if the vault exists and is unlocked, and neither password nor policy has
    /// changed.
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

    /// Returns the content of an unlocked vault.
    func content() throws(DataVaultError) -> (opened: Opened, content: VaultContent) {
        let (file, opened) = try current()
        return (opened, try file.content(with: opened.dataKey, path: folder.path(of: name)))
    }

    /// Changes the content of an unlocked vault durably, while holding the vault's lock.
    ///
    /// - Parameter locks: Whether the change locks the vault in all processes.
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
            // If a crash prevents the change of the content, the next unlocking restores the limit.
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
