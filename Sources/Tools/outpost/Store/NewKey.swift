import Foundation
import ODataSQL
import OfflineOData
import Secrets
import ToolLanguage

/// The key of a new store, or the new key of an existing one.
struct NewKey {
    var source: KeySource
    /// The content of `outpost.json` about the key.
    var place: CloneFile.Key
    /// The place of the key, for a person.
    var said: TerminalText

    var protection: StoreProtection { .encrypted(source) }

    /// Returns the key that a person gives.
    ///
    /// - Parameters:
    ///   - passphrase: whether a passphrase is asked for.
    ///   - keyFile: the file that holds the key or a passphrase.
    /// - Returns: `nil` if neither is given, so that a key is generated.
    /// - Throws: ``Failure``; `SecretError` also for a short passphrase.
    static func given(passphrase: Bool, keyFile: String?) throws -> NewKey? {
        if let keyFile {
            let file = try KeySource(namedFile: keyFile)
            try file.requireFitForSealing()
            guard case .file(let content) = file, !content.hasHeader else {
                return NewKey(source: file, place: .file, said: "Its key is in \(keyFile); keep that file safe.")
            }
            return NewKey(
                source: file, place: .file,
                said: "It is protected by the passphrase in \(keyFile), since that file has no header of a key file.")
        }
        guard passphrase else { return nil }
        guard let first = try Terminal.askSecret("New passphrase: ") else {
            throw Failure(message: "A passphrase is needed, and nobody is here to be asked.")
        }
        let source = KeySource.passphrase(Secret(first))
        try source.requireFitForSealing()
        guard try Terminal.askSecret("Once more: ") == first else {
            throw Failure(message: "The two passphrases differ.")
        }
        return NewKey(source: source, place: .passphrase, said: "It is protected by your passphrase.")
    }

    /// Generates a key and keeps it in a file that only its owner can read.
    ///
    /// - Parameter directory: the directory of the clone.
    static func generated(for directory: String) throws -> NewKey {
        let (key, name, folder) = try KeyKeeper.generate(for: directory)
        return NewKey(source: .key(key), place: .vault(name: name), said: "Its key is kept in \(folder).")
    }
}
