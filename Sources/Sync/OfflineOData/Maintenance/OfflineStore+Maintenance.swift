import Foundation
import GRDB
import ODataModel
import ODataQuery
import ODataSQL
import ODataService

/// The effect of ``OfflineStore/Maintenance/compact()``.
///
/// ```swift
/// let report = try await store.maintenance.compact()
/// show("\(report.bytesBefore - report.bytesAfter) bytes freed")
/// ```
public struct CompactReport: Hashable, Sendable {
    /// The size of the store's files before, in bytes.
    public var bytesBefore: Int64
    /// The size of the store's files afterwards, in bytes.
    public var bytesAfter: Int64
}

extension OfflineStore {
    /// The maintenance of the store's files and of its model.
    public var maintenance: Maintenance { Maintenance(store: self) }

    /// The maintenance of a store: its files, its model, and copies for support.
    ///
    /// ``OfflineStore/verify(at:protection:)``, ``OfflineStore/salvage(at:protection:origin:incarnations:)`` and
    /// ``OfflineStore/remove(at:)`` are for stores that are not open.
    ///
    /// ```swift
    /// for action in try await store.maintenance.repair() { print(action) }
    /// let report = try await store.maintenance.compact()
    /// print(report.bytesBefore - report.bytesAfter, "bytes freed")
    /// ```
    public struct Maintenance: Sendable {
        let store: OfflineStore
    }
}

extension OfflineStore.Maintenance {
    /// Reduces the store's files to their content: streams of removed entities, pages of interrupted downloads
    /// and free pages are removed. Nothing visible changes.
    ///
    /// For a moment, it needs as much free disk space as the store has.
    /// - Throws: ``OfflineError/busy(processID:)``; `StoreError`, such as for a full disk.
    @discardableResult
    public func compact() async throws -> CompactReport {
        let (directory, database, mapping) = (store.directory, store.database, store.mapping)
        let lock = try SyncLock(path: StoreFiles.lock(in: directory))
        defer { withExtendedLifetime(lock) {} }
        let before = StoreFiles.size(in: directory)
        try await database.write { database in
            try StreamTable.removeOrphans(mapping, in: database)
            try database.execute(sql: "DELETE FROM outpost_staged")
        }
        try await StoreError.translating(path: StoreFiles.database(in: directory)) {
            try await database.pool.barrierWriteWithoutTransaction { try $0.execute(sql: "VACUUM") }
            try await database.pool.writeWithoutTransaction { database in
                // While another connection reads from the log, the log stays for the next checkpoint.
                do {
                    _ = try database.checkpoint(.truncate)
                } catch let error as DatabaseError where error.resultCode == .SQLITE_BUSY {}
            }
        }
        return CompactReport(bytesBefore: before, bytesAfter: StoreFiles.size(in: directory))
    }

    /// Repairs the store: indexes are rebuilt from the rows, and bookkeeping of missing rows is removed. If
    /// SQLite still finds a fault, every query is downloaded again. Pending changes stay.
    ///
    /// - Returns: the repairs, one sentence each; none if nothing was wrong.
    /// - Throws: ``OfflineError/busy(processID:)``; `StoreError` if the file cannot be read at all.
    @discardableResult
    public func repair() async throws -> [String] {
        let lock = try SyncLock(path: StoreFiles.lock(in: store.directory))
        defer { withExtendedLifetime(lock) {} }
        return try await store.database.write { [mapping = store.mapping, environment = store.environment] database in
            var done: [String] = []
            if try !database.integrityProblems().isEmpty {
                try database.execute(sql: "REINDEX")
                done.append("The indexes were made again.")
            }
            let broken = try StreamHoles.mend(in: database)
            if broken > 0 { done.append("\(broken) streams that lack bytes are loaded again by the next download.") }
            var removed = 0
            for table in mapping.tables.values {
                guard let set = mapping.model.entitySet(table.set), let rowID = table.rowID?.sqlIdentifier
                else { continue }
                let rows = "SELECT \(rowID) FROM \(table.table.sqlIdentifier)"
                // A locally deleted row has a before image and a request that needs it. A draft has its base
                // version there.
                let needed = set.isClientOnly ? rows : QueueTable.changedRowsOfSet
                try database.execute(
                    sql: "DELETE FROM outpost_before WHERE entity_set = ?1 AND row_id NOT IN (\(needed))",
                    arguments: [table.set])
                removed += database.changesCount
                let deleted = "SELECT row_id FROM outpost_before WHERE entity_set = ?1"
                for name in [
                    "outpost_member", "outpost_expanded", "outpost_uploaded", "outpost_alias", "outpost_upserted",
                ] {
                    try database.execute(
                        sql: """
                            DELETE FROM \(name)
                            WHERE entity_set = ?1 AND row_id NOT IN (\(rows) UNION ALL \(deleted))
                            """, arguments: [table.set])
                    removed += database.changesCount
                }
            }
            if removed > 0 { done.append("\(removed) notes about rows that are not there were removed.") }
            if let problem = try database.integrityProblems().first {
                for query in try QueryTable.all(in: database) {
                    try QueryTable.forgetLinks(of: query.id, in: database)
                }
                done.append("Everything is compared with the service by the next download: \(problem)")
            }
            if !done.isEmpty {
                try Events.add("repaired", done.joined(separator: " "), environment: environment, in: database)
            }
            return done
        }
    }
}

extension StoreFiles {
    /// The size of the files, in bytes.
    static func size(in directory: String) -> Int64 {
        ["", "-wal"].reduce(0) { total, suffix in
            let attributes = try? FileManager.default.attributesOfItem(atPath: database(in: directory) + suffix)
            return total + ((attributes?[.size] as? NSNumber)?.int64Value ?? 0)
        }
    }
}
