import DataVault
import Foundation
import Secrets
import ToolLanguage

/// The generated keys, each in a file that only its owner can read. No vault of `outpost vault` contains
/// them.
///
/// Only `outpost keys remove` removes one.
enum KeyKeeper {
    private static let prefix = "clone-"

    /// Returns whether a name has the form of ``generate(for:)``: `clone-` and a UUID in small letters.
    static func isKeyName(_ name: String) -> Bool {
        guard name.hasPrefix(prefix) else { return false }
        let identifier = name.dropFirst(prefix.count)
        return UUID(uuidString: String(identifier)) != nil && identifier.allSatisfy { $0.isASCII && !$0.isUppercase }
    }

    /// Generates a key and keeps it.
    ///
    /// - Parameter directory: the directory of the clone.
    /// - Returns: the key, its name and its folder.
    static func generate(for directory: String) throws -> (key: EncryptionKey, name: String, folder: String) {
        let store = try FileSecretStore()
        let name = prefix + UUID().uuidString.lowercased()
        let key = try store.generateKey(named: SecretName(name))
        KeyUses.note(name, directory)
        return (key, name, store.directory)
    }

    static func key(named name: String) throws -> EncryptionKey {
        let store = try FileSecretStore()
        guard isKeyName(name), let key = try store.key(named: SecretName(name)) else {
            throw Failure(
                message: "There is no key \(name) in \(store.directory).",
                advice: "It is kept by the user who made the clone. With the key in a file: --key-file FILE")
        }
        return key
    }
}
