import Foundation
import Secrets

extension Vault {
    /// A right password, with all that it opened.
    struct Attempt {
        var file: VaultFile
        var dataKey: EncryptionKey
        var content: VaultContent
        var record: TriesRecord
    }

    /// Tries credentials; the caller has the vault's lock.
    func attempt(_ credentials: VaultCredentials) throws(DataVaultError) -> Attempt {
        guard let file = try folder.file(of: name) else {
            lock()
            throw .noVault(name: name)
        }
        let identity = file.header.identity
        var record = try folder.record(file, name)
        guard file.header.epoch >= record.epoch else { throw .olderCopy(name: name) }
        // Attempts that were counted and never judged, because the process ended, have used the limit up.
        guard !record.isExhausted else { throw try destroyed(identity) }
        // It tells nothing of the password, and an owner may cancel the question for it: no attempt is counted yet.
        let deviceKey = try folder.deviceKey(file, name)
        let before = record.failures
        record.failures = before == .max ? .max : before + 1
        try folder.save(record, identity)

        let found: EncryptionKey?
        do {
            found = try file.dataKey(credentials, deviceKey: deviceKey)
        } catch {
            // No password was judged, for want of memory for instance.
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
            // The password was right: damage must not use attempts up.
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

    /// Whether the vault is opened by the platform's key alone: no password and no salt.
    ///
    /// - Throws: ``DataVaultError``: `locked`, `noVault`.
    public var isDefaultPasswordUsed: Bool {
        get throws(DataVaultError) {
            let header = try current().file.header
            return !header.hasPassword && !header.hasSalt
        }
    }

    /// Changes the password of an unlocked vault, which stays unlocked. Everything is encrypted again under a
    /// new key, in one step: a crash leaves the vault as it was or as it shall be.
    ///
    /// - Parameter credentials: The new password, which must not be empty. To go back to the platform's key
    ///   alone, use ``changePassword(from:to:)``.
    /// - Throws: ``DataVaultError``: `locked`, `emptyPassword`, `incompatiblePassword`, `noVault`, `busy`,
    ///   `cancelled`, `damaged`, and those of the key store.
    public func changePassword(to credentials: VaultCredentials) async throws(DataVaultError) {
        let lock = try await folder.lock(name)
        defer { withExtendedLifetime(lock) {} }
        let (file, opened) = try current()
        guard credentials.password != nil else { throw .emptyPassword(name: name) }
        var content = try file.content(with: opened.dataKey, path: folder.path(of: name))
        defer { content.wipeValues() }
        try replace(file, &content, credentials: credentials, record: folder.record(file, name))
    }

    /// Changes the password of a vault, locked or not, and unlocks it: the way out when the password has
    /// expired or is against the policy.
    ///
    /// A wrong current password counts as a failed attempt to unlock.
    ///
    /// - Parameters:
    ///   - current: What opens the vault now.
    ///   - new: What shall; with neither password nor salt, the platform's key alone.
    /// - Throws: ``DataVaultError``: those of ``unlock(_:)``; `incompatiblePassword` is about the new password.
    public func changePassword(
        from current: VaultCredentials, to new: VaultCredentials
    ) async throws(DataVaultError) {
        let lock = try await folder.lock(name)
        defer { withExtendedLifetime(lock) {} }
        var attempt = try attempt(current)
        defer { attempt.content.wipeValues() }
        try replace(attempt.file, &attempt.content, credentials: new, record: attempt.record)
    }

    /// Writes the vault anew under other credentials. The rename of the file is the moment of the change.
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
        // From here on the file before is an older copy. A crash before this line only leaves that unsaid.
        record.epoch = header.epoch
        try folder.save(record, identity)
    }

    // MARK: Policy

    /// The vault's policy; one with all defaults when none was set.
    ///
    /// - Throws: ``DataVaultError``: `locked`, `noVault`.
    public var passwordPolicy: PasswordPolicy {
        get throws(DataVaultError) {
            var content = try content().content
            defer { content.wipeValues() }
            return content.policy ?? PasswordPolicy()
        }
    }

    /// Sets the policy and locks the vault, for everyone who has it open. The password is judged at the next
    /// ``unlock(_:)``, and at each change from now on.
    ///
    /// - Parameter policy: Replaces the one before. Its time-out and limit override those of
    ///   ``setLockTimeout(_:)`` and ``setRetryLimit(_:)``.
    /// - Throws: ``DataVaultError``: `negativeNumber`, `locked`, `noVault`, `busy`, `cancelled`.
    public func setPasswordPolicy(_ policy: PasswordPolicy) async throws(DataVaultError) {
        try policy.check()
        try await change(locks: true) { content throws(DataVaultError) in content.policy = policy }
    }

    /// Sets after how many seconds from its unlocking the vault locks itself, without a policy; it counts from
    /// now.
    ///
    /// - Parameter seconds: 0 for never.
    /// - Throws: ``DataVaultError``: `negativeNumber`, `locked`, `noVault`, `busy`, `cancelled`.
    public func setLockTimeout(_ seconds: Int) async throws(DataVaultError) {
        guard seconds >= 0 else { throw .negativeNumber(field: "lockTimeout", value: seconds) }
        try await change { content throws(DataVaultError) in content.lockTimeout = seconds }
        try resetLockTimeout()
    }

    /// Sets at which consecutive wrong password the vault is destroyed, without a policy.
    ///
    /// - Parameter count: 0 for never.
    /// - Throws: ``DataVaultError``: `negativeNumber`, `locked`, `noVault`, `busy`, `cancelled`.
    public func setRetryLimit(_ count: Int) async throws(DataVaultError) {
        guard count >= 0 else { throw .negativeNumber(field: "retryLimit", value: count) }
        try await change { content throws(DataVaultError) in content.retryLimit = count }
    }
}
