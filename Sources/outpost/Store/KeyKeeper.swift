import DataVault
import Foundation
import Secrets

/// Generated keys, each kept in a file that only its owner can read; they are in no vault of `outpost vault`.
enum KeyKeeper {
    /// Makes a key and keeps it.
    ///
    /// - Returns: the key, its name, and the folder that it is in.
    static func generate() throws -> (key: EncryptionKey, name: String, directory: String) {
        let vault = try FileSecretStore()
        let name = "clone-" + UUID().uuidString.lowercased()
        return (try vault.generateKey(named: SecretName(name)), name, vault.directory)
    }

    static func key(named name: String) throws -> EncryptionKey {
        let vault = try FileSecretStore()
        guard let key = try vault.key(named: SecretName(name)) else {
            throw Failure(
                message: "There is no key \(name) in \(vault.directory).",
                advice: "It is kept by the user who made the clone. With the key in a file: --key-file FILE")
        }
        return key
    }

    static func remove(named name: String) {
        guard let vault = try? FileSecretStore(), let secret = try? SecretName(name) else { return }
        try? vault.remove(named: secret)
    }
}
