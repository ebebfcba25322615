import Foundation

/// What opens something encrypted: a key, a passphrase that a key is derived from, or a file with one of the two.
public enum KeySource: Sendable {
    /// A key of 256 bits, used as it is.
    case key(EncryptionKey)
    /// A passphrase, which costs one derivation per process.
    case passphrase(Secret<String>)
    /// A file whose meaning depends on what is opened or sealed with it; see ``KeyFile``.
    case file(KeyFile)

    /// The fewest code points of a passphrase for something new, in Unicode's form C and without white space at its ends.
    /// Whatever was sealed with a shorter one can still be opened.
    public static let minimumPassphraseLength = 8

    /// Reads a key file (`rules.md` 32).
    ///
    /// - Parameters:
    ///   - keyFile: The path of the file; see ``KeyFile`` for what it may hold.
    ///   - allowsExposed: Whether the file is accepted if other users can read or replace it.
    /// - Throws: ``SecretError`` when the file cannot be read, holds neither a key nor text, or is exposed.
    public init(keyFile: String, allowsExposed: Bool = false) throws(SecretError) {
        self = .file(try KeyFile(path: keyFile, allowsExposed: allowsExposed))
    }

    /// Checks that something new may be sealed with this, without deriving a key.
    ///
    /// - Throws: ``SecretError/emptyPassphrase``, ``SecretError/shortPassphrase(length:minimum:)`` or
    ///   ``SecretError/keyFileWithoutHeader(path:)``.
    public func requireFitForSealing() throws(SecretError) { _ = try forSealing() }

    /// The key or the passphrase by which something new is sealed.
    func forSealing() throws(SecretError) -> KeyMaterial {
        let passphrase: Secret<String>
        switch self {
        case .key(let key): return .key(key)
        case .passphrase(let text): passphrase = text
        case .file(let file):
            if file.hasHeader, let key = file.key { return .key(key) }
            guard let text = file.passphrase else { throw .keyFileWithoutHeader(path: file.path) }
            passphrase = text
        }
        guard !passphrase.reveal().isEmpty else { throw .emptyPassphrase }
        let length = passphrase.reveal().precomposedStringWithCanonicalMapping
            .trimmingCharacters(in: .whitespacesAndNewlines).unicodeScalars.count
        guard length >= Self.minimumPassphraseLength else {
            throw .shortPassphrase(length: length, minimum: Self.minimumPassphraseLength)
        }
        return .passphrase(passphrase)
    }

    /// The key or the passphrase that may open an envelope.
    ///
    /// - Parameter isDerived: Whether the envelope was sealed with a passphrase.
    func forOpening(isDerived: Bool) throws(SecretError) -> KeyMaterial {
        switch self {
        case .key(let key) where !isDerived: return .key(key)
        case .passphrase(let passphrase) where isDerived: return .passphrase(passphrase)
        case .file(let file):
            if isDerived, let passphrase = file.passphrase { return .passphrase(passphrase) }
            if !isDerived, let key = file.key { return .key(key) }
        default: break
        }
        throw .wrongKindOfKey(expected: isDerived ? .passphrase : .key)
    }
}

/// A key source whose kind is decided.
enum KeyMaterial {
    case key(EncryptionKey)
    case passphrase(Secret<String>)
}
