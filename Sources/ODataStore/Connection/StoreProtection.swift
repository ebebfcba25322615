import Foundation
import GRDB

/// How a store's file is protected.
public enum StoreProtection: Sendable {
    /// Not at all: whoever has the file can read it. For tests, and for data that is public.
    case unencrypted

    /// What it takes to open a file under this protection.
    ///
    /// - Throws: ``StoreError/protectionMismatch(path:isEncrypted:)``.
    func access(to path: String) throws(StoreError) -> StoreAccess {
        switch self {
        case .unencrypted:
            guard StoreAccess.isEmptyOrPlain(path: path) else {
                throw .protectionMismatch(path: path, isEncrypted: true)
            }
            return StoreAccess(path: path, location: path, prepare: { _ in })
        }
    }
}

/// What the factory of connections needs to open one file, plain or encrypted.
struct StoreAccess: Sendable {
    /// The file.
    var path: String
    /// The name that SQLite opens: a path, or a URI that names the encrypting file system.
    var location: String
    /// Prepares a connection before its first statement.
    var prepare: @Sendable (Database) throws -> Void

    /// Tells what an error at opening means.
    func openingError(_ error: DatabaseError) -> StoreError {
        switch error.resultCode {
        case .SQLITE_AUTH: .wrongKey(path: path)
        default: StoreError(error, path: path)
        }
    }

    /// Whether a file is missing, empty or begins as a plain SQLite database does.
    static func isEmptyOrPlain(path: String) -> Bool {
        guard let file = FileHandle(forReadingAtPath: path) else { return true }
        defer { try? file.close() }
        guard let start = try? file.read(upToCount: 16), !start.isEmpty else { return true }
        return start == Data("SQLite format 3\0".utf8)
    }
}
