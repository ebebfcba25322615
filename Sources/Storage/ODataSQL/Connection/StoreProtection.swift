public import DataVault
import EncryptedSQLite
import GRDB
import GRDBSQLite
public import Secrets

/// How a store's file is protected.
public enum StoreProtection: Sendable {
    /// Every page is sealed; the key or passphrase opens the file. What a store should always have.
    case encrypted(KeySource)
    /// Every page is sealed under a key that is made with the store and kept in a secret store: on Linux files of the owner's, on
    /// Apple's platforms the keychain. An existing store is opened with the key of that name, and none is made for it.
    ///
    /// ```swift
    /// let protection = try StoreProtection.generated(in: FileSecretStore(directory: folder), named: SecretName("orders"))
    /// ```
    case generated(in: any SecretStore, named: SecretName)
    /// Not at all: whoever has the file can read it. For tests, and for data that is public.
    case unencrypted

    var isEncrypted: Bool { if case .unencrypted = self { false } else { true } }

    /// The same protection with the key itself in the place of its name.
    ///
    /// - Parameter exists: whether the file is there already; a key is made for a new one only.
    /// - Throws: ``StoreError/keyUnavailable(name:reason:)``.
    package func resolved(exists: Bool) throws(StoreError) -> StoreProtection {
        guard case .generated(let secrets, let name) = self else { return self }
        do throws(DataVaultError) {
            if let key = try secrets.key(named: name) { return .encrypted(.key(key)) }
            if !exists { return .encrypted(.key(try secrets.generateKey(named: name))) }
        } catch {
            // Two processes may make the key at once: the first one's counts.
            if case .alreadyExists = error, let key = try? secrets.key(named: name) { return .encrypted(.key(key)) }
            throw .keyUnavailable(name: name.text, reason: error.description)
        }
        throw .keyUnavailable(name: name.text, reason: "the secret store has no key of that name")
    }

    /// What it takes to open a file under this protection; an encrypted file that is missing is made here,
    /// so that SQLite never makes one itself.
    ///
    /// - Throws: ``StoreError``.
    func access(to path: String, exists: Bool) throws(StoreError) -> StoreAccess {
        switch try resolved(exists: exists) {
        case .generated(_, let name):
            throw .keyUnavailable(name: name.text, reason: "the secret store gave none")
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
