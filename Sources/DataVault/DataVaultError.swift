/// Why a secret could not be read, kept or removed.
///
/// No case carries a secret.
public enum DataVaultError: Error, Equatable, Sendable {
    /// A name is empty, too long, or has a character at `position` that is not allowed; see ``SecretName``.
    case illegalName(String, position: Int)
    /// A secret is longer than ``DataVaultLimits/maximumSecretByteCount`` bytes.
    case tooLong(name: String, bytes: Int)
    /// There is a secret of that name already.
    case alreadyExists(name: String)
    /// The secret is no key.
    case notAKey(name: String)
    /// A file or folder lets others in, or belongs to another user; `mode` is its permissions.
    ///
    /// It is not repaired silently: whoever could read the secret may have done so. `chmod 600` (a folder:
    /// `chmod 700`), or better, replace the secret.
    case exposed(path: String, mode: UInt32)
    /// What stands at the path is a symbolic link, a folder, or no regular file.
    case notAFile(path: String)
    /// The system refused an operation; `code` is its `errno`.
    case system(operation: String, path: String, code: Int32)
    /// There is no home folder to keep secrets in; name a folder.
    case noHome
}

extension DataVaultError: CustomStringConvertible {
    /// One sentence that says what is wrong and, where one can, what to do.
    public var description: String {
        switch self {
        case .illegalName(let name, let position):
            "\(name.debugDescription) is not a name for a secret (character \(position)): letters, digits, . _ - only"
        case .tooLong(let name, let bytes):
            "the secret \(name) has \(bytes) bytes; the limit is \(DataVaultLimits.maximumSecretByteCount)"
        case .alreadyExists(let name): "there is a secret named \(name) already"
        case .notAKey(let name): "the secret \(name) is not a key"
        case .exposed(let path, let mode):
            "\(path) is open to others (mode \(String(mode, radix: 8))); only its owner may have access"
        case .notAFile(let path): "\(path) is not a regular file"
        case .system(let operation, let path, let code): "\(operation) of \(path) failed (errno \(code))"
        case .noHome: "there is no home folder to keep secrets in"
        }
    }
}
