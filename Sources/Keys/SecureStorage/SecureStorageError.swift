public import DataVault
import EncryptedSQLite
import ErrorCodes
import GRDB

/// Why a secure database or store could not be opened, read or written. No case carries a value.
public enum SecureStorageError: Error, Equatable, Sendable {
    /// There is no file at the path.
    case notFound(path: String)
    /// The key or passphrase does not open the file.
    case wrongKey(path: String)
    /// Changing the key failed, and so did taking it back: either of the two keys may open the file, so keep both.
    case keyInDoubt(path: String)
    /// The file is no encrypted database, or damaged, or of a later version; the text says which.
    case unusable(reason: String)
    /// It was closed.
    case closed
    /// SQLite refused; `code` is its extended result code.
    case database(code: Int, message: String)
    /// A value of that name is not what was asked for.
    case undecodable(store: String, name: String, expected: String)
    /// A value cannot be kept: its type refused to be encoded.
    case unencodable(store: String, name: String)
    /// The vault refused to give the key.
    case vault(DataVaultError)
}

extension SecureStorageError: CustomStringConvertible {
    /// One sentence that says what is wrong.
    public var description: String {
        switch self {
        case .notFound(let path): "there is no database at \(path)"
        case .wrongKey(let path): "the key does not open \(path)"
        case .keyInDoubt(let path):
            "changing the key of \(path) failed, and either the old key or the new one opens it: keep both"
        case .unusable(let reason): reason
        case .closed: "the store was closed"
        case .database(let code, let message): "\(message) (SQLite code \(code))"
        case .undecodable(let store, let name, let expected):
            "the value \(name) of the store \(store) is no \(expected)"
        case .unencodable(let store, let name): "the value for \(name) of the store \(store) cannot be encoded"
        case .vault(let error): error.description
        }
    }
}

extension SecureStorageError {
    /// Tells what a refusal by the encryption means.
    init(_ error: EncryptedDatabaseError) {
        switch error {
        case .notFound(let path): self = .notFound(path: path)
        case .wrongKey(let path), .wrongKindOfKey(let path, _): self = .wrongKey(path: path)
        case .keyInDoubt(let path): self = .keyInDoubt(path: path)
        default: self = .unusable(reason: error.description)
        }
    }

    /// Tells what an error of GRDB means. Its message can hold SQL and values, which are left out.
    static func translated(_ error: any Error) -> SecureStorageError {
        switch error {
        case let error as SecureStorageError: error
        case let error as DatabaseError:
            .database(code: Int(error.extendedResultCode.rawValue), message: error.message ?? "SQLite refused")
        default: .database(code: 1, message: String(reflecting: type(of: error)))
        }
    }

    static func translating<Result>(_ body: () throws -> Result) throws(SecureStorageError) -> Result {
        do {
            return try body()
        } catch {
            throw translated(error)
        }
    }
}

extension SecureStorageError: CodedError {
    /// `storage.…`.
    public var errorCode: ErrorCode {
        if case .vault(let error) = self { return error.errorCode }
        let name =
            switch self {
            case .notFound: "not-found"
            case .wrongKey: "wrong-key"
            case .keyInDoubt: "key-in-doubt"
            case .unusable: "unusable"
            case .closed: "closed"
            case .database: "database"
            case .undecodable: "undecodable"
            case .unencodable: "unencodable"
            case .vault: "vault"
            }
        return ErrorCode(rawValue: "storage.\(name)")
    }

    /// Another key, another file, or a changed call.
    public var failureKind: FailureKind {
        switch self {
        case .notFound: .missing
        case .wrongKey: .credentials
        case .database, .keyInDoubt: .device
        case .undecodable: .damaged
        case .vault(let error): error.failureKind
        default: .request
        }
    }
}
