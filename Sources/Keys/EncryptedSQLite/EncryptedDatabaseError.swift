import ErrorCodes
public import Secrets

/// Why an encrypted database could not be created, unlocked or re-keyed.
///
/// No case carries secret material.
public enum EncryptedDatabaseError: Error, Equatable, Sendable {
    /// There is no file at the path.
    case notFound(path: String)
    /// The file, or a log or journal that would be taken for part of it, exists already.
    case alreadyExists(path: String)
    /// The file is a SQLite database that is not encrypted.
    case plainDatabase(path: String)
    /// The file is neither an encrypted database nor a plain one.
    case notADatabase(path: String)
    /// The file was written by a later format than 2.
    case unsupportedFormat(path: String, version: Int)
    /// The file begins like an encrypted database, but neither key slot is whole.
    case damagedKeyBlock(path: String)
    /// The key or passphrase does not open the file, or the key block was altered.
    case wrongKey(path: String)
    /// The file needs a passphrase and was given a key, or the other way round.
    case wrongKindOfKey(path: String, expected: SecretError.KeyKind)
    /// The key or passphrase itself is unusable, whatever the file.
    case secret(SecretError)
    /// Re-keying failed, and so did taking it back: either of the two keys may open the file, so keep both.
    case keyInDoubt(path: String)
    /// The file was not unlocked, which what was asked for needs.
    case locked(path: String)
    /// Another connection holds a lock that re-keying needs; try again.
    case busy(path: String)
    /// SQLite or the file system refused; `code` is SQLite's extended result code.
    case sqlite(path: String, operation: String, code: Int32)
    /// This SQLite cannot carry the encryption: no `unix` VFS, or registration refused with `code`.
    case unavailable(code: Int32)
}

extension EncryptedDatabaseError: CustomStringConvertible {
    /// One sentence that says what is wrong, and with which file.
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
    /// `database.…`.
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

    /// Another key, another file, or a later time.
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
