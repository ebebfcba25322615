import ErrorCodes
import Foundation
import GRDB
public import Secrets

/// The errors of opening, reading and writing a store.
///
/// ```swift
/// do {
///     let store = try await OfflineStore.open(at: directory, protection: protection)
///     show(store.model.schemas.count)
/// } catch StoreError.wrongKey(let path) {
///     show("Another key opens \(path).")
/// }
/// ```
public enum StoreError: Error, Hashable, Sendable, CustomStringConvertible {
    /// There is no file at the path.
    case notFound(path: String)
    /// The key or passphrase does not open the file.
    case wrongKey(path: String)
    /// The key or passphrase is not usable with any file, for example because it is too short for a new store.
    case unusableKey(SecretError)
    /// The secret store did not return the key of this name.
    case keyUnavailable(name: String, reason: String)
    /// The file is encrypted but was opened as unencrypted, or the reverse.
    case protectionMismatch(path: String, isEncrypted: Bool)
    /// The file is not a database, or is a database of another application.
    case notAStore(path: String)
    /// A later version of this library created the store.
    case newerVersion(path: String, found: Int, supported: Int)
    /// The device has no space left; the transaction was rolled back.
    case diskFull
    /// The device was full when the store was opened. The store is read-only until it is opened again.
    case openedOnFullDevice
    /// Another connection held a lock on the database for longer than the time limit.
    case locked
    /// The file or its folder is not writable.
    case readOnly
    /// The file is damaged.
    case corrupt(message: String)
    /// A constraint of the database prevented a change.
    case constraint(message: String)
    /// Reading from or writing to the device failed.
    case inputOutput(code: Int, message: String)
    /// Another error of SQLite, with its extended result code.
    case database(code: Int, message: String)

    /// A sentence that describes the error.
    public var description: String {
        switch self {
        case .notFound(let path): "There is no store at \(path)."
        case .wrongKey(let path): "The key does not open \(path)."
        case .unusableKey(let error):
            "\(error.description.prefix(1).uppercased())\(error.description.dropFirst())."
        case .keyUnavailable(let name, let reason):
            "Cannot get the key \(name): \(reason). Open the store with the secret store that it was made with."
        case .protectionMismatch(let path, let isEncrypted):
            isEncrypted
                ? "\(path) is encrypted; a key is needed to open it." : "\(path) is not encrypted; it has no key."
        case .notAStore(let path): "\(path) is not an Outpost store."
        case .newerVersion(let path, let found, let supported):
            "\(path) has layout version \(found); this library supports versions up to \(supported)."
        case .diskFull: "The device has no room left."
        case .openedOnFullDevice:
            "The device had no room left when the store was opened: it can be read, and changed once it is opened again."
        case .locked: "Another connection is using the database."
        case .readOnly: "The database may not be written."
        case .corrupt(let message): "The database is damaged: \(message)."
        case .constraint(let message): "The database refused the change: \(message)."
        case .inputOutput(let code, let message): "Reading or writing failed: \(message) (SQLite \(code))."
        case .database(let code, let message): "\(message) (SQLite \(code))."
        }
    }
}

extension StoreError {
    /// Classifies an error of SQLite.
    ///
    /// - Parameters:
    ///   - error: the error of SQLite.
    ///   - path: the path of the file, for errors that name it.
    public init(_ error: DatabaseError, path: String) {
        self.init(error.extendedResultCode, message: error.message ?? "SQLite gave no reason", path: path)
    }

    /// Classifies a result code of SQLite.
    init(_ code: ResultCode, message: String, path: String) {
        switch code.primaryResultCode {
        case .SQLITE_FULL: self = .diskFull
        case .SQLITE_BUSY, .SQLITE_LOCKED: self = .locked
        case .SQLITE_READONLY, .SQLITE_PERM: self = .readOnly
        case .SQLITE_CORRUPT: self = .corrupt(message: message)
        case .SQLITE_NOTADB: self = .notAStore(path: path)
        case .SQLITE_CANTOPEN: self = Self.unopened(code, message: message, path: path)
        case .SQLITE_CONSTRAINT: self = .constraint(message: message)
        case .SQLITE_IOERR:
            switch code {
            // There is no space for the index of the log, which is the first file that a connection extends.
            case .SQLITE_IOERR_SHMSIZE: self = .diskFull
            // The page was modified: no key decrypts it.
            case .SQLITE_IOERR_DATA, .SQLITE_IOERR_CORRUPTFS:
                self = .corrupt(message: "a page is not as it was written")
            default: self = .inputOutput(code: Int(code.rawValue), message: message)
            }
        default: self = .database(code: Int(code.rawValue), message: message)
        }
    }

    /// Classifies a file that cannot be opened. It is missing only if it does not exist, because the process may
    /// also lack access or file descriptors.
    private static func unopened(_ code: ResultCode, message: String, path: String) -> StoreError {
        let files = FileManager.default
        guard files.fileExists(atPath: path) else { return .notFound(path: path) }
        guard code != .SQLITE_CANTOPEN_SYMLINK else {
            return .inputOutput(
                code: Int(code.rawValue),
                message: "a file beside \(path) (-wal, -shm or -journal) is a link or has another name elsewhere")
        }
        let folder = (path as NSString).deletingLastPathComponent
        guard files.isWritableFile(atPath: path), files.isWritableFile(atPath: folder.isEmpty ? "." : folder) else {
            return .readOnly
        }
        return .inputOutput(code: Int(code.rawValue), message: message)
    }

    /// Runs `body` and converts errors of SQLite to ``StoreError``; other errors pass unchanged.
    static func translating<Result>(path: String, _ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch let error as DatabaseError {
            throw StoreError(error, path: path)
        }
    }

    /// Runs asynchronous work and converts its errors in the same way.
    package static func translating<Result: Sendable>(
        path: String, _ body: () async throws -> Result
    ) async throws -> Result {
        do {
            return try await body()
        } catch let error as DatabaseError {
            throw StoreError(error, path: path)
        }
    }
}

extension StoreError: CodedError {
    /// The code of the error, such as `store.not-found`.
    public var errorCode: ErrorCode {
        if case .unusableKey(let error) = self { return error.errorCode }
        let name =
            switch self {
            case .notFound: "not-found"
            case .wrongKey: "wrong-key"
            case .unusableKey: "unusable-key"
            case .keyUnavailable: "key-unavailable"
            case .protectionMismatch: "protection-differs"
            case .notAStore: "no-store"
            case .newerVersion: "newer-version"
            case .diskFull: "disk-full"
            case .openedOnFullDevice: "opened-on-full-device"
            case .locked: "locked"
            case .readOnly: "read-only"
            case .corrupt: "damaged"
            case .constraint: "constraint"
            case .inputOutput: "device"
            case .database: "database"
            }
        return ErrorCode(rawValue: "store.\(name)")
    }

    /// The kind of the failure, according to its remedy: another key, another file, space on the device, or a later
    /// attempt.
    public var failureKind: FailureKind {
        switch self {
        case .notFound: .missing
        case .wrongKey, .protectionMismatch, .keyUnavailable: .credentials
        case .unusableKey(let error): error.failureKind
        case .newerVersion: .unsupported
        case .diskFull, .openedOnFullDevice, .readOnly, .inputOutput: .device
        case .locked: .transient
        case .corrupt, .notAStore: .damaged
        case .constraint: .request
        case .database: .device
        }
    }
}
