import EncryptedSQLite
import Foundation
import GRDB
import Secrets

/// One file of the driver: the connections and the translation of errors.
final class SQLiteFile: Sendable {
    /// The path; `nil` in memory.
    let path: String?
    let writer: any DatabaseWriter

    /// Opens an encrypted file, or creates it.
    init(path: String, key: EncryptionKey) throws(ServerStateError) {
        self.path = path
        do {
            if FileManager.default.fileExists(atPath: path) {
                try EncryptedDatabase.unlock(at: path, with: .key(key))
            } else {
                do {
                    try EncryptedDatabase.create(at: path, key: .key(key))
                } catch EncryptedDatabaseError.alreadyExists {
                    try EncryptedDatabase.unlock(at: path, with: .key(key))
                }
            }
            let pool = try DatabasePool(
                path: EncryptedDatabase.uri(forPath: path), configuration: Self.configuration(readers: 5))
            // GRDB sets NORMAL when it enables WAL mode. An acknowledged commit must survive a power failure.
            try pool.writeWithoutTransaction { try $0.execute(sql: "PRAGMA synchronous = FULL") }
            writer = pool
        } catch {
            throw Self.translated(error)
        }
    }

    /// Opens an empty database in memory.
    init() throws(ServerStateError) {
        path = nil
        do {
            writer = try DatabaseQueue(configuration: Self.configuration(readers: 1))
        } catch {
            throw Self.translated(error)
        }
    }

    private static func configuration(readers: Int) -> Configuration {
        var configuration = Configuration()
        configuration.foreignKeysEnabled = true
        configuration.maximumReaderCount = readers
        configuration.busyMode = .timeout(10)
        configuration.label = "outpost.server.state"
        configuration.prepareDatabase { database in
            try database.execute(sql: "PRAGMA temp_store = MEMORY; PRAGMA cache_size = -8192")
        }
        return configuration
    }

    /// Reads in one snapshot.
    func read<Value: Sendable>(
        _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws(ServerStateError) -> Value {
        do {
            return try await writer.read(body)
        } catch {
            throw Self.translated(error)
        }
    }

    /// Writes in one transaction.
    func write<Value: Sendable>(
        _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws(ServerStateError) -> Value {
        do {
            return try await writer.write(body)
        } catch {
            throw Self.translated(error)
        }
    }

    /// Closes the connections and forgets the key.
    func close() {
        try? writer.close()
        if let path { try? EncryptedDatabase.lock(at: path) }
    }

    static func translated(_ error: any Error) -> ServerStateError {
        switch error {
        case let error as ServerStateError: return error
        case is CancellationError: return .unavailable(reason: "the operation was cancelled")
        case let error as EncryptedDatabaseError: return .unavailable(reason: "\(error)")
        case let error as SecretError: return .unavailable(reason: "\(error)")
        case let error as DatabaseError:
            switch error.resultCode {
            case .SQLITE_CORRUPT, .SQLITE_NOTADB: return .damaged(reason: error.message ?? "SQLite reports damage")
            default: return .unavailable(reason: error.message ?? "SQLite error \(error.resultCode.rawValue)")
            }
        default: return .unavailable(reason: "\(type(of: error))")
        }
    }
}
