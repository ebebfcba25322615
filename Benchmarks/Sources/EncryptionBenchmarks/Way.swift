import EncryptedSQLite
import Foundation
import Secrets

/// How a database is kept.
enum Way: String, CaseIterable {
    case plain, encrypted, sqlcipher

    /// A new database of this kind.
    func create(at path: String, libraries: Libraries) throws -> Connection {
        for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + suffix) }
        let connection: Connection
        switch self {
        case .plain: connection = try Connection(path, library: libraries.system, setUp: "PRAGMA page_size = 4096;")
        case .encrypted:
            try EncryptedDatabase.create(at: path, key: .key(.generate()))
            connection = try Connection(EncryptedDatabase.uri(forPath: path), library: libraries.system, setUp: "")
        case .sqlcipher:
            guard let library = libraries.sqlcipher else { throw Failure("SQLCipher is not there") }
            // A raw key: no derivation is measured.
            let key = EncryptionKey.generate().hexadecimal.reveal()
            connection = try Connection(path, library: library, setUp: "PRAGMA key = \"x'\(key)'\";")
        }
        try connection.createTable()
        return connection
    }
}

/// The libraries for the ways.
struct Libraries {
    let system: SQLiteLibrary
    let sqlcipher: SQLiteLibrary?

    init() throws(Failure) {
        #if os(Linux)
            system = try SQLiteLibrary(path: "libsqlite3.so.0")
        #else
            system = try SQLiteLibrary(path: "/usr/lib/libsqlite3.dylib")
        #endif
        let path = ProcessInfo.processInfo.environment["OUTPOST_SQLCIPHER"] ?? ""
        sqlcipher = path.isEmpty ? nil : try SQLiteLibrary(path: path)
    }
}
