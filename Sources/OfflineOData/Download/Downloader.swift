import GRDB
import ODataModel
import ODataQuery
import ODataService
import ODataStore

/// Brings what the service has into the store, query by query.
struct Downloader: Sendable {
    let database: StoreDatabase
    let mapping: StorageMapping
    let remote: any ODataProvider
    let environment: Environment
    let progress: ProgressChannel
    /// The most rows asked for in one page.
    let pageSize: Int
    /// How many queries are read from the service at once.
    let parallelQueries: Int

    /// Downloads queries: for the first time, or what changed since.
    func download(_ queries: [StoredQuery]) async throws -> DownloadReport {
        let queries = try await probed(queries)
        let uploaded = try await uploadedRows()
        try await database.write { try QueryTable.forgetUpserted(in: $0) }
        let results = try await withThrowingTaskGroup(
            of: (Int, Result<DownloadReport.Query, ODataError>).self
        ) { group in
            var waiting = Array(queries.enumerated().reversed())
            var running = 0
            var results: [(Int, DownloadReport.Query)] = []
            var refusal: ODataError?
            while running > 0 || !waiting.isEmpty {
                while running < max(parallelQueries, 1), let (index, query) = waiting.popLast() {
                    group.addTask {
                        do {
                            return (index, .success(try await download(query)))
                        } catch let error as ODataError where !error.isOfCommunication {
                            return (index, .failure(error))
                        }
                    }
                    running += 1
                }
                switch try await group.next() {
                case (let index, .success(let report))?: results.append((index, report))
                // A query that the service refuses, since it has no such set any more, does not hold up the others.
                case (_, .failure(let error))?: refusal = refusal ?? error
                case nil: break
                }
                running -= 1
            }
            if let refusal { throw refusal }
            return results
        }
        try await releaseUploadedRows(uploaded, unlessQueriesMissing: queries)
        return DownloadReport(queries: results.sorted { $0.0 < $1.0 }.map(\.1))
    }

    private func download(_ query: StoredQuery) async throws -> DownloadReport.Query {
        guard let table = mapping.tables[query.entitySet] else {
            throw OfflineError.invalidDefiningQuery(name: query.name, reason: "its entity set is not in the model")
        }
        if try Self.columnSet(query, table).options.expand.isEmpty == false {
            return try await whole(query, table)
        }
        guard query.isLoaded else { return try await first(query, table) }
        guard let link = query.deltaLink else { return try await refresh(query, table) }
        do {
            return try await delta(query, table, link: link)
        } catch let error as ODataError where Self.endsLinks(error) {
            // The service no longer knows our link (OData Protocol 4.01, 11.3): everything once more.
            return try await refresh(query, table)
        }
    }

    /// Whether an answer to a link that the service gave says that it is of no use any more. The standard has 410;
    /// services whose model changed since also refuse their own link as malformed.
    private static func endsLinks(_ error: ODataError) -> Bool { [400, 404, 410].contains(error.status) }

    // MARK: First download

    /// Page by page into the final table, each in its own transaction with the link to the next, so that
    /// it can be taken up again at the last complete page (rule 14).
    private func first(_ query: StoredQuery, _ table: TableStorage) async throws -> DownloadReport.Query {
        var report = DownloadReport.Query(
            name: query.name, method: .first, received: 0, inserted: 0, updated: 0, removed: 0)
        var link = query.nextLink
        var wasRestarted = false
        let total = try await ServiceSurvey.count(DefiningQuery(query.name, query.text), remote)
        repeat {
            let page: EntityPage
            do {
                page = try await fullPage(query, table, link: link)
            } catch let error as ODataError where link != nil && !wasRestarted && Self.endsLinks(error) {
                // The link to the next page has expired, or is of a service that has changed since.
                wasRestarted = true
                link = nil
                try await database.bulkWrite { database in
                    var applier = try RowApplier(table: table, mapping: mapping, query: query.id, in: database)
                    try applier.startAgain()
                    try QueryTable.setNextLink(nil, of: query.id, in: database)
                }
                page = try await fullPage(query, table, link: nil)
            }
            let next = page.nextLink
            let time = environment.instant.description
            let counts = try await database.bulkWrite { database in
                var applier = try RowApplier(table: table, mapping: mapping, query: query.id, in: database)
                for entity in page.entities { try applier.apply(entity) }
                if next == nil {
                    try QueryTable.markLoaded(
                        query.id, deltaLink: query.keepsLinks ? page.deltaLink : nil, at: time, in: database)
                    try RowApplier.claimHiddenRows(of: query.id, table, in: database)
                } else {
                    try QueryTable.setNextLink(query.keepsLinks ? next : nil, of: query.id, in: database)
                }
                return applier.counts
            }
            report.add(counts, received: page.entities.count)
            progress.report(
                SyncProgress(phase: .downloading, query: query.name, done: report.received, total: total))
            link = next
        } while link != nil
        return report
    }

    // MARK: Delta

    private func delta(
        _ query: StoredQuery, _ table: TableStorage, link: String
    ) async throws -> DownloadReport.Query {
        var page = try await fetch(request(query, table, link: link))
        var report = DownloadReport.Query(
            name: query.name, method: .delta, received: page.entities.count + page.removed.count, inserted: 0,
            updated: 0, removed: 0)
        let isStaged = page.nextLink != nil
        if isStaged {
            // Several pages are staged, so that they are applied in one transaction: a reader sees all or nothing.
            try await clearStage(query)
            while let next = page.nextLink {
                try await stage(page, query, table)
                page = try await fetch(request(query, table, link: next))
                report.received += page.entities.count + page.removed.count
                progress.report(SyncProgress(phase: .downloading, query: query.name, done: report.received))
            }
        }
        let last = page
        let time = environment.instant.description
        let counts = try await database.write { database in
            var applier = try RowApplier(table: table, mapping: mapping, query: query.id, in: database)
            if isStaged {
                try applyStage(query, table, &applier, in: database)
            } else {
                // What an earlier attempt left is out of date: all of it came again, or has gone.
                try Self.clearStage(query, in: database)
            }
            for entity in last.entities { try applier.apply(entity) }
            for removed in last.removed {
                if let key = key(of: removed, table) { try applier.remove(key) }
            }
            try QueryTable.markLoaded(query.id, deltaLink: last.deltaLink ?? link, at: time, in: database)
            return applier.counts
        }
        report.add(counts)
        progress.report(SyncProgress(phase: .applying, query: query.name, done: report.received))
        return report
    }

    // MARK: Refresh

    /// Everything again: staged page by page, then only what differs is written, and rows that did not come
    /// are removed after the service has confirmed by key that they are gone (rule 15).
    private func refresh(_ query: StoredQuery, _ table: TableStorage) async throws -> DownloadReport.Query {
        var report = DownloadReport.Query(
            name: query.name, method: .refresh, received: 0, inserted: 0, updated: 0, removed: 0)
        try await clearStage(query)
        var link: String?
        var deltaLink: String?
        repeat {
            let page = try await fullPage(query, table, link: link)
            try await stage(page, query, table)
            report.received += page.entities.count
            progress.report(SyncProgress(phase: .downloading, query: query.name, done: report.received))
            link = page.nextLink
            deltaLink = page.deltaLink
        } while link != nil
        let missing = try await missingKeys(query, table)
        let present = try await confirmedPresent(missing.map(\.key), query, table)
        let gone = missing.filter { !present.contains($0.key) }
        let time = environment.instant.description
        let newLink = query.keepsLinks ? deltaLink : nil
        let counts = try await database.write { database in
            var applier = try RowApplier(table: table, mapping: mapping, query: query.id, in: database)
            try applyStage(query, table, &applier, in: database)
            for row in gone { try applier.remove(row.key) }
            try QueryTable.markLoaded(query.id, deltaLink: newLink, at: time, in: database)
            return applier.counts
        }
        report.add(counts)
        return report
    }

    struct MissingRow: Sendable {
        let rowID: Int64
        let key: EntityKey
    }

    /// The query's rows that a full read did not bring.
    func missingKeys(_ query: StoredQuery, _ table: TableStorage) async throws -> [MissingRow] {
        try await database.read { database in
            guard let owner = table.visibility?.ownerColumn, let id = table.rowID else { return [] }
            let ids = try Int64.fetchAll(
                database,
                sql: """
                    SELECT id FROM (
                        SELECT \(id.quotedDatabaseIdentifier) AS id FROM \(table.table.quotedDatabaseIdentifier)
                        WHERE \(owner.quotedDatabaseIdentifier) = ?1
                        UNION SELECT row_id FROM outpost_member WHERE entity_set = ?2 AND query_id = ?1
                        UNION SELECT row_id FROM outpost_before
                        WHERE entity_set = ?2 AND owner = ?1 AND entity IS NOT NULL)
                    WHERE id NOT IN (SELECT row_id FROM outpost_seen WHERE query_id = ?1)
                    """, arguments: [query.id, table.set])
            let loader = try BulkLoader(set: table.set, mapping: mapping, in: database)
            let before = BeforeImages(snapshots: SnapshotCoder(model: mapping.model))
            return try ids.compactMap { id in
                // What was deleted here is known by its back-end version alone.
                let key =
                    try loader.read(id)?.key
                    ?? before.image(set: table.set, rowID: id, shape: table.shape, in: database)?.entity?.key
                return key.map { MissingRow(rowID: id, key: $0) }
            }
        }
    }

    /// How many keys are asked for in one request when missing rows are confirmed.
    static let confirmationChunk = 20

    /// Which of the keys the service still has in the query's result.
    func confirmedPresent(
        _ keys: [EntityKey], _ query: StoredQuery, _ table: TableStorage
    ) async throws -> Set<EntityKey> {
        var present: Set<EntityKey> = []
        var start = 0
        while start < keys.count {
            let chunk = keys[start..<min(start + Self.confirmationChunk, keys.count)]
            start += Self.confirmationChunk
            var url = try ODataURL(parsing: query.text)
            let anyOfThem = chunk.map(KeyURL.condition).reduce(nil as Expression?) { all, one in
                all.map { .binary(.or, $0, one) } ?? one
            }
            guard let anyOfThem else { continue }
            url.options.filter = url.options.filter.map { .binary(.and, $0, anyOfThem) } ?? anyOfThem
            url.options.select = table.shape.key.map { SelectItem(.path([Identifier($0.path)])) }
            url.options.orderBy = []
            var link: String?
            repeat {
                let page = try await fetch(
                    link.map { ODataRequest(following: $0) } ?? ODataRequest(.read, url))
                present.formUnion(page.entities.compactMap(\.key))
                link = page.nextLink
            } while link != nil
        }
        return present
    }

    // MARK: Staging

    func clearStage(_ query: StoredQuery) async throws {
        try await database.bulkWrite { try Self.clearStage(query, in: $0) }
    }

    static func clearStage(_ query: StoredQuery, in database: Database) throws {
        try database.execute(sql: "DELETE FROM outpost_staged WHERE query_id = ?", arguments: [query.id])
        try database.execute(sql: "DELETE FROM outpost_seen WHERE query_id = ?", arguments: [query.id])
    }

    private func stage(_ page: EntityPage, _ query: StoredQuery, _ table: TableStorage) async throws {
        let snapshots = SnapshotCoder(model: mapping.model)
        try await database.bulkWrite { database in
            let loader = try BulkLoader(set: table.set, mapping: mapping, in: database)
            let before = BeforeImages(snapshots: snapshots)
            for entity in page.entities {
                try database.execute(
                    sql: "INSERT INTO outpost_staged(query_id, kind, content) VALUES (?, 'entity', ?)",
                    arguments: [query.id, snapshots.encode(entity)])
                if let key = entity.key,
                    let rowID = try loader.find(key)
                        ?? before.rowID(set: table.set, key: key, shape: table.shape, in: database)
                {
                    try database.execute(
                        sql: "INSERT OR IGNORE INTO outpost_seen(query_id, row_id) VALUES (?, ?)",
                        arguments: [query.id, rowID])
                }
            }
            for removed in page.removed {
                guard let key = key(of: removed, table) else { continue }
                try database.execute(
                    sql: "INSERT INTO outpost_staged(query_id, kind, content) VALUES (?, 'removed', ?)",
                    arguments: [query.id, snapshots.encode(Entity(shape: table.shape, key: key))])
            }
        }
    }

    private func applyStage(
        _ query: StoredQuery, _ table: TableStorage, _ applier: inout RowApplier, in database: Database
    ) throws {
        let snapshots = SnapshotCoder(model: mapping.model)
        let rows = try Row.fetchCursor(
            database, sql: "SELECT kind, content FROM outpost_staged WHERE query_id = ? ORDER BY id",
            arguments: [query.id])
        while let row = try rows.next() {
            let entity = try snapshots.decode(row["content"], shape: table.shape)
            if row["kind"] == "entity" {
                try applier.apply(entity)
            } else if let key = entity.key {
                try applier.remove(key)
            }
        }
        try Self.clearStage(query, in: database)
    }

    // MARK: Rows of our own

    private struct RowReference: Hashable, Sendable {
        let set: String
        let rowID: Int64
    }

    private func uploadedRows() async throws -> Set<RowReference> {
        try await database.read { database in
            Set(
                try Row.fetchAll(database, sql: "SELECT entity_set, row_id FROM outpost_uploaded").map {
                    RowReference(set: $0[0], rowID: $0[1])
                })
        }
    }

    /// Rows made here belong to nobody until the first download after their upload: one that no query
    /// brought then is not part of what is kept offline (rule 12).
    private func releaseUploadedRows(
        _ rows: Set<RowReference>, unlessQueriesMissing queries: [StoredQuery]
    ) async throws {
        guard !rows.isEmpty else { return }
        try await database.write { database in
            let downloaded = Set(queries.map(\.id))
            guard try QueryTable.all(in: database).allSatisfy({ downloaded.contains($0.id) }) else { return }
            let queue = QueueTable(model: mapping.model)
            for row in rows {
                guard try !queue.hasRequests(set: row.set, rowID: row.rowID, in: database) else { continue }
                try database.execute(
                    sql: "DELETE FROM outpost_uploaded WHERE entity_set = ? AND row_id = ?",
                    arguments: [row.set, row.rowID])
                guard let table = mapping.tables[row.set],
                    try Rows.owner(table, rowID: row.rowID, in: database) == 0
                else { continue }
                try BulkLoader(set: table.set, mapping: mapping, in: database).delete(row.rowID)
            }
        }
    }

    // MARK: Requests

    /// A page of a full read, which is ordered by key where the service lets it be: rows that come and go
    /// meanwhile then move no others over the border of a page (rule 15).
    func fullPage(_ query: StoredQuery, _ table: TableStorage, link: String?) async throws -> EntityPage {
        let unordered = try request(query, table, link: link)
        let isSortable = table.shape.key.allSatisfy { table.shape.property($0.path)?.isSortable ?? true }
        let isSingleton = mapping.model.singleton(table.set) != nil
        guard link == nil, unordered.url.options.orderBy.isEmpty, isSortable, !isSingleton else {
            return try await fetch(unordered)
        }
        var ordered = unordered
        ordered.url.options.orderBy = table.shape.key.map { key in
            OrderItem(.path(key.path.split(separator: "/").map { .name(Identifier(String($0))) }))
        }
        do {
            return try await fetch(ordered)
        } catch let error as ODataError where Self.refusals.contains(error.status) {
            return try await fetch(unordered)
        }
    }

    /// How services say that they do not order.
    private static let refusals: Set = [400, 405, 501]

    private func request(_ query: StoredQuery, _ table: TableStorage, link: String?) throws -> ODataRequest {
        let preferences = Preferences(maxPageSize: pageSize, trackChanges: true)
        if let link { return ODataRequest(following: link, preferences: preferences) }
        return ODataRequest(.read, try Self.columnSet(query, table), preferences: preferences)
    }

    /// The query with everything in its `$select` that the engine needs besides: keys and foreign keys
    /// (rule 12).
    static func columnSet(_ query: StoredQuery, _ table: TableStorage) throws -> ODataURL {
        var url = try ODataURL(parsing: query.text)
        url.options.expand.removeAll { item in item.path.first.map { query.splits.contains($0.text) } ?? false }
        guard !url.options.select.isEmpty else { return url }
        var needed = table.shape.key.map(\.path)
        for navigation in table.shape.navigationProperties { needed += navigation.constraints.map(\.property) }
        for name in needed {
            let item = SelectItem(.path(name.split(separator: "/").map { Identifier(String($0)) }))
            if !url.options.select.contains(item) { url.options.select.append(item) }
        }
        return url
    }

    func fetch(_ request: ODataRequest) async throws -> EntityPage {
        try Task.checkCancellation()
        let response = try await remote.execute(request)
        // A singleton is a collection of one.
        if case .entity(let entity) = response.body { return EntityPage(entities: [entity]) }
        guard case .page(let page) = response.body else {
            throw ODataError(
                status: 502, code: "UnexpectedAnswer", message: "The service answered a query without a collection.")
        }
        guard page.nextLink == nil || page.nextLink != request.link else {
            // Followed, it would never end.
            throw ODataError(
                status: 502, code: "UnexpectedAnswer", message: "The link to the next page leads to the same page.")
        }
        return page
    }

    private func key(of removed: RemovedEntity, _ table: TableStorage) -> EntityKey? {
        removed.key ?? KeyURL.key(inID: removed.id, shape: table.shape, model: mapping.model)
    }
}

extension DownloadReport.Query {
    mutating func add(_ counts: RowApplier.Counts, received rows: Int = 0) {
        received += rows
        inserted += counts.inserted
        updated += counts.updated
        removed += counts.removed
    }
}
