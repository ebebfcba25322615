import Foundation
import Secrets

extension Vault {
    /// The result of a successful attempt to open a vault.
    struct Attempt {
        var file: VaultFile
        var dataKey: EncryptionKey
        var content: VaultContent
        var record: TriesRecord
    }

    /// Tries credentials. The caller holds the vault's lock.
    func attempt(_ credentials: VaultCredentials) throws(DataVaultError) -> Attempt {
        guard let file = try folder.file(of: name) else {
            lock()
            throw .noVault(name: name)
        }
        let identity = file.header.identity
        var record = try folder.record(file, name)
        guard file.header.epoch >= record.epoch else { throw .olderCopy(name: name) }
        // Attempts that were counted but not checked, because the process ended, count against the limit too.
        guard !record.isExhausted else { throw try destroyed(identity) }
        // Reading the key reveals nothing about the password, and its owner may cancel the dialogue, so no
        // attempt is counted yet.
        let deviceKey = try folder.deviceKey(file, name)
        let before = record.failures
        record.failures = before == .max ? .max : before + 1
        try folder.save(record, identity)

        let found: EncryptionKey?
        do {
            found = try file.dataKey(credentials, deviceKey: deviceKey)
        } catch {
            // The password was not checked, for example for lack of memory.
            record.failures = before
            try folder.save(record, identity)
            throw error
        }
        guard let dataKey = found else {
            guard !record.isExhausted else { throw try destroyed(identity) }
            throw .wrongPassword(name: name, attemptsLeft: record.attemptsLeft)
        }
        record.failures = 0
        let content: VaultContent
        do {
            content = try file.content(with: dataKey, path: folder.path(of: name))
        } catch {
            // The password was right, so damage must not use up attempts.
            try folder.save(record, identity)
            throw error
        }
        record.limit = content.effectiveRetryLimit
        record.epoch = file.header.epoch
        record.latestTime = max(record.latestTime, folder.clock.now(), content.passwordSetAt)
        try folder.save(record, identity)
        return Attempt(file: file, dataKey: dataKey, content: content, record: record)
    }

    private func destroyed(_ identity: [UInt8]) throws(DataVaultError) -> DataVaultError {
        lock()
        try folder.destroy(name, identity)
        return .destroyed(name: name)
    }

    // MARK: Changing the password

    /// Whether the vault is opened with the platform's key alone, without password and salt.
    ///
    /// - Throws: ``DataVaultError``: `locked`, `noVault`.
    public var isDefaultPasswordUsed: Bool {
        get throws(DataVaultError) {
            let header = try current().file.header
            return !header.hasPassword && !header.hasSalt
        }
    }

    /// Changes the password of an unlocked vault, which stays unlocked. The content is encrypted again with a
    /// new key, atomically.
    ///
    /// - Parameter credentials: The new password, which must not be empty. To return to the platform's key
    ///   alone, call ``changePassword(from:to:)``.
    /// - Throws: ``DataVaultError``: `locked`, `emptyPassword`, `incompatiblePassword`, `noVault`, `busy`,
    ///   `cancelled`, `damaged`, and errors of the key store.
    public func changePassword(to credentials: VaultCredentials) async throws(DataVaultError) {
        let lock = try await folder.lock(name)
        defer { withExtendedLifetime(lock) {} }
        let (file, opened) = try current()
        guard credentials.password != nil else { throw .emptyPassword(name: name) }
        var content = try file.content(with: opened.dataKey, path: folder.path(of: name))
        defer { content.wipeValues() }
        try replace(file, &content, credentials: credentials, record: folder.record(file, name))
    }

    /// Changes the password of a locked or unlocked vault and unlocks the vault. Use this function if the
    /// password has expired or violates the policy.
    ///
    /// A wrong current password counts as a failed attempt to unlock.
    ///
    /// - Parameters:
    ///   - current: The current credentials.
    ///   - new: The new credentials; without password and salt, the platform's key alone.
    /// - Throws: ``DataVaultError``: errors of ``unlock(_:)``; `incompatiblePassword` refers to the new
    ///   password.
    public func changePassword(
        from current: VaultCredentials, to new: VaultCredentials
    ) async throws(DataVaultError) {
        let lock = try await folder.lock(name)
        defer { withExtendedLifetime(lock) {} }
        var attempt = try attempt(current)
        defer { attempt.content.wipeValues() }
        try replace(attempt.file, &attempt.content, credentials: new, record: attempt.record)
    }

    /// Rewrites the vault with other credentials. The change takes effect when the file is renamed.
    private func replace(
        _ old: VaultFile, _ content: inout VaultContent, credentials: VaultCredentials, record: TriesRecord
    ) throws(DataVaultError) {
        if let violations = content.policy?.violations(of: credentials), !violations.isEmpty {
            throw .incompatiblePassword(name: name, violations)
        }
        let identity = old.header.identity
        let deviceKey = try folder.deviceKey(old, name)
        var record = record
        record.latestTime = max(record.latestTime, folder.clock.now())
        content.passwordSetAt = record.latestTime
        let header = VaultFile.Header(
            identity: identity, epoch: old.header.epoch &+ 1, credentials: credentials, derivation: folder.derivation)
        let file = try VaultFile(header: header, content: content, credentials: credentials, deviceKey: deviceKey)
        guard let dataKey = try file.dataKey(credentials, deviceKey: deviceKey) else {
            throw .keysMissing(name: name)
        }
        try folder.save(file, name)
        open(file, dataKey, content: content)
        // From here on, the previous file counts as an older copy. A crash before this line only loses that
        // protection.
        record.epoch = header.epoch
        try folder.save(record, identity)
    }

    // MARK: Policy

    /// The vault's policy, or the default policy if none was set.
    ///
    /// - Throws: ``DataVaultError``: `locked`, `noVault`.
    public var passwordPolicy: PasswordPolicy {
        get throws(DataVaultError) {
            var content = try content().content
            defer { content.wipeValues() }
            return content.policy ?? PasswordPolicy()
        }
    }

    /// Sets the policy, and locks the vault in all processes. The password is checked at the next
    /// ``unlock(_:)`` and at each later change.
    ///
    /// - Parameter policy: The new policy. Its time-out and limit override those of ``setLockTimeout(_:)`` and
    ///   ``setRetryLimit(_:)``.
    /// - Throws: ``DataVaultError``: `negativeNumber`, `locked`, `noVault`, `busy`, `cancelled`.
    public func setPasswordPolicy(_ policy: PasswordPolicy) async throws(DataVaultError) {
        try policy.check()
        try await change(locks: true) { content throws(DataVaultError) in content.policy = policy }
    }

    /// Sets the lock time-out of a vault without a policy, and restarts it.
    ///
    /// - Parameter seconds: The number of seconds after unlocking at which the vault locks itself; 0 for never.
    /// - Throws: ``DataVaultError``: `negativeNumber`, `locked`, `noVault`, `busy`, `cancelled`.
    public func setLockTimeout(_ seconds: Int) async throws(DataVaultError) {
        guard seconds >= 0 else { throw .negativeNumber(field: "lockTimeout", value: seconds) }
        try await change { content throws(DataVaultError) in content.lockTimeout = seconds }
        try resetLockTimeout()
    }

    /// Sets the retry limit of a vault without a policy.
    ///
    /// - Parameter count: The number of consecutive wrong passwords at which the vault is destroyed; 0 for no
    ///   limit.
    /// - Throws: ``DataVaultError``: `negativeNumber`, `locked`, `noVault`, `busy`, `cancelled`.
    public func setRetryLimit(_ count: Int) async throws(DataVaultError) {
        guard count >= 0 else { throw .negativeNumber(field: "retryLimit", value: count) }
        try await change { content throws(DataVaultError) in content.retryLimit = count }
    }
}
