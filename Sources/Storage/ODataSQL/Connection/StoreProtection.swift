public import DataVault
import EncryptedSQLite
import GRDB
import GRDBSQLite
public import Secrets

/// The protection of a store's file.
///
/// ```swift
/// let key = try keys.key(named: SecretName("orders")) ?? keys.generateKey(named: SecretName("orders"))
/// let byKey = StoreProtection.encrypted(.key(key))
/// let byPassphrase = StoreProtection.encrypted(.passphrase(Secret(password)))
/// ```
public enum StoreProtection: Sendable {
    /// Every page is encrypted, and the key or passphrase opens the file. This is the recommended protection.
    case encrypted(KeySource)
    /// Every page is encrypted with a key that is generated with the store and kept in a secret store.
    ///
    /// On Linux, the secret store can be a folder of files of the user, and on Apple platforms the keychain. An
    /// existing store is opened with the key of this name; no new key is generated for it.
    ///
    /// ```swift
    /// let secrets = try FileSecretStore(directory: folder)
    /// let protection = try StoreProtection.generated(in: secrets, named: SecretName("orders"))
    /// ```
    case generated(in: any SecretStore, named: SecretName)
    /// The file is unencrypted and everyone with access to it can read it. For tests and for public data.
    case unencrypted

    var isEncrypted: Bool { if case .unencrypted = self { false } else { true } }

    /// Returns the same protection with the key in place of its name.
    ///
    /// - Parameter exists: whether the file exists; a key is generated only for a new file.
    /// - Throws: ``StoreError/keyUnavailable(name:reason:)``.
    package func resolved(exists: Bool) throws(StoreError) -> StoreProtection {
        guard case .generated(let secrets, let name) = self else { return self }
        do throws(DataVaultError) {
            if let key = try secrets.key(named: name) { return .encrypted(.key(key)) }
            if !exists { return .encrypted(.key(try secrets.generateKey(named: name))) }
        } catch {
            // Two processes may generate the key at the same time; the first key is used.
            if case .alreadyExists = error, let key = try? secrets.key(named: name) { return .encrypted(.key(key)) }
            throw .keyUnavailable(name: name.text, reason: error.description)
        }
        throw .keyUnavailable(name: name.text, reason: "the secret store has no key of that name")
    }

    /// Prepares the access to a file. A missing encrypted file is created, so that SQLite never creates a file
    /// itself.
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

/// The access to a plain or encrypted file for opening connections.
struct StoreAccess: Sendable {
    var path: String
    /// The name that SQLite opens: a path, or a URI that selects the encrypting file system.
    var location: String

    /// Returns the meaning of an error of opening the file.
    func openingError(_ error: DatabaseError) -> StoreError {
        switch error.resultCode {
        case .SQLITE_AUTH: .wrongKey(path: path)
        default: StoreError(error, path: path)
        }
    }

    /// Returns whether a file is missing, empty or starts like a plain SQLite database.
    static func isEmptyOrPlain(path: String) throws(StoreError) -> Bool {
        do throws(EncryptedDatabaseError) {
            return try EncryptedDatabase.isEmptyOrPlain(at: path)
        } catch {
            throw StoreError(error, path: path)
        }
    }
}

extension StoreError {
    /// Classifies an error of the encryption.
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
