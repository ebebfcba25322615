import Foundation
import GRDB
import ODataModel
import ODataQuery
import ODataService
import ODataStore

/// What a delta or refresh brings is kept aside until all of it is here, then applied (rule 14).
///
/// As many changes as a local edit can wait for are applied in one transaction, so that a reader sees all or none of
/// them. More than that are applied in steps, between which edits and readers go on and the write-ahead log is moved into
/// the database: a reader then sees each row before or after its change, and a process that dies between two steps
/// repeats the download from where it began, since the link of the query changes with the last step alone.
extension Downloader {
    /// The most rows that are written in one transaction of a delta or refresh.
    static let rowsAtOnce = 1000

    // MARK: Comparing

    /// What a page says that is not here.
    struct Compared: Sendable {
        var differing: [Entity] = []
        /// The rows of the whole page that are here, one deleted here included.
        var seen: [Int64] = []
    }

    /// Finds what of a page differs from what is here. Nothing is written, so that nobody waits.
    func compare(_ entities: [Entity], _ query: StoredQuery, _ table: TableStorage) async throws -> Compared {
        let queue = QueueTable(model: mapping.model)
        return try await database.read { [mapping] database in
            let loader = try BulkLoader(set: table.set, mapping: mapping, in: database)
            let before = BeforeImages(snapshots: queue.snapshots)
            // Nearly always none: then nothing is looked up per row.
            let hasLocalChanges =
                try Bool.fetchOne(
                    database, sql: "SELECT EXISTS(SELECT 1 FROM outpost_queue WHERE entity_set = ?)",
                    arguments: [table.set]) ?? false
            var compared = Compared()
            for entity in entities {
                let found = try loader.compare(entity)
                if let found {
                    compared.seen.append(found.rowID)
                } else if hasLocalChanges, let key = entity.key,
                    let rowID = try before.deletedRowID(set: table.set, key: key, shape: table.shape, in: database)
                {
                    compared.seen.append(rowID)
                }
                if let found, found.change == .unchanged, try isHeld(found, by: query.id, table, in: database),
                    try !hasLocalChanges || !queue.hasRequests(set: table.set, rowID: found.rowID, in: database)
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

    /// How many keys are asked for in one request when missing rows are confirmed.
    static let confirmationChunk = 20

    /// Stages the removal of the query's rows that a full read did not bring, once the service has confirmed that they
    /// are gone.
    func stageMissing(_ query: StoredQuery, _ table: TableStorage, seen: inout RowSet) async throws {
        for source in HeldRows.Source.allCases {
            var last = Int64.min
            while true {
                let (rows, met) = (HeldRows(source, query: query.id, table: table, mapping: mapping), seen)
                let after = last
                let part = try await database.read { try rows.unseen(after: after, met, in: $0) }
                for row in part.rows { seen.insert(row.rowID) }
                let keys = part.rows.map(\.key)
                let present = try await confirmedPresent(keys, query, table)
                try await stage(removed: keys.filter { !present.contains($0) }, query, table)
                guard let next = part.last else { break }
                last = next
            }
        }
    }

    /// Which of the keys the service still has in the query's result.
    private func confirmedPresent(
        _ keys: [EntityKey], _ query: StoredQuery, _ table: TableStorage
    ) async throws -> Set<EntityKey> {
        // Of a part of a result, what did not come is not in it any more, wherever else it is.
        let options = try ODataURL(parsing: query.text).options
        if options.top != nil || options.skip != nil { return [] }
        var present: Set<EntityKey> = []
        var start = 0
        while start < keys.count {
            let chunk = keys[start..<min(start + Self.confirmationChunk, keys.count)]
            start += Self.confirmationChunk
            if let found = try await filtered(by: chunk, query, table) {
                present.formUnion(found)
                continue
            }
            // It does not filter by keys. Of a filtered result, what is there under its key may be out of it.
            guard options.filter == nil, options.search == nil else { return present }
            for key in chunk where try await isThere(key, table) { present.insert(key) }
        }
        return present
    }

    /// Which of the keys the service finds in the query's result; `nil` where it does not filter by keys.
    private func filtered(
        by keys: ArraySlice<EntityKey>, _ query: StoredQuery, _ table: TableStorage
    ) async throws -> Set<EntityKey>? {
        let anyOfThem = keys.map(KeyURL.condition).reduce(nil as ODataQuery.Expression?) { all, one in
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
            var followed: Set<String> = []
            repeat {
                let page = try await fetch(link.map { ODataRequest(following: $0) } ?? ODataRequest(.read, url))
                found.formUnion(page.entities.compactMap(\.key))
                link = page.nextLink
                try Self.follow(link, in: &followed)
            } while link != nil
        } catch let error as ODataError where Self.refusals.contains(error.status) {
            return nil
        }
        return found
    }

    /// Whether the service answers with an entity under a key.
    private func isThere(_ key: EntityKey, _ table: TableStorage) async throws -> Bool {
        do {
            return try await !fetch(ODataRequest(.read, KeyURL.url(set: table.set, key: key))).entities.isEmpty
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

    func stage(_ entities: [Entity], _ query: StoredQuery) async throws {
        let coder = TreeCoder(snapshots: SnapshotCoder(model: mapping.model))
        try await stage(entities.map { ("entity", try coder.encode($0)) }, query)
    }

    func stage(removed keys: [EntityKey], _ query: StoredQuery, _ table: TableStorage) async throws {
        let coder = TreeCoder(snapshots: SnapshotCoder(model: mapping.model))
        try await stage(keys.map { ("removed", try coder.encode(Entity(shape: table.shape, key: $0))) }, query)
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

    /// Applies what is staged of a query, and marks it as loaded.
    func applyStage(
        _ query: StoredQuery, _ table: TableStorage, deltaLink: String?
    ) async throws -> [RowApplier.Counts] {
        let time = environment.instant.description
        let staged = try await database.read { database in
            try Int.fetchOne(
                database, sql: "SELECT COUNT(*) FROM outpost_staged WHERE query_id = ?", arguments: [query.id]) ?? 0
        }
        let step = ApplyingStep(query: query, table: table, mapping: mapping)
        progress.report(SyncProgress(phase: .applying, query: query.name, total: staged))
        if staged <= Self.rowsAtOnce {
            let counts: [RowApplier.Counts] = try await database.write { database in
                var reached = step.noRows
                var counts = try step.apply(&reached, in: database)
                counts += try step.sweep(&reached, in: database)
                try step.finish(deltaLink: deltaLink, at: time, in: database)
                return counts
            }
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
        try await database.write { try step.finish(deltaLink: deltaLink, at: time, in: $0) }
        return counts
    }
}

/// The rows that a query holds, in parts, so that a read does not last.
struct HeldRows {
    /// Where it is written that a query holds a row.
    enum Source: CaseIterable {
        /// In the row, as its owner.
        case owner
        /// Beside, where another query owns the row.
        case member
        /// With the back-end version of a row that was changed or deleted here.
        case before
    }

    struct Row: Sendable {
        let rowID: Int64
        let key: EntityKey
    }

    private let source: Source
    private let query: Int64
    private let table: TableStorage
    private let mapping: StorageMapping

    /// How many rows are looked at in one read.
    static let limit = 10_000

    init(_ source: Source, query: Int64, table: TableStorage, mapping: StorageMapping) {
        self.source = source
        self.query = query
        self.table = table
        self.mapping = mapping
    }

    /// The ids of the next rows after one, in order.
    func ids(after last: Int64, limit: Int = HeldRows.limit, in database: Database) throws -> [Int64] {
        guard let owner = table.visibility?.ownerColumn.quotedDatabaseIdentifier,
            let id = table.rowID?.quotedDatabaseIdentifier
        else { return [] }
        let sql =
            switch source {
            case .owner:
                "SELECT \(id) FROM \(table.table.quotedDatabaseIdentifier) "
                    + "WHERE \(id) > ?3 AND \(owner) = ?1 AND ?2 IS NOT NULL ORDER BY \(id) LIMIT \(limit)"
            case .member:
                "SELECT row_id FROM outpost_member WHERE query_id = ?1 AND entity_set = ?2 AND row_id > ?3 "
                    + "ORDER BY row_id LIMIT \(limit)"
            case .before:
                "SELECT row_id FROM outpost_before WHERE owner = ?1 AND entity_set = ?2 AND row_id > ?3 "
                    + "AND entity IS NOT NULL ORDER BY row_id LIMIT \(limit)"
            }
        return try Int64.fetchAll(database, sql: sql, arguments: [query, table.set, last])
    }

    /// The next rows that a full read did not bring.
    ///
    /// - Returns: the rows, and the last one that was looked at; `nil` when there are no more.
    func unseen(after last: Int64, _ seen: RowSet, in database: Database) throws -> (rows: [Row], last: Int64?) {
        let ids = try ids(after: last, in: database)
        let loader = try BulkLoader(set: table.set, mapping: mapping, in: database)
        let before = BeforeImages(snapshots: SnapshotCoder(model: mapping.model))
        let rows = try ids.filter { !seen.contains($0) }.compactMap { id -> Row? in
            // What was deleted here is known by its back-end version alone.
            let key =
                try loader.read(id)?.key
                ?? before.image(set: table.set, rowID: id, shape: table.shape, in: database)?.entity?.key
            return key.map { Row(rowID: id, key: $0) }
        }
        return (rows, ids.last)
    }
}

/// One step in applying what is staged.
struct ApplyingStep: Sendable {
    /// The rows of other sets that the query has brought, which decides what is let go of at the end.
    struct Reached: Sendable {
        var rows: [String: RowSet] = [:]
        /// Where letting go goes on, by set.
        fileprivate var cursors: [String: Int64]
        var isSwept: Bool { cursors.isEmpty }
    }

    private let query: StoredQuery
    private let table: TableStorage
    private let mapping: StorageMapping
    /// The sets of what is read with the query's own rows.
    private let relatedSets: [String]
    /// Whether it brings relations, too.
    private let bringsRelations: Bool

    init(query: StoredQuery, table: TableStorage, mapping: StorageMapping) {
        self.query = query
        self.table = table
        self.mapping = mapping
        relatedSets = query.sets(in: mapping).filter { $0 != table.set && mapping.model.entitySet($0) != nil }
        bringsRelations = (try? ODataURL(parsing: query.text))?.options.expand.isEmpty == false
    }

    var noRows: Reached {
        Reached(cursors: Dictionary(uniqueKeysWithValues: relatedSets.map { ($0, Int64.min) }))
    }

    /// Applies the next staged rows and takes them off the stage. Relations that were changed here stay on top.
    func apply(
        _ reached: inout Reached, limit: Int = .max, in database: Database
    ) throws -> [RowApplier.Counts] {
        guard bringsRelations else { return try applyRows(&reached, limit: limit, in: database) }
        let queue = QueueTable(model: mapping.model)
        return try Relations(mapping: mapping).beneathWaiting(queue, in: database) {
            try applyRows(&reached, limit: limit, in: database)
        }
    }

    private func applyRows(
        _ reached: inout Reached, limit: Int, in database: Database
    ) throws -> [RowApplier.Counts] {
        var applier = try TreeApplier(table: table, mapping: mapping, query: query, in: database)
        let coder = TreeCoder(snapshots: SnapshotCoder(model: mapping.model))
        let rows = try Row.fetchCursor(
            database,
            sql: "SELECT id, kind, content FROM outpost_staged WHERE query_id = ? ORDER BY id LIMIT ?",
            arguments: [query.id, limit])
        var last: Int64?
        while let row = try rows.next() {
            last = row["id"]
            let entity = try coder.decode(row["content"], table: table, mapping: mapping)
            if row["kind"] == "entity" {
                try applier.apply(entity, &reached.rows)
            } else if let key = entity.key {
                try applier.remove(key)
            }
        }
        if let last {
            try database.execute(
                sql: "DELETE FROM outpost_staged WHERE query_id = ? AND id <= ?", arguments: [query.id, last])
        }
        return applier.counts
    }

    /// Lets go of related rows that nothing leads to any more.
    func sweep(_ reached: inout Reached, limit: Int = .max, in database: Database) throws -> [RowApplier.Counts] {
        var counts: [RowApplier.Counts] = []
        for (set, start) in reached.cursors {
            guard let other = mapping.tables[set] else { continue }
            var applier = try RowApplier(table: other, mapping: mapping, query: query.id, in: database)
            var last = start
            let known = reached.rows[set] ?? RowSet()
            let ids = try [HeldRows.Source.owner, .member].flatMap { source in
                try HeldRows(source, query: query.id, table: other, mapping: mapping)
                    .ids(after: start, limit: limit, in: database)
            }.sorted().prefix(limit)
            for row in ids {
                last = row
                if !known.contains(row) { try applier.release(row) }
            }
            reached.cursors[set] = ids.count < limit ? nil : last
            counts.append(applier.counts)
        }
        return counts
    }

    /// Marks the query as loaded: the next download goes on from here.
    func finish(deltaLink: String?, at time: String, in database: Database) throws {
        guard try QueryTable.markLoaded(query, deltaLink: deltaLink, at: time, in: database) else { return }
        for set in [table.set] + relatedSets {
            if let table = mapping.tables[set] { try RowApplier.claimHiddenRows(of: query.id, table, in: database) }
        }
    }
}
