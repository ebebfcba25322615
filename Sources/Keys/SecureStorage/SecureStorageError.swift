public import DataVault
import EncryptedSQLite
import ErrorCodes
import GRDB

/// An error of a secure database or store. No case contains a value.
public enum SecureStorageError: Error, Equatable, Sendable {
    /// No file exists at the path.
    case notFound(path: String)
    /// The key or passphrase does not open the file.
    case wrongKey(path: String)
    /// Changing the key failed and could not be undone: either of the two keys may open the file, so keep both.
    case keyInDoubt(path: String)
    /// The file is not an encrypted database, is damaged, or has a later version; the text gives the reason.
    case unusable(reason: String)
    /// The database was closed.
    case closed
    /// SQLite refused the operation; `code` is its extended result code.
    case database(code: Int, message: String)
    /// The value with this name does not have the requested type.
    case undecodable(store: String, name: String, expected: String)
    /// A value cannot be stored because its encoding failed.
    case unencodable(store: String, name: String)
    /// The vault did not provide the key.
    case vault(DataVaultError)
}

extension SecureStorageError: CustomStringConvertible {
    /// A description of the problem.
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
    /// Converts an error of the encryption.
    init(_ error: EncryptedDatabaseError) {
        switch error {
        case .notFound(let path): self = .notFound(path: path)
        case .wrongKey(let path), .wrongKindOfKey(let path, _): self = .wrongKey(path: path)
        case .keyInDoubt(let path): self = .keyInDoubt(path: path)
        case .busy: self = .database(code: Int(ResultCode.SQLITE_BUSY.rawValue), message: error.description)
        default: self = .unusable(reason: error.description)
        }
    }

    /// Converts an error of GRDB. The SQL statement and its arguments are omitted.
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
    /// An error code of the form `storage.…`.
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

    /// The kind of remedy: another key, another file, or a changed call.
    public var failureKind: FailureKind {
        switch self {
        case .notFound: .missing
        case .wrongKey: .credentials
        case .database(let code, _) where Self.isTransient(code): .transient
        case .database, .keyInDoubt: .device
        case .undecodable: .damaged
        case .vault(let error): error.failureKind
        default: .request
        }
    }

    /// Whether an extended result code says that another connection has a lock.
    private static func isTransient(_ code: Int) -> Bool {
        [ResultCode.SQLITE_BUSY, .SQLITE_LOCKED].contains { Int($0.rawValue) == code & 0xFF }
    }
}
