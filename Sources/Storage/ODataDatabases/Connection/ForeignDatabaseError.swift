import ErrorCodes
import Foundation
import GRDB
import ODataSQL

/// An error of a served database.
public enum ForeignDatabaseError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The file does not exist.
    case notFound(path: String)
    /// The file was replaced by another one while it was served.
    case replaced(path: String)
    /// The file is not a SQLite database.
    case notADatabase(path: String)
    /// The file is encrypted, or its pages are damaged.
    case encryptedOrDamaged(path: String, message: String)
    /// Another program holds a lock for longer than the timeout.
    case locked(path: String)
    /// The file cannot be written, or a log beside it cannot be created.
    case readOnly(path: String)
    /// The process has no permission to read the file.
    case noAccess(path: String)
    /// A key was given for a view that does not exist.
    case unknownView(String, known: [String])
    /// A key names a column that does not exist in the view.
    case unknownColumn(String, of: String, known: [String])
    /// The side file with the versions and responses cannot be used.
    case sideFile(path: String, message: String)
    /// The device failed, or SQLite reported another error with this extended result code.
    case database(code: Int, message: String)

    /// The description of the error in English.
    public var description: String {
        switch self {
        case .notFound(let path): "There is no file at \(path)."
        case .replaced(let path): "\(path) is another file than at the start. Restart the service."
        case .notADatabase(let path): "\(path) is not a SQLite database."
        case .encryptedOrDamaged(let path, let message): "\(path) is encrypted or damaged: \(message)."
        case .locked(let path): "Another program holds \(path) locked."
        case .readOnly(let path): "\(path) cannot be written."
        case .noAccess(let path): "\(path) may not be read."
        case .unknownView(let name, let known):
            "A key was given for the view \(name); the database has \(Self.list(known))."
        case .unknownColumn(let name, let view, let known):
            "The view \(view) has no column \(name); it has \(Self.list(known))."
        case .sideFile(let path, let message): "\(path), which belongs to the database beside it, \(message)."
        case .database(let code, let message): "\(message) (SQLite \(code))."
        }
    }

    private static func list(_ names: [String]) -> String { names.isEmpty ? "none" : names.joined(separator: ", ") }
}

extension ForeignDatabaseError {
    /// Classifies an error of SQLite.
    init(_ error: DatabaseError, path: String) {
        let message = error.message ?? "SQLite gave no reason"
        switch error.resultCode {
        case .SQLITE_NOTADB:
            self =
                Self.looksEncrypted(path: path)
                ? .encryptedOrDamaged(path: path, message: "it does not start as a SQLite database does")
                : .notADatabase(path: path)
        case .SQLITE_CORRUPT: self = .encryptedOrDamaged(path: path, message: message)
        case .SQLITE_BUSY, .SQLITE_LOCKED: self = .locked(path: path)
        case .SQLITE_READONLY: self = .readOnly(path: path)
        case .SQLITE_CANTOPEN, .SQLITE_PERM:
            // The file exists, so the failure is one of permissions.
            self =
                FileManager.default.isReadableFile(atPath: path) ? .readOnly(path: path) : .noAccess(path: path)
        default: self = .database(code: Int(error.extendedResultCode.rawValue), message: message)
        }
    }

    /// Returns whether a file that is not a plain database could be an encrypted one: it consists of whole
    /// pages and does not start with text.
    private static func looksEncrypted(path: String) -> Bool {
        guard let file = FileHandle(forReadingAtPath: path) else { return false }
        defer { try? file.close() }
        guard let size = try? file.seekToEnd(), size > 0, size % 512 == 0, (try? file.seek(toOffset: 0)) != nil,
            let start = try? file.read(upToCount: 64)
        else { return false }
        if start.starts(with: Array("SQLite format 3\0".utf8)) { return true }
        return start.contains { $0 >= 0x80 || $0 < 0x09 }
    }
}

extension ForeignDatabaseError: CodedError {
    /// A code of the form `file.…`.
    public var errorCode: ErrorCode {
        let name =
            switch self {
            case .notFound: "not-found"
            case .replaced: "replaced"
            case .notADatabase: "no-database"
            case .encryptedOrDamaged: "encrypted-or-damaged"
            case .locked: "locked"
            case .readOnly: "read-only"
            case .noAccess: "no-access"
            case .unknownView: "unknown-view"
            case .unknownColumn: "unknown-column"
            case .sideFile: "side-file"
            case .database: "database"
            }
        return ErrorCode(rawValue: "file.\(name)")
    }

    /// The kind of failure: a missing or damaged file, missing access, or a temporary lock.
    public var failureKind: FailureKind {
        switch self {
        case .notFound, .replaced: .missing
        case .encryptedOrDamaged, .notADatabase: .damaged
        case .locked: .transient
        case .readOnly, .noAccess, .sideFile, .database: .device
        default: .request
        }
    }
}
