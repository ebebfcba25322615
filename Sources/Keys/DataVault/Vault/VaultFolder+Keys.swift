import Secrets

extension VaultFolder {
    /// Returns the secrets in the key store that belong to the vaults of this folder.
    ///
    /// - Returns: For the name of each secret, the vault, and whether the secret is its device key; otherwise
    ///   it is its count of wrong passwords.
    /// - Throws: ``DataVaultError``: `exposed`, `system`. Vaults with unreadable files are omitted.
    package func keyNames() throws(DataVaultError) -> [SecretName: (vault: String, isKey: Bool)] {
        var found: [SecretName: (vault: String, isKey: Bool)] = [:]
        for name in try names() {
            guard let file = try? file(of: name) else { continue }
            found[try Self.keyName(file.header.identity)] = (name, true)
            found[try Self.triesName(file.header.identity)] = (name, false)
        }
        return found
    }

    /// Returns whether a name is that of a device key or of a count of wrong passwords, of any vault.
    package static func isKeyName(_ name: SecretName) -> Bool {
        guard name.text.hasPrefix("vault-") else { return false }
        var rest = name.text.dropFirst("vault-".count)
        if rest.hasSuffix(".tries") { rest = rest.dropLast(".tries".count) }
        return rest.count == 32 && rest.allSatisfy { "0123456789abcdef".contains($0) }
    }
}
