import GRDB
import ODataModel
import ODataSQL
import ODataService

/// Entity sets without a key. Their rows cannot be matched, so that each download replaces the one before.
extension Downloader {
    /// Reads a whole set, and replaces its rows if the result differs.
    func copy(_ query: StoredQuery, _ table: TableStorage) async throws -> DownloadReport.Query {
        var report = DownloadReport.Query(
            name: query.name, method: query.isLoaded ? .refresh : .first, received: 0, inserted: 0, updated: 0,
            removed: 0)
        try await clearStage(query)
        var link: String?
        var followed = FollowedLinks()
        var bounds = bounds(of: query)
        repeat {
            let page = try await fullPage(query, table, link: link)
            try await bounds.addPage(rows: page.entities.count)
            try await stage(page.entities, query)
            report.received += page.entities.count
            progress.report(SyncProgress(phase: .downloading, query: query.name, done: report.received))
            link = page.nextLink
            try followed.follow(link)
        } while link != nil
        let (time, isStrict) = (environment.instant.description, refusesUnreadableValues)
        report.add(
            try await database.write { [mapping] database in
                let copy = KeylessCopy(query: query, table: table, mapping: mapping, isStrict: isStrict)
                let counts = try copy.apply(in: database)
                if try QueryTable.markLoaded(query, deltaLink: nil, at: time, in: database) {
                    try Membership.claimHiddenRows(of: query.id, table, in: database)
                }
                return counts
            })
        try await clearStage(query)
        return report
    }
}

/// The staged entities of a set without a key, which replace its rows.
private struct KeylessCopy {
    let query: StoredQuery
    let table: TableStorage
    let mapping: StorageMapping
    /// Whether an unreadable value refuses its query.
    let isStrict: Bool

    func apply(in database: Database) throws -> RowApplier.Counts {
        var counts = RowApplier.Counts()
        guard let id = table.rowID?.sqlIdentifier else { return counts }
        let name = table.table.sqlIdentifier
        let loader = try BulkLoader(table: table, in: database)
        let rows = try Int64.fetchAll(database, sql: "SELECT \(id) FROM \(name) ORDER BY \(id)")
        let staged = try Int64.fetchAll(
            database, sql: "SELECT id FROM outpost_staged WHERE query_id = ? ORDER BY id", arguments: [query.id])
        guard try !isSame(rows, staged, loader: loader, in: database) else { return counts }
        for row in rows { try loader.delete(row) }
        counts.removed = rows.count
        for number in staged {
            guard let entity = try entity(number, in: database) else { continue }
            _ = try loader.load(isStrict ? entity : loader.storable(entity), owner: query.id)
            counts.inserted += 1
        }
        return counts
    }

    private func isSame(
        _ rows: [Int64], _ staged: [Int64], loader: BulkLoader, in database: Database
    ) throws -> Bool {
        guard rows.count == staged.count else { return false }
        return try zip(rows, staged).allSatisfy { row, number in
            guard let here = try loader.read(row), let there = try entity(number, in: database).map(loader.storable)
            else { return false }
            return here.shape.name == there.shape.name && here.values == there.values
                && here.dynamicProperties == there.dynamicProperties
        }
    }

    private func entity(_ number: Int64, in database: Database) throws -> ODataEntity? {
        let coder = TreeCoder(snapshots: SnapshotCoder(model: mapping.model))
        let statement = try database.cachedStatement(sql: "SELECT content FROM outpost_staged WHERE id = ?")
        return try Row.fetchOne(statement, arguments: [number]).map {
            try coder.decode($0["content"], table: table, mapping: mapping)
        }
    }
}
