import Foundation
import GRDB
import ODataModel
import ODataQuery
import ODataSQL
import ODataService

/// What ``OfflineStore/compact()`` did.
public struct CompactReport: Hashable, Sendable {
    /// How many bytes the store's files had.
    public var bytesBefore: Int64
    /// How many they have now.
    public var bytesAfter: Int64
}

/// How a defining query is downloaded.
public struct DownloadExplanation: Hashable, Sendable {
    /// The query's name.
    public var name: String
    /// The query.
    public var query: String
    /// How it is downloaded, in words.
    public var method: String
    /// What requests leave out that the engine adds by itself, since the service was found to refuse it. Forgotten seven days
    /// after the last refusal.
    public var leftOut: [String] = []
    /// What becomes of each thing that it expands, in words.
    public var parts: [String]
}

extension OfflineStore {
    /// Makes the store's files as small as what is in them: streams of entities that are gone, pages of downloads that
    /// were cut short and free pages go. Nothing that can be seen changes.
    ///
    /// It takes as much free disk as the store has, for a moment.
    /// - Throws: ``OfflineError/busy(processID:)``; `StoreError`, such as for a full disk.
    @discardableResult
    public func compact() async throws -> CompactReport {
        let lock = try SyncLock(path: StoreFiles.lock(in: directory))
        defer { withExtendedLifetime(lock) {} }
        let before = StoreFiles.size(in: directory)
        let mapping = mapping
        try await database.write { database in
            try StreamTable.removeOrphans(mapping, in: database)
            try database.execute(sql: "DELETE FROM outpost_staged")
        }
        try await StoreError.translating(path: StoreFiles.database(in: directory)) { [database] in
            try await database.pool.barrierWriteWithoutTransaction { try $0.execute(sql: "VACUUM") }
            try await database.pool.writeWithoutTransaction { database in
                // While somebody reads from the log it stays, and the next checkpoint takes it up.
                do {
                    _ = try database.checkpoint(.truncate)
                } catch let error as DatabaseError where error.resultCode == .SQLITE_BUSY {}
            }
        }
        return CompactReport(bytesBefore: before, bytesAfter: StoreFiles.size(in: directory))
    }

    /// Mends what can be mended: indexes are made again from the rows, bookkeeping of rows that are not there is
    /// removed, and where SQLite still finds something wrong, every query is downloaded again. Changes that wait stay.
    ///
    /// - Returns: what was done, a sentence each; none when nothing was wrong.
    /// - Throws: ``OfflineError/busy(processID:)``; `StoreError` where the file cannot be read at all.
    @discardableResult
    public func repair() async throws -> [String] {
        let lock = try SyncLock(path: StoreFiles.lock(in: directory))
        defer { withExtendedLifetime(lock) {} }
        let (mapping, environment) = (mapping, options.environment)
        return try await database.write { database in
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
                // A row deleted here has its before image, and a request that needs it; a draft has its origin there.
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

    /// How the defining queries are downloaded, and what became of what they expand.
    ///
    /// - Throws: `StoreError`.
    public func explainDownloads() async throws -> [DownloadExplanation] {
        let (all, refused) = try await database.read {
            (try QueryTable.all(in: $0), try RefusedParts.stored(in: $0))
        }
        let now = options.environment.instant.seconds
        return all.filter { $0.parent == nil }.map { query in
            let left = refused.parts(of: query.entitySet, now: now).map(\.name).sorted()
            let wholes = query.sets(in: mapping).dropFirst()
            let method =
                !query.isLoaded
                ? "not downloaded yet"
                : query.deltaLink != nil
                    ? "only what changed, by the service's delta link" : "everything again, and compared"
            let parts = QueryTable.withParts([query], of: all).dropFirst().map { part in
                let way = part.deltaLink != nil ? "by its delta link" : "everything again, and compared"
                return "\(part.navigation ?? part.name): split, \(part.text): \(way)"
            }
            return DownloadExplanation(
                name: query.name, query: query.text, method: method, leftOut: left,
                parts: parts + wholes.map { "\($0): read whole with it" })
        }
    }

    /// Resolves the names of a query without answering it.
    ///
    /// - Throws: `QueryError` with the place of what is unknown.
    public func check(_ url: ODataURL) throws(QueryError) {
        _ = try traits.queryLanguage.bind(url, model: model)
    }
}

extension StoreFiles {
    /// How many bytes the files have.
    static func size(in directory: String) -> Int64 {
        ["", "-wal"].reduce(0) { total, suffix in
            let attributes = try? FileManager.default.attributesOfItem(atPath: database(in: directory) + suffix)
            return total + ((attributes?[.size] as? NSNumber)?.int64Value ?? 0)
        }
    }
}
