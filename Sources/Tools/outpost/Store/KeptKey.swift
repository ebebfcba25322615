import DataVault
import Foundation
import OfflineOData
import Secrets
import ToolLanguage

/// A generated key, with the clones and vaults that it opens.
struct KeptKey: Encodable {
    /// The owner of the key.
    enum Owner {
        /// One or more clones.
        case clone
        /// A vault of this name; `nil` if the vault is gone.
        case vault(name: String?)
        /// Another owner, unknown to the tool.
        case unknown
    }

    var name: String
    var owner: Owner
    /// The clones and vaults that the key opens, and the places that were noted for it.
    var uses: [KeyUses.Use]
    /// Whether a place was ever noted for the key. Earlier versions noted none.
    var isNoted: Bool

    /// Whether the key opens a clone or vault.
    var isInUse: Bool {
        if case .vault(_?) = owner { return true }
        return uses.contains { $0.state == .opens }
    }

    /// Whether the key once opened clones, none of which exists with this key.
    var isStale: Bool {
        if case .vault(let name) = owner { return name == nil }
        return isNoted && !isInUse
    }

    /// All generated keys in the default folder.
    static func all() throws -> [KeptKey] {
        let store = try FileSecretStore()
        let vaults = try VaultFolder().keyNames()
        let places = KeyUses.allPlaces()
        return try store.names().compactMap { name in
            if let vault = vaults[name] {
                // The counter of a vault goes with its key.
                return vault.isKey
                    ? KeptKey(name: name.text, owner: .vault(name: vault.vault), uses: [], isNoted: true) : nil
            }
            if VaultFolder.isKeyName(name) {
                return KeptKey(name: name.text, owner: .vault(name: nil), uses: [], isNoted: true)
            }
            let own = KeyUses.places(of: name)
            let key = try? store.key(named: name)
            return KeptKey(
                name: name.text, owner: KeyKeeper.isKeyName(name.text) ? .clone : .unknown,
                uses: KeyUses.uses(of: key, own: own ?? [], all: places), isNoted: own != nil)
        }
    }

    /// The clones and vaults that the key opens, one on a line.
    var lines: [String] {
        switch owner {
        case .vault(let name?): return [translated("vault \(name)")]
        case .vault(nil): return [translated("a vault that is gone")]
        default: break
        }
        guard !uses.isEmpty else {
            return [
                translated(isNoted ? "opens nothing that is known" : "not known; it shows once its clone is opened")
            ]
        }
        return uses.map(Self.line)
    }

    private static func line(_ use: KeyUses.Use) -> String {
        let path = use.path
        return switch use.state {
        case .opens: path
        case .missing: translated("\(path) (missing)")
        case .otherKey: translated("\(path) (other key)")
        }
    }

    /// Returns the clones and vaults that the key opens, with the number of pending changes of each clone.
    func linesWithPendingChanges() async -> [TerminalText] {
        guard isInUse, let secret = try? SecretName(name), let key = try? FileSecretStore().key(named: secret) else {
            return lines.map { TerminalText($0) }
        }
        var lines: [TerminalText] = []
        for use in uses {
            var line = TerminalText(Self.line(use))
            if use.state == .opens, use.path.hasSuffix("/store.db"),
                let count = await Self.pendingChanges(in: String(use.path.dropLast("/store.db".count)), key), count > 0
            {
                line += Terminal.red(" with \(Terminal.plural(count, "change")) not pushed", on: .error)
            }
            lines.append(line)
        }
        return lines
    }

    private static func pendingChanges(in directory: String, _ key: EncryptionKey) async -> Int? {
        guard let store = try? await OfflineStore.open(at: directory, protection: .encrypted(.key(key))) else {
            return nil
        }
        defer { try? store.close() }
        guard let status = try? await store.observe.status() else { return nil }
        return status.pending.count + status.failed.count
    }

    private enum CodingKeys: CodingKey { case name, kind, vault, uses, isStale }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(name, forKey: .name)
        switch owner {
        case .clone: try container.encode("clone", forKey: .kind)
        case .vault(let vault):
            try container.encode("vault", forKey: .kind)
            try container.encodeIfPresent(vault, forKey: .vault)
        case .unknown: try container.encode("unknown", forKey: .kind)
        }
        try container.encode(uses, forKey: .uses)
        try container.encode(isStale, forKey: .isStale)
    }
}
