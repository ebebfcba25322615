/// What opens something encrypted: a key, or a passphrase that a key is derived from.
public enum KeySource: Sendable {
    /// A key of 256 bits, used as it is.
    case key(EncryptionKey)
    /// A passphrase, which costs one derivation per process.
    case passphrase(Secret<String>)

    /// Reads a key file (`rules.md` 32).
    ///
    /// - Parameter keyFile: The path of the file; see ``KeyFile`` for what it may hold.
    /// - Throws: ``SecretError`` when the file cannot be read or holds neither a key nor text.
    public init(keyFile: String) throws(SecretError) {
        self = try KeyFile.read(path: keyFile)
    }

    /// Which of the two this is.
    public var kind: SecretError.KeyKind {
        switch self {
        case .key: .key
        case .passphrase: .passphrase
        }
    }
}
