import EncryptedSQLite
import GRDB
import GRDBSQLite
public import Secrets

/// How a store's file is protected.
public enum StoreProtection: Sendable {
    /// Every page is sealed; the key or passphrase opens the file. What a store should always have.
    case encrypted(KeySource)
    /// Not at all: whoever has the file can read it. For tests, and for data that is public.
    case unencrypted

    var isEncrypted: Bool { if case .encrypted = self { true } else { false } }

    /// What it takes to open a file under this protection; an encrypted file that is missing is made here,
    /// so that SQLite never makes one itself.
    ///
    /// - Throws: ``StoreError``.
    func access(to path: String, exists: Bool) throws(StoreError) -> StoreAccess {
        switch self {
        case .unencrypted:
            guard try StoreAccess.isEmptyOrPlain(path: path) else {
                throw .protectionMismatch(path: path, isEncrypted: true)
            }
            return StoreAccess(path: path, location: path)
        case .encrypted(let source):
            do throws(EncryptedDatabaseError) {
                if exists {
                    try EncryptedDatabase.unlock(at: path, with: source)
                } else {
                    try EncryptedDatabase.create(at: path, key: source)
                }
            } catch {
                throw StoreError(error, path: path)
            }
            return StoreAccess(path: path, location: EncryptedDatabase.uri(forPath: path))
        }
    }
}

/// What the factory of connections needs to open one file, plain or encrypted.
struct StoreAccess: Sendable {
    /// The file.
    var path: String
    /// The name that SQLite opens: a path, or a URI that names the encrypting file system.
    var location: String

    /// Tells what an error at opening means.
    func openingError(_ error: DatabaseError) -> StoreError {
        switch error.resultCode {
        case .SQLITE_AUTH: .wrongKey(path: path)
        default: StoreError(error, path: path)
        }
    }

    /// Whether a file is missing, empty or begins as a plain SQLite database does.
    static func isEmptyOrPlain(path: String) throws(StoreError) -> Bool {
        do throws(EncryptedDatabaseError) {
            return try EncryptedDatabase.isEmptyOrPlain(at: path)
        } catch {
            throw StoreError(error, path: path)
        }
    }
}

extension StoreError {
    /// Classifies a refusal by the encryption.
    package init(_ error: EncryptedDatabaseError, path: String) {
        switch error {
        case .notFound: self = .notFound(path: path)
        case .wrongKey, .wrongKindOfKey: self = .wrongKey(path: path)
        case .secret(let error): self = .unusableKey(error)
        case .plainDatabase: self = .protectionMismatch(path: path, isEncrypted: false)
        case .notADatabase: self = .notAStore(path: path)
        case .unsupportedFormat(_, let version):
            self = .newerVersion(path: path, found: version, supported: EncryptedDatabase.latestFormat)
        case .damagedKeyBlock, .alreadyExists: self = .corrupt(message: error.description)
        case .busy: self = .locked
        case .locked: self = .wrongKey(path: path)
        case .sqlite(let file, let operation, let code):
            self.init(ResultCode(rawValue: code), message: "\(operation) of \(file) failed", path: path)
        case .keyInDoubt: self = .inputOutput(code: Int(SQLITE_IOERR), message: error.description)
        case .unavailable(let code): self = .database(code: Int(code), message: error.description)
        }
    }
}
