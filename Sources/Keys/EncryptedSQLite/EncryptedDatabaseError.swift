import ErrorCodes
public import Secrets

/// An error of creating, unlocking, verifying or re-keying an encrypted database.
///
/// No case contains secret material.
public enum EncryptedDatabaseError: Error, Equatable, Sendable {
    /// No file exists at the path.
    case notFound(path: String)
    /// The file already exists, or a log or journal exists that SQLite would use as part of the new file.
    case alreadyExists(path: String)
    /// The file is a SQLite database that is not encrypted.
    case plainDatabase(path: String)
    /// The file is neither an encrypted nor a plain SQLite database.
    case notADatabase(path: String)
    /// The file has a format that is newer than 2.
    case unsupportedFormat(path: String, version: Int)
    /// The file starts like an encrypted database, but neither key slot is intact.
    case damagedKeyBlock(path: String)
    /// The key or passphrase does not open the file, or the key block was altered.
    case wrongKey(path: String)
    /// The file needs a passphrase but a key was passed, or the reverse.
    case wrongKindOfKey(path: String, expected: SecretError.KeyKind)
    /// The key or passphrase is unusable with any file.
    case secret(SecretError)
    /// Re-keying failed and could not be undone: either of the two keys may open the file, so keep both.
    case keyInDoubt(path: String)
    /// The operation needs an unlocked database, but the file was not unlocked.
    case locked(path: String)
    /// Another connection holds a lock that the operation needs; try again later.
    case busy(path: String)
    /// SQLite or the file system refused the operation; `code` is SQLite's extended result code.
    case sqlite(path: String, operation: String, code: Int32)
    /// The SQLite library cannot support the encryption: the `unix` VFS is missing, or registration failed with
    /// `code`.
    case unavailable(code: Int32)
}

extension EncryptedDatabaseError: CustomStringConvertible {
    /// A description of the problem that names the file.
    public var description: String {
        switch self {
        case .notFound(let path): "there is no database at \(path)"
        case .alreadyExists(let path): "\(path) exists already"
        case .plainDatabase(let path): "\(path) is a SQLite database, but not encrypted"
        case .notADatabase(let path): "\(path) is not an encrypted database"
        case .unsupportedFormat(let path, let version):
            "\(path) has format \(version); this version reads formats up to \(FormatVersion.latest.rawValue)"
        case .damagedKeyBlock(let path): "the key block of \(path) is damaged"
        case .wrongKey(let path): "the key does not open \(path)"
        case .wrongKindOfKey(let path, let expected): "\(path) is opened by a \(expected.rawValue)"
        case .secret(let error): error.description
        case .keyInDoubt(let path):
            "writing the key block of \(path) failed, and either the old key or the new one opens it: keep both"
        case .locked(let path): "\(path) was not unlocked"
        case .busy(let path): "\(path) is locked by another connection"
        case .sqlite(let path, let operation, let code): "\(operation) of \(path) failed (SQLite code \(code))"
        case .unavailable(let code): "SQLite cannot carry the encryption (code \(code))"
        }
    }
}

extension EncryptedDatabaseError: CodedError {
    /// An error code of the form `database.…`.
    public var errorCode: ErrorCode {
        if case .secret(let error) = self { return error.errorCode }
        let name =
            switch self {
            case .notFound: "not-found"
            case .alreadyExists: "exists"
            case .plainDatabase: "not-encrypted"
            case .notADatabase: "no-database"
            case .unsupportedFormat: "newer-version"
            case .damagedKeyBlock: "damaged"
            case .wrongKey: "wrong-key"
            case .wrongKindOfKey: "wrong-kind-of-key"
            case .secret: "secret"
            case .keyInDoubt: "key-in-doubt"
            case .locked: "not-unlocked"
            case .busy: "busy"
            case .sqlite: "system"
            case .unavailable: "no-encryption"
            }
        return ErrorCode(rawValue: "database.\(name)")
    }

    /// The kind of remedy: another key, another file, or a later attempt.
    public var failureKind: FailureKind {
        switch self {
        case .notFound: .missing
        case .wrongKey, .wrongKindOfKey, .locked: .credentials
        case .damagedKeyBlock, .notADatabase: .damaged
        case .busy: .transient
        case .unsupportedFormat, .unavailable: .unsupported
        case .secret(let error): error.failureKind
        case .sqlite, .keyInDoubt: .device
        default: .request
        }
    }
}
