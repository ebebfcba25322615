import DataVault
import Foundation
import Secrets

/// The folders of the tool itself: its log, its cache of metadata, and their keys.
///
/// They follow the XDG base directory specification: `$XDG_STATE_HOME` or `~/.local/state`, `$XDG_CACHE_HOME`
/// or `~/.cache`.
enum ToolFolders {
    /// The folder of the log; `nil` for a user without a home.
    static var log: String? { state.map { $0 + "/log" } }

    /// The folder of the cache; `nil` for a user without a home.
    static var cache: String? { folder("XDG_CACHE_HOME", "/.cache").map { $0 + "/cache" } }

    /// The keys of log and cache; `nil` for a user without a home.
    static var keys: FileSecretStore? { state.flatMap { try? FileSecretStore(directory: $0 + "/keys") } }

    private static var state: String? { folder("XDG_STATE_HOME", "/.local/state") }

    private static func folder(_ variable: String, _ standard: String) -> String? {
        let environment = ProcessInfo.processInfo.environment
        if let folder = environment[variable], folder.hasPrefix("/") { return folder + "/outpost" }
        guard let home = environment["HOME"], home.hasPrefix("/") else { return nil }
        return home + standard + "/outpost"
    }

    /// Returns a key of the tool, which is generated at the first use.
    static func key(_ name: String) throws -> EncryptionKey {
        guard let keys else { throw DataVaultError.noHome }
        let secret = try SecretName(name)
        if let key = try keys.key(named: secret) { return key }
        do throws(DataVaultError) {
            return try keys.generateKey(named: secret)
        } catch .alreadyExists {
            // Another process has created the key meanwhile.
            guard let key = try keys.key(named: secret) else { throw DataVaultError.noHome }
            return key
        }
    }
}
