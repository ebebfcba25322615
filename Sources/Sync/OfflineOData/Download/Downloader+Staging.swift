import Foundation
import GRDB
import ODataModel
import ODataQuery
import ODataSQL
import ODataService

/// The result of a delta or refresh is staged until it is complete, and then applied.
///
/// One transaction applies as many changes as a local edit can wait for, so that a reader sees all or none of
/// them. A larger result is applied in steps. Between the steps, edits and reads continue and the write-ahead log
/// is checkpointed, so that a reader sees each row before or after its change. If the process ends between two
/// steps, the download is repeated from its beginning, since only the last step changes the link of the query.
extension Downloader {
    /// The most rows that are written in one transaction of a delta or refresh.
    static let rowsAtOnce = 1000

    // MARK: Comparing

    /// Entities on the page that differ from the local rows.
    struct Compared: Sendable {
        var differing: [ODataEntity] = []
        /// The rows of the whole page that are in the store, including locally deleted ones.
        var seen: [Int64] = []
    }

    /// Compares a page with the local rows. Nothing is written, so that no other writer waits.
    func compare(_ entities: [ODataEntity], _ query: StoredQuery, table: TableStorage) async throws -> Compared {
        let queue = QueueTable(model: mapping.model)
        return try await database.read { [mapping, refusesUnreadableValues] database in
            let loader = try BulkLoader(set: table.set, mapping: mapping, in: database)
            let columns = HeldColumns(table: table, mapping: mapping, in: database)
            loader.holders = { try columns.holders($0, query.id) }
            let before = BeforeImages(snapshots: queue.snapshots)
            // Hardly ever true. If it is false, no row is looked up.
            let hasLocalChanges = try QueueTable.hasRequests(of: table.set, in: database)
            let replacedStreams = try ReplacedStreams(table: table, in: database)
            let deleted = hasLocalChanges ? try before.deletedRows(of: table, in: database) : [:]
            let unreadable = try UnreadableValues(set: table.set, in: database)
            var compared = Compared()
            for entity in entities {
                guard loader.hasKey(entity) else {
                    // It is recorded with the change.
                    compared.differing.append(entity)
                    continue
                }
                var kept = entity
                let found: BulkLoader.Outcome?
                do {
                    found = try loader.compare(entity)
                } catch let error as StoredValueError {
                    kept = loader.storable(entity)
                    guard !refusesUnreadableValues, kept.control.unreadable != entity.control.unreadable else {
                        throw error
                    }
                    found = try loader.compare(kept)
                }
                if let found {
                    compared.seen.append(found.rowID)
                } else if let key = entity.key, let rowID = deleted[key]?.first {
                    compared.seen.append(rowID)
                }
                if let found, found.change == .unchanged,
                    try kept.control.unreadable == unreadable.properties(of: found.rowID),
                    try isHeld(found, by: query.id, table, in: database),
                    try !hasLocalChanges || !queue.hasRequests(set: table.set, rowID: found.rowID, in: database),
                    try replacedStreams.of(entity, found.rowID).isEmpty
                {
                    continue
                }
                compared.differing.append(entity)
            }
            return compared
        }
    }

    private func isHeld(
        _ row: BulkLoader.Outcome, by query: Int64, _ table: TableStorage, in database: Database
    ) throws -> Bool {
        if row.previousOwner == query { return true }
        guard row.previousOwner != 0 else { return false }
        let statement = try database.cachedStatement(
            sql: "SELECT EXISTS(SELECT 1 FROM outpost_member WHERE entity_set = ? AND row_id = ? AND query_id = ?)")
        return try Bool.fetchOne(statement, arguments: [table.set, row.rowID, query]) ?? false
    }

    // MARK: Missing rows

    /// The number of keys in one request that confirms missing rows.
    static let confirmationChunk = 20

    /// Removes the rows that a full read did not bring. Removals of rows are staged; that of a singleton needs no
    /// stage.
    func releaseMissing(
        _ query: StoredQuery, _ table: TableStorage, seen: RowSet, received: Int
    ) async throws -> RowApplier.Counts {
        guard mapping.model.singleton(table.set) != nil else {
            try await stageMissing(query, table, seen: seen)
            return RowApplier.Counts()
        }
        guard received == 0 else { return RowApplier.Counts() }
        // The singleton is null.
        return try await database.write { database in
            var applier = try applier(of: query, table, in: database)
            try applier.release(1)
            return applier.counts
        }
    }

    /// Stages the removal of the query's rows that a full read did not bring, once the service has confirmed that they
    /// are gone.
    private func stageMissing(_ query: StoredQuery, _ table: TableStorage, seen: RowSet) async throws {
        let rows = HeldRows(query: query.id, table: table, mapping: mapping)
        var last = Int64.min
        while true {
            let after = last
            let part = try await database.read { try rows.unseen(after: after, seen, in: $0) }
            let keys = part.rows.map(\.key)
            let present = try await confirmedPresent(keys, query, table: table)
            try await stage(removed: keys.filter { !present.contains($0) }, query, table)
            guard let next = part.last else { break }
            last = next
        }
    }

    /// Returns those keys that are still in the query's result at the service.
    private func confirmedPresent(
        _ keys: [EntityKey], _ query: StoredQuery, table: TableStorage
    ) async throws -> Set<EntityKey> {
        // In a part of a result, a missing row has left the part, even if it exists elsewhere.
        let options = try ODataURL(parsing: query.text).options
        if options.top != nil || options.skip != nil { return [] }
        var present: Set<EntityKey> = []
        var start = 0
        var size = Self.confirmationChunk
        while start < keys.count {
            let chunk = keys[start..<min(start + size, keys.count)]
            do {
                if let found = try await filtered(by: chunk, query, table) {
                    present.formUnion(found)
                    start += chunk.count
                    continue
                }
            } catch let error as ODataError
                where Self.tooLong.contains(error.status) || error.code == RefusingProvider.code
            {
                if chunk.count > 1 {
                    size = chunk.count / 2
                    continue
                }
            }
            // The service does not filter by keys. A row that exists under its key may still be outside of a
            // filtered result.
            guard options.filter == nil, options.search == nil else { return present }
            for key in chunk where try await isThere(key, table) { present.insert(key) }
            start += chunk.count
        }
        return present
    }

    /// The statuses for a URL that is too long; some services also use 404.
    private static let tooLong: Set = [404, 413, 414, 431]

    /// Returns those keys that are in the query's result at the service; `nil` if the service does not filter by
    /// keys.
    private func filtered(
        by keys: ArraySlice<EntityKey>, _ query: StoredQuery, _ table: TableStorage
    ) async throws -> Set<EntityKey>? {
        let anyOfThem = keys.map { KeyURL.condition($0, shape: table.shape, mapping.model) }.reduce(
            nil as CommonExpression?
        ) { all, one in
            all.map { .binary(.or, $0, one) } ?? one
        }
        guard service.supportsFilterByKey, let anyOfThem else { return nil }
        var url = try ODataURL(parsing: query.text)
        url.options.filter = url.options.filter.map { .binary(.and, $0, anyOfThem) } ?? anyOfThem
        url.options.select = table.shape.key.map { SelectItem(.path([Identifier($0.path)])) }
        url.options.expand = []
        url.options.orderBy = []
        var found: Set<EntityKey> = []
        do {
            var link: String?
            var followed = FollowedLinks()
            var limits = limits
            // A service that returns rows of other keys is read in another way, see below.
            limits.rows = DownloadLimits.uncountedRows
            var bounds = ReadBounds(of: query.name, limits) { nil }
            repeat {
                var request = ODataRequest(.read, url)
                request.link = link
                let page = try await fetch(request)
                try await bounds.addPage(rows: page.entities.count)
                let those = page.entities.compactMap(\.key)
                // Another row shows that the service ignores filters (rule 15).
                guard those.allSatisfy({ found in keys.contains { $0 == found || $0.isFolded(found) } }) else {
                    return nil
                }
                found.formUnion(those)
                link = page.nextLink
                try followed.follow(link)
            } while link != nil
        } catch OfflineError.endless {
            return nil
        } catch let error as ODataError where Self.refusals.contains(error.status) {
            // The service may allow a filter for one key and not for several.
            if error.code == RefusingProvider.code, keys.count > 1 { throw error }
            return nil
        }
        return found
    }

    /// Whether the service returns the entity for a key. A service that ignores case may have it under another
    /// key by now.
    private func isThere(_ key: EntityKey, _ table: TableStorage) async throws -> Bool {
        do {
            return try await fetch(ODataRequest(.read, KeyURL.url(set: table.set, key: key, mapping))).entities
                .contains { $0.key.map { $0 == key } ?? true }
        } catch let error as ODataError where [404, 410].contains(error.status) || Self.refusals.contains(error.status)
        {
            return false
        }
    }

    // MARK: Staging

    func clearStage(_ query: StoredQuery) async throws {
        while try await database.read({ try Self.isStaged(query.id, in: $0) }) {
            try await database.bulkWrite { try Self.clearSome(of: query.id, in: $0) }
        }
    }

    private static func isStaged(_ query: Int64, in database: Database) throws -> Bool {
        try Bool.fetchOne(
            database, sql: "SELECT EXISTS(SELECT 1 FROM outpost_staged WHERE query_id = ?)", arguments: [query])
            ?? false
    }

    private static func clearSome(of query: Int64, in database: Database) throws {
        try database.execute(
            sql: """
                DELETE FROM outpost_staged WHERE id IN (
                    SELECT id FROM outpost_staged WHERE query_id = ? ORDER BY id LIMIT \(rowsAtOnce))
                """, arguments: [query])
    }

    func stage(_ entities: [ODataEntity], _ query: StoredQuery) async throws {
        let coder = TreeCoder(snapshots: SnapshotCoder(model: mapping.model))
        try await stage(entities.map { ("entity", try coder.encode($0)) }, query)
    }

    func stage(removed keys: [EntityKey], _ query: StoredQuery, _ table: TableStorage) async throws {
        let coder = TreeCoder(snapshots: SnapshotCoder(model: mapping.model))
        try await stage(keys.map { ("removed", try coder.encode(ODataEntity(shape: table.shape, key: $0))) }, query)
    }

    private func stage(_ items: [(kind: String, content: Data)], _ query: StoredQuery) async throws {
        var start = 0
        while start < items.count {
            let part = Array(items[start..<min(start + Self.rowsAtOnce, items.count)])
            start += Self.rowsAtOnce
            try await database.bulkWrite { database in
                let statement = try database.cachedStatement(
                    sql: "INSERT INTO outpost_staged(query_id, kind, content) VALUES (?, ?, ?)")
                for item in part { try statement.execute(arguments: [query.id, item.kind, item.content]) }
            }
        }
    }

    // MARK: Applying

    /// Applies the staged changes of a query, and marks it as loaded.
    func applyStage(
        _ query: StoredQuery, _ table: TableStorage, deltaLink: String?
    ) async throws -> [RowApplier.Counts] {
        let time = environment.instant.description
        let staged = try await database.read { database in
            try Int.fetchOne(
                database, sql: "SELECT COUNT(*) FROM outpost_staged WHERE query_id = ?", arguments: [query.id]) ?? 0
        }
        let step = ApplyingStep(
            query: query, table: table, mapping: mapping, doubts: doubts, isStrict: refusesUnreadableValues)
        progress.report(SyncProgress(phase: .applying, query: query.name, total: staged))
        if staged <= Self.rowsAtOnce {
            let counts: [RowApplier.Counts] = try await database.write { database in
                var reached = step.noRows
                var counts = try step.apply(&reached, in: database)
                counts += try step.sweep(&reached, in: database)
                try step.finish(reached, deltaLink: deltaLink, at: time, in: database)
                return counts
            }
            progress.step(.removingDeletedRelationships)
            progress.report(SyncProgress(phase: .applying, query: query.name, done: staged, total: staged))
            return counts
        }
        var counts: [RowApplier.Counts] = []
        var applied = 0
        var reached = step.noRows
        var isStaged = true
        while isStaged {
            try Task.checkCancellation()
            let before = reached
            let done = try await database.bulkWrite { database in
                var reached = before
                let counts = try step.apply(&reached, limit: Self.rowsAtOnce / 2, in: database)
                return (counts, reached, try Self.isStaged(query.id, in: database))
            }
            counts += done.0
            reached = done.1
            isStaged = done.2
            applied = min(applied + Self.rowsAtOnce / 2, staged)
            progress.report(SyncProgress(phase: .applying, query: query.name, done: applied, total: staged))
        }
        progress.step(.removingDeletedRelationships)
        var isSwept = false
        while !isSwept {
            let before = reached
            let done = try await database.bulkWrite { database in
                var reached = before
                let counts = try step.sweep(&reached, limit: Self.rowsAtOnce / 2, in: database)
                return (counts, reached)
            }
            counts += done.0
            isSwept = done.1.isSwept
            reached = done.1
        }
        let all = reached
        try await database.write { try step.finish(all, deltaLink: deltaLink, at: time, in: $0) }
        return counts
    }
}
