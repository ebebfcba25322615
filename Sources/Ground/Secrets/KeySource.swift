import Foundation

/// The source of a key that opens encrypted data: a key, a passphrase, or a file with one of the two.
///
/// ```swift
/// let byKey = KeySource.key(key)
/// let byPassphrase = KeySource.passphrase(Secret(password))
/// let byFile = try KeySource(keyFile: path)
/// ```
public enum KeySource: Sendable {
    /// A key of 256 bits, which is used directly.
    case key(EncryptionKey)
    /// A passphrase, which costs one derivation per process.
    case passphrase(Secret<String>)
    /// A file whose meaning depends on the data that it opens or seals; see ``KeyFile``.
    case file(KeyFile)

    /// The minimum number of code points of a passphrase for new data, in Unicode's form C and without
    /// surrounding white space. Data that was sealed with a shorter passphrase can still be opened.
    public static let minimumPassphraseLength = 8

    /// Reads a key file (`rules.md` 32).
    ///
    /// - Parameters:
    ///   - keyFile: The path of the file; see ``KeyFile`` for its content.
    ///   - allowsExposed: Whether to accept a file that other users can read or replace.
    /// - Throws: ``SecretError`` if the file cannot be read, contains neither a key nor text, or is exposed.
    public init(keyFile: String, allowsExposed: Bool = false) throws(SecretError) {
        self = .file(try KeyFile(path: keyFile, allowsExposed: allowsExposed))
    }

    /// Checks that this source may seal new data, without deriving a key.
    ///
    /// - Throws: ``SecretError/emptyPassphrase``, ``SecretError/shortPassphrase(length:minimum:)`` or
    ///   ``SecretError/keyFileWithoutHeader(path:)``.
    public func requireFitForSealing() throws(SecretError) { _ = try forSealing() }

    /// Returns the key or the passphrase for sealing new data.
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

    /// Returns the key or the passphrase that may open an envelope.
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

/// A key source after the decision between key and passphrase.
enum KeyMaterial {
    case key(EncryptionKey)
    case passphrase(Secret<String>)
}
