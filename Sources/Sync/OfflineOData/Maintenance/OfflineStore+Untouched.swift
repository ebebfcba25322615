import Foundation
import GRDB
import ODataSQL

extension OfflineStore {
    /// Returns whether a store has nothing to lose: nothing was ever downloaded into it or changed in it.
    ///
    /// - Parameters:
    ///   - directory: the directory of the store.
    ///   - protection: the key.
    /// - Returns: false also for a store that the key does not open, that is damaged, or that has a later
    ///   version.
    package static func isUntouched(at directory: String, protection: StoreProtection) async -> Bool {
        let path = StoreFiles.database(in: directory)
        let connections = Options().connections(createsFile: false)
        guard let database = try? StoreDatabase.open(path: path, protection: protection, options: connections) else {
            return false
        }
        defer { try? database.close() }
        let isUntouched = try? await database.read { database in
            switch try OfflineLayout.presence(in: database, path: path) {
            case .empty: return true
            case .store:
                guard try EngineSchema.version(in: database) <= EngineSchema.version else { return false }
                return try holdsNothing(in: database)
            }
        }
        return isUntouched ?? false
    }

    private static func holdsNothing(in database: Database) throws -> Bool {
        let downloads = try Int.fetchOne(
            database,
            sql: """
                SELECT COUNT(*) FROM outpost_query
                WHERE is_loaded OR next_link IS NOT NULL OR delta_link IS NOT NULL OR last_download IS NOT NULL
                """)
        guard try QueueTable.wasNeverUsed(in: database), downloads == 0 else { return false }
        // All tables other than the engine's own contain rows, or search indexes of rows.
        let tables = try String.fetchAll(database, sql: "SELECT name FROM sqlite_master WHERE type = 'table'")
        let virtual = try String.fetchAll(
            database, sql: "SELECT name FROM sqlite_master WHERE type = 'table' AND sql LIKE 'CREATE VIRTUAL%'")
        for table in tables where !table.hasPrefix("outpost_") && !table.hasPrefix("sqlite_") {
            guard !virtual.contains(where: { table == $0 || table.hasPrefix($0 + "_") }) else { continue }
            let row = try Int.fetchOne(database, sql: "SELECT 1 FROM \(table.sqlIdentifier) LIMIT 1")
            guard row == nil else { return false }
        }
        return true
    }
}
