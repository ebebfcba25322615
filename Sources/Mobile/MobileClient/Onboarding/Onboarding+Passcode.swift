import DataVault
import Secrets

/// The passcode and the vault that it opens.
extension Onboarding {
    /// Makes the vault with a passcode that fits the policy. A vault that an interrupted call has made is unlocked.
    func createVault(_ session: MobileSession) async throws(MobileError) {
        let name = session.slot.secretsName
        guard !configuration.vaults.contains(name) else { return try await unlock(session) }
        let policies = try await session.policies.current()
        var credentials = VaultCredentials.platformKey
        if policies.demandsPasscode { credentials = try await newPasscode(policies.password) }
        do throws(DataVaultError) {
            let vault = try await configuration.vaults.create(name, credentials)
            try await vault.setPasswordPolicy(
                policies.demandsPasscode ? policies.password : SessionSecrets.noPasscode)
            try await vault.unlock(credentials)
            await session.secrets.use(vault)
        } catch {
            throw MobileError(error)
        }
        try configuration.note("secrets")
        try await session.secrets.adopt()
    }

    private func newPasscode(_ policy: PasswordPolicy) async throws(MobileError) -> VaultCredentials {
        var violations: [PasswordViolation] = []
        for _ in 0..<Self.maxRounds {
            let passcode = await interaction.passcode(.create(violations: violations), policy: policy)
            guard passcode != nil || policy.defaultPasswordAllowed else { throw .passcodeCancelled }
            let credentials = VaultCredentials(password: passcode?.reveal())
            violations = policy.violations(of: credentials)
            if violations.isEmpty { return credentials }
        }
        throw .weakPasscode(violations)
    }

    /// Opens the vault: with the platform's key, or with the passcode, which is asked.
    func unlock(_ session: MobileSession) async throws(MobileError) {
        if await session.secrets.isOpen { return }
        let hasPasscode: Bool
        do throws(DataVaultError) {
            hasPasscode = try configuration.vaults.hasPassword(session.slot.secretsName)
        } catch .noVault {
            try await session.wipe(order: nil)
            throw .wiped
        } catch {
            throw MobileError(error)
        }
        if !hasPasscode {
            do throws(MobileError) {
                try await session.openVault(.platformKey)
                return try await session.secrets.adopt()
            } catch .weakPasscode(let violations) {
                return try await change(session, from: .platformKey, violations)
            }
        }
        let policy = try await session.policies.current().password
        var purpose = PasscodePurpose.unlock(isRepeated: false, attemptsLeft: nil)
        for _ in 0..<Self.maxRounds {
            guard let passcode = await interaction.passcode(purpose, policy: policy) else {
                broadcast.send(.locked(.passcode))
                throw .passcodeCancelled
            }
            let credentials = VaultCredentials(password: passcode.reveal())
            do throws(MobileError) {
                try await session.openVault(credentials)
                return try await session.secrets.adopt()
            } catch .wrongPasscode(let left) {
                purpose = .unlock(isRepeated: true, attemptsLeft: left)
            } catch .weakPasscode(let violations) {
                return try await change(session, from: credentials, violations)
            } catch .wiped {
                try await session.wipe(order: nil)
                throw .wiped
            }
        }
        broadcast.send(.locked(.passcode))
        throw .locked(.passcode)
    }

    /// Replaces a passcode that violates the policy.
    private func change(
        _ session: MobileSession, from old: VaultCredentials, _ first: [PasswordViolation]
    ) async throws(MobileError) {
        let policy = try await session.policies.current().password
        var violations = first
        for _ in 0..<Self.maxRounds {
            guard let passcode = await interaction.passcode(.change(violations: violations), policy: policy) else {
                broadcast.send(.locked(.passcode))
                throw .passcodeCancelled
            }
            do throws(DataVaultError) {
                let vault = try configuration.vaults.open(session.slot.secretsName)
                try await vault.changePassword(from: old, to: VaultCredentials(password: passcode.reveal()))
                await session.secrets.use(vault)
            } catch .incompatiblePassword(_, let found) {
                violations = found
                continue
            } catch {
                throw MobileError(error)
            }
            return try await session.secrets.adopt()
        }
        throw .weakPasscode(violations)
    }
}
