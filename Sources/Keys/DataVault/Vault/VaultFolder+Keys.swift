import Secrets

extension VaultFolder {
    /// The secrets in the key store that belong to the vaults of this folder.
    ///
    /// - Returns: By the name of each secret, the vault, and whether the secret is its device key; else it is its count.
    /// - Throws: ``DataVaultError``: `exposed`, `system`. A vault whose file cannot be read is left out.
    package func keyNames() throws(DataVaultError) -> [SecretName: (vault: String, isKey: Bool)] {
        var found: [SecretName: (vault: String, isKey: Bool)] = [:]
        for name in try names() {
            guard let file = try? file(of: name) else { continue }
            found[try Self.keyName(file.header.identity)] = (name, true)
            found[try Self.triesName(file.header.identity)] = (name, false)
        }
        return found
    }

    /// Whether a name is one of a device key or of a count, whatever vault it belongs to.
    package static func isKeyName(_ name: SecretName) -> Bool {
        guard name.text.hasPrefix("vault-") else { return false }
        var rest = name.text.dropFirst("vault-".count)
        if rest.hasSuffix(".tries") { rest = rest.dropLast(".tries".count) }
        return rest.count == 32 && rest.allSatisfy { "0123456789abcdef".contains($0) }
    }
}
