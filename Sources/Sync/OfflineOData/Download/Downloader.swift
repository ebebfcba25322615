import GRDB
import ODataHTTP
import ODataModel
import ODataQuery
import ODataSQL
import ODataService

/// Brings what the service has into the store, query by query.
struct Downloader: Sendable {
    let database: StoreDatabase
    let mapping: StorageMapping
    let remote: any ODataProvider
    let environment: EngineEnvironment
    let progress: ProgressChannel
    /// The most rows asked for in one page.
    let pageSize: Int
    /// How many queries are read from the service at once.
    let parallelQueries: Int
    /// What the app states of the service.
    var service = StatedCapabilities()
    /// How much is taken at most.
    var limits = DownloadLimits()
    /// What is asked for in `Accept`.
    var formats = Formats()
    /// Whether a value that cannot be read refuses its query, instead of costing that value alone.
    var refusesUnreadableValues = false
    /// The first pages of queries that came in one batch, by query; `nil` where each query asks for its own.
    var firstPages: LockedState<[Int64: EntityPage]>?
    /// What single queries have not brought of relations that others may bring.
    let doubts = RelationDoubts()

    /// What is asked for in `Accept`, for all of a query and for what changed; `nil` for what the client asks for.
    struct Formats: Sendable {
        var full: String?
        var delta: String?

        /// What services before V4 are asked for: in JSON, many of them tell of what is new and changed, and leave out
        /// what is gone.
        static let olderDelta = "application/atom+xml,application/json;q=0.5"
    }

    /// What came of downloading queries.
    struct Outcome: Sendable {
        /// What those brought that the service answered.
        var report: DownloadReport
        /// What it said to the others, by query.
        var refusals: [Int64: ODataError]
    }

    /// Downloads queries: for the first time, or what changed since. One that the service refuses, since it has no such set
    /// any more, or answers with what cannot be read or kept, does not hold up the others.
    func download(_ queries: [StoredQuery]) async throws -> Outcome {
        let queries = try await probed(queries)
        let uploaded = try await uploadedRows()
        try await fetchFirstPages(queries)
        try await StreamTable(database: database).noteLeftOver(mapping)
        try await database.write { database in
            try QueryTable.forgetUpserted(in: database)
            try StreamTable.forgetNoted(in: database)
        }
        let (results, failures) = try await withThrowingTaskGroup(
            of: (Int, Result<DownloadReport.Query, QueryFailure>).self
        ) { group in
            var waiting = Array(queries.enumerated().reversed())
            var running = 0
            var results: [(Int, DownloadReport.Query)] = []
            var failures: [(Int, QueryFailure)] = []
            while running > 0 || !waiting.isEmpty {
                while running < max(parallelQueries, 1), let (index, query) = waiting.popLast() {
                    group.addTask {
                        do {
                            return (index, .success(try await download(query)))
                        } catch {
                            guard let failure = QueryFailure(error) else { throw error }
                            return (index, .failure(failure))
                        }
                    }
                    running += 1
                }
                switch try await group.next() {
                case (let index, .success(let report))?: results.append((index, report))
                case (let index, .failure(let failure))?: failures.append((index, failure))
                case nil: break
                }
                running -= 1
            }
            return (results, failures)
        }
        // Where no answer could be read, it is the service or what is before it, and no query.
        if results.isEmpty, failures.allSatisfy({ !$0.1.isOfService }), let first = failures.min(by: { $0.0 < $1.0 }) {
            throw first.1.error
        }
        let refusals = Dictionary(uniqueKeysWithValues: failures.map { (queries[$0.0].id, $0.1.refusal) })
        try await releaseUploadedRows(uploaded, downloaded: results.map { queries[$0.0] })
        let loaded = try await database.read { Set(try QueryTable.all(in: $0).filter(\.isLoaded).map(\.id)) }
        let reports = results.sorted { $0.0 < $1.0 }.map { index, report in
            var report = report
            report.isComplete = loaded.contains(queries[index].id)
            return report
        }
        return Outcome(report: DownloadReport(queries: reports), refusals: refusals)
    }

    private func download(_ query: StoredQuery) async throws -> DownloadReport.Query {
        guard let table = mapping.tables[query.entitySet] else {
            throw OfflineError.invalidDefiningQuery(name: query.name, reason: "its entity set is not in the model")
        }
        progress.step(.processingDefiningQueries, [query.name, query.keepsLinks ? query.text : query.name])
        progress.report(SyncProgress(phase: .downloading, query: query.name))
        if mapping.model.entitySet(table.set)?.hasKey(in: mapping.model) == false {
            return try await copy(query, table)
        }
        if try columnSet(query, table).options.expand.isEmpty == false {
            return try await whole(query, table)
        }
        guard query.isLoaded else { return try await first(query, table) }
        guard let link = deltaLink(of: query) else { return try await refresh(query, table) }
        do {
            return try await delta(query, table, link: link)
        } catch let error where Self.endsLinks(error) {
            // The service no longer knows our link (OData Protocol 4.01, 11.3), or answers it with what cannot be changes of
            // the query: everything once more.
            return try await refresh(query, table)
        }
    }

    /// Whether an answer to a link that the service gave says that it is of no use any more. The standard has 410;
    /// services whose model changed since also refuse their own link as malformed.
    private static func endsLinks(_ error: any Error) -> Bool {
        switch error {
        case let error as ODataError: !error.isOfCommunication && ![401, 403].contains(error.status)
        case let error as InvalidResponseError: error.isFromService
        case is StoredValueError, is EntityError: true
        default: false
        }
    }

    // MARK: First download

    /// Page by page into the final table, each in its own transaction with the link to the next, so that
    /// it can be taken up again at the last complete page.
    private func first(_ query: StoredQuery, _ table: TableStorage) async throws -> DownloadReport.Query {
        var report = DownloadReport.Query(
            name: query.name, method: .first, received: 0, inserted: 0, updated: 0, removed: 0)
        var link = query.nextLink
        var wasRestarted = false
        var followed = FollowedLinks()
        let total =
            try await service.supportsCount
            ? ServiceSurvey.count(DefiningQuery(query.name, query.text), remote) : nil
        if link == nil { try await startAgain(query, table) }
        var bounds = ReadBounds(of: query.name, limits) { total }
        repeat {
            let page: FirstPage
            do {
                page = try await firstPage(query, table, link: link)
            } catch let error as ODataError
                where link != nil && !wasRestarted && [400, 404, 410].contains(error.status)
            {
                // The link to the next page has expired, or is of a service that has changed since.
                wasRestarted = true
                link = nil
                followed = FollowedLinks()
                _ = try await database.bulkWrite { try QueryTable.setNextLink(nil, of: query, in: $0) }
                try await startAgain(query, table)
                page = try await firstPage(query, table, link: nil)
            }
            let done = report.received
            let written = try await write(page, behind: link, query: query, table: table, bounds: &bounds) { received in
                progress.report(
                    SyncProgress(phase: .downloading, query: query.name, done: done + received, total: total))
            }
            report.add(written.counts)
            report.received += written.received
            link = written.nextLink
            try bounds.endPage(rows: written.received)
            try followed.follow(link)
        } while link != nil
        return report
    }

    /// Lets go of what a first download has brought that begins at its first page again, since its link was forgotten, has
    /// expired, or never was kept.
    private func startAgain(_ query: StoredQuery, _ table: TableStorage) async throws {
        try await database.write { try UnreadableValues.forgetRows(of: query.id, in: $0) }
        let rows = HeldRows(query: query.id, table: table, mapping: mapping)
        var last = Int64.min
        while true {
            let after = last
            let ids = try await database.read { try rows.ids(after: after, limit: Self.rowsAtOnce / 2, in: $0) }
            guard let end = ids.last else { break }
            last = end
            try await database.bulkWrite { database in
                var applier = try applier(of: query, table, in: database)
                try applier.startAgain(without: ids)
            }
        }
    }

    // MARK: Delta

    private func delta(
        _ query: StoredQuery, _ table: TableStorage, link: String
    ) async throws -> DownloadReport.Query {
        var page: EntityPage
        if let first = firstPage(of: query) {
            page = first
        } else {
            page = try await asking(request(query, table, link: link, isDelta: true), of: table.set, fetch)
        }
        guard var removed = keys(of: page.removed, table) else { return try await refresh(query, table) }
        var report = DownloadReport.Query(
            name: query.name, method: .delta, received: page.entities.count + removed.count, inserted: 0, updated: 0,
            removed: 0)
        progress.report(SyncProgress(phase: .downloading, query: query.name, done: report.received))
        try await clearStage(query)
        guard page.nextLink != nil || report.received > Self.rowsAtOnce else {
            let (last, gone, time) = (page, removed, environment.instant.description)
            let changes = report.received
            progress.report(SyncProgress(phase: .applying, query: query.name, total: changes))
            report.add(
                try await database.write { database in
                    var applier = try applier(of: query, table, in: database)
                    for entity in last.entities { try applier.apply(entity) }
                    for key in gone { try applier.remove(key) }
                    try QueryTable.markLoaded(
                        query, deltaLink: kept(last.deltaLink ?? link, of: query), at: time, in: database)
                    return applier.counts
                })
            progress.step(.removingDeletedRelationships)
            progress.report(SyncProgress(phase: .applying, query: query.name, done: changes, total: changes))
            return report
        }
        // Several pages are staged, so that they are applied as one.
        var followed = FollowedLinks()
        try followed.follow(link)
        var bounds = bounds(of: query, removedFrom: table)
        while true {
            do {
                try await bounds.addPage(rows: page.entities.count + removed.count)
            } catch OfflineError.endless {
                // So many changes are no saving, and all of it has a number.
                return try await refresh(query, table)
            }
            try followed.follow(page.nextLink)
            try await stage(page.entities, query)
            try await stage(removed: removed, query, table)
            guard let next = page.nextLink else { break }
            page = try await asking(request(query, table, link: next, isDelta: true), of: table.set, fetch)
            guard let more = keys(of: page.removed, table) else { return try await refresh(query, table) }
            removed = more
            report.received += page.entities.count + removed.count
            progress.report(SyncProgress(phase: .downloading, query: query.name, done: report.received))
        }
        report.add(try await applyStage(query, table, deltaLink: kept(page.deltaLink ?? link, of: query)))
        return report
    }

    /// The keys of what is gone.
    ///
    /// - Returns: `nil` where the service names something by an id that says no key: then a comparison alone finds it.
    private func keys(of removed: [RemovedEntity], _ table: TableStorage) -> [EntityKey]? {
        var keys: [EntityKey] = []
        for entity in removed {
            guard
                let key = entity.key ?? KeyURL.key(inID: entity.id, shape: table.shape, model: mapping.model)
            else { return nil }
            keys.append(key)
        }
        return keys
    }

    // MARK: Refresh

    /// Everything again: each page is compared with what is here, and only what differs is staged and written; rows that
    /// did not come are removed after the service has confirmed by key that they are gone.
    private func refresh(_ query: StoredQuery, _ table: TableStorage) async throws -> DownloadReport.Query {
        var report = DownloadReport.Query(
            name: query.name, method: .refresh, received: 0, inserted: 0, updated: 0, removed: 0)
        try await clearStage(query)
        try await database.write { try UnreadableValues.forgetRows(of: query.id, in: $0) }
        var seen = RowSet()
        var link: String?
        var followed = FollowedLinks()
        var bounds = bounds(of: query)
        var deltaLink: String?
        repeat {
            let page = try await fullPage(query, table, link: link)
            try await bounds.addPage(rows: page.entities.count)
            let compared = try await compare(page.entities, query, table: table)
            for row in compared.seen { seen.insert(row) }
            try await stage(compared.differing, query)
            report.received += page.entities.count
            progress.report(SyncProgress(phase: .downloading, query: query.name, done: report.received))
            link = page.nextLink
            try followed.follow(link)
            deltaLink = page.deltaLink
        } while link != nil
        try await report.add(releaseMissing(query, table, seen: seen, received: report.received))
        report.add(try await applyStage(query, table, deltaLink: kept(deltaLink, of: query)))
        return report
    }

    /// How much a read of a query may bring, whose rows the service is asked to count once there are many.
    ///
    /// - Parameter table: the table from which the read removes rows, each of which is in the read, too.
    func bounds(of query: StoredQuery, removedFrom table: TableStorage? = nil) -> ReadBounds {
        ReadBounds(of: query.name, limits) { [service, remote, database] in
            guard service.supportsCount,
                let count = try await ServiceSurvey.count(DefiningQuery(query.name, query.text), remote)
            else { return nil }
            guard let table else { return count }
            let kept = try await database.read { database in
                try Int.fetchOne(
                    database, sql: "SELECT COUNT(*) FROM \(table.table.sqlIdentifier)") ?? 0
            }
            return count + kept
        }
    }

    /// Applies entities to the rows of a query.
    func applier(of query: StoredQuery, _ table: TableStorage, in database: Database) throws -> RowApplier {
        try RowApplier(
            table: table, mapping: mapping, query: query.id, isStrict: refusesUnreadableValues, in: database)
    }

    // MARK: Rows of our own

    private func uploadedRows() async throws -> Set<RowReference> {
        try await database.read { database in
            Set(
                try Row.fetchAll(database, sql: "SELECT entity_set, row_id FROM outpost_uploaded").map {
                    RowReference(set: $0[0], rowID: $0[1])
                })
        }
    }

    /// Ends that rows are known as uploaded, now that downloads have brought back what became of them: those that queries
    /// hold once each of these was downloaded, and the others once all were that bring rows of their set.
    ///
    /// Rows made here belong to nobody until the first download after their upload: one that no query
    /// brought then is not part of what is kept offline. A first download that was taken up again may have read,
    /// before they were uploaded, the pages where they are now.
    private func releaseUploadedRows(_ rows: Set<RowReference>, downloaded: [StoredQuery]) async throws {
        guard !rows.isEmpty else { return }
        try await database.write { database in
            let fromStart = downloaded.filter { $0.isLoaded || $0.nextLink == nil }
            let current = try Set(fromStart.filter { try QueryTable.isCurrent($0, in: database) }.map(\.id))
            let missing = try QueryTable.all(in: database).filter { !current.contains($0.id) }
            let incomplete = Set(missing.flatMap { $0.sets(in: mapping) })
            var changed: [String: Set<Int64>] = [:]
            for row in rows {
                let table = mapping.tables[row.set]
                let owner = try table.flatMap { try Rows.owner($0, rowID: row.rowID, in: database) }
                guard
                    try !incomplete.contains(row.set) || isHeld(row, owner: owner, byNoneBut: current, in: database)
                else { continue }
                if changed[row.set] == nil {
                    changed[row.set] = try table.map {
                        try Containment(mapping: mapping).changedRows(of: $0, in: database)
                    }
                }
                if changed[row.set]?.contains(row.rowID) == true { continue }
                try database.execute(
                    sql: "DELETE FROM outpost_uploaded WHERE entity_set = ? AND row_id = ?",
                    arguments: [row.set, row.rowID])
                guard let table, owner == 0 else { continue }
                try BulkLoader(set: table.set, mapping: mapping, in: database).delete(row.rowID)
            }
        }
    }

    /// Whether queries hold a row, and all of them are among some.
    private func isHeld(
        _ row: RowReference, owner: Int64?, byNoneBut queries: Set<Int64>, in database: Database
    ) throws -> Bool {
        guard let owner, queries.contains(owner) else { return false }
        return try Int64.fetchAll(
            database, sql: "SELECT query_id FROM outpost_member WHERE entity_set = ? AND row_id = ?",
            arguments: [row.set, row.rowID]
        ).allSatisfy(queries.contains)
    }

    // MARK: Requests

    /// A page of a full read, which is ordered by key where the service lets it be: rows that come and go
    /// meanwhile then move no others over the border of a page.
    func fullPage(_ query: StoredQuery, _ table: TableStorage, link: String?) async throws -> EntityPage {
        var page: EntityPage
        if link == nil || link == query.nextLink, let first = firstPage(of: query) {
            page = first
        } else {
            page = try await inOrder(query, table, link: link, fetch: fetch)
        }
        page.nextLink = nextLink(page.nextLink, behind: link, received: page.entities.count, of: query)
        return page
    }

    /// Asks for a page of a full read, ordered by key; see ``fullPage(_:_:link:)``.
    func inOrder<Answer>(
        _ query: StoredQuery, _ table: TableStorage, link: String?, fetch: (ODataRequest) async throws -> Answer
    ) async throws -> Answer {
        let unordered = try request(query, table, link: link)
        let ordered = ordered(unordered, table)
        let isOrdered = !ordered.url.options.orderBy.isEmpty && unordered.url.options.orderBy.isEmpty
        return try await asking(unordered, ordered: isOrdered ? ordered : nil, of: table.set, fetch)
    }

    /// A request for a page of all of a query, ordered by key where it is not ordered otherwise; the links of a service keep
    /// its order.
    private func ordered(_ request: ODataRequest, _ table: TableStorage) -> ODataRequest {
        let isSortable = table.shape.key.allSatisfy { table.shape.property($0.path)?.isSortable ?? true }
        let isSingleton = mapping.model.singleton(table.set) != nil
        guard request.link == nil, request.url.options.orderBy.isEmpty, isSortable, !isSingleton,
            service.supportsOrderBy
        else { return request }
        var ordered = request
        ordered.url.options.orderBy = table.shape.key.map { key in
            OrderItem(.path(key.path.split(separator: "/").map { .name(Identifier(String($0))) }))
        }
        return ordered
    }

    /// How services say that they do not answer a query.
    static let refusals: Set = [400, 405, 501]

    private func request(
        _ query: StoredQuery, _ table: TableStorage, link: String?, isDelta: Bool = false
    ) throws -> ODataRequest {
        let preferences = Preferences(maxPageSize: pageSize(of: table.set), trackChanges: tracksChanges)
        var request: ODataRequest
        if countsRows(of: query) {
            request = ODataRequest(.read, try columnSet(query, table), preferences: preferences)
            limit(&request.url.options, of: table.set, behind: link)
        } else if let link, mapping.model.singleton(table.set) != nil {
            // What changed of a singleton is a collection, which its URL would not tell.
            request = ODataRequest(following: link, preferences: preferences)
        } else {
            request = ODataRequest(.read, try columnSet(query, table), preferences: preferences)
            // Bodies before V4 do not say what they are, and links need not be below the service root: the URL tells.
            request.link = link
        }
        let changes = formats.delta ?? (mapping.model.version < .v4 ? Formats.olderDelta : nil)
        if let format = isDelta ? changes : formats.full { request.headers["Accept"] = format }
        return request
    }

    /// The query with everything in its `$select` that the engine needs besides: keys and foreign keys.
    static func columnSet(
        _ query: StoredQuery, _ table: TableStorage, mapping: StorageMapping
    ) throws -> ODataURL {
        var url = try ODataURL(parsing: query.text)
        url.options.expand.removeAll { item in item.relation.map { query.splits.contains($0) } ?? false }
        select(in: &url.options, table, mapping)
        return url
    }

    /// Adds what is needed to each `$select`, at whatever depth.
    private static func select(in options: inout QueryOptions, _ table: TableStorage, _ mapping: StorageMapping) {
        if !options.select.isEmpty {
            var needed = table.shape.key.map(\.path)
            for navigation in table.shape.navigationProperties {
                needed += navigation.constraints.map(\.property)
            }
            for name in needed {
                let item = SelectItem(.path(name.split(separator: "/").map { Identifier(String($0)) }))
                if !options.select.contains(item) { options.select.append(item) }
            }
        }
        for index in options.expand.indices {
            guard let name = options.expand[index].relation, let target = table.navigation[name]?.target,
                let other = mapping.tables[target]
            else { continue }
            select(in: &options.expand[index].options, other, mapping)
        }
    }

    func columnSet(_ query: StoredQuery, _ table: TableStorage) throws -> ODataURL {
        try Self.columnSet(query, table, mapping: mapping)
    }

    /// Asks for the first pages of several queries in one batch. What is not answered there is asked for again by each
    /// query itself.
    private func fetchFirstPages(_ queries: [StoredQuery]) async throws {
        guard let firstPages, queries.count > 1 else { return }
        let items = try queries.compactMap { query -> BatchItem? in
            guard let table = mapping.tables[query.entitySet] else { return nil }
            let isWhole = try !columnSet(query, table).options.expand.isEmpty
            let changes = query.isLoaded && !isWhole ? deltaLink(of: query) : nil
            let link = query.isLoaded || isWhole ? changes : query.nextLink
            return BatchItem(
                id: String(query.id),
                request: ordered(try request(query, table, link: link, isDelta: changes != nil), table))
        }
        let response: ODataResponse
        do {
            response = try await remote.execute(
                ODataRequest(.create, ODataURL(path: ResourcePath([.batch])), body: .batch(items)))
        } catch let error as ODataError where !error.isOfCommunication {
            // The service has no batches, or does not take this one.
            return
        } catch is InvalidResponseError {
            return
        } catch TransportError.foreignLink, TransportError.insecureLink {
            // The query whose link it is says so.
            return
        }
        guard case .batch(let results) = response.body else { return }
        var pages: [Int64: EntityPage] = [:]
        for (item, result) in zip(items, results) {
            guard let id = Int64(item.id), case .success(let answer) = result.result, case .page(let page) = answer.body
            else { continue }
            pages[id] = page
        }
        let known = pages
        firstPages.withLock { $0 = known }
    }

    /// The first page of a query, where it came in a batch; given once.
    func firstPage(of query: StoredQuery) -> EntityPage? {
        firstPages?.withLock { $0.removeValue(forKey: query.id) }
    }

    func fetch(_ request: ODataRequest) async throws -> EntityPage {
        try Task.checkCancellation()
        return try page(of: try await remote.execute(request), to: request)
    }

    /// The decoded collection that a service answered with.
    func page(of response: ODataResponse, to request: ODataRequest) throws -> EntityPage {
        switch response.body {
        case .page(let page): return page
        // A singleton that is null has no content (OData Protocol 4.01, 11.2.3).
        case .none where response.status == 204 && isSingleton(request.url): return EntityPage()
        // A singleton is a collection of one.
        case .entity(let entity): return EntityPage(entities: [entity])
        default:
            throw ODataError(
                status: 502, code: "UnexpectedAnswer", message: "The service answered a query without a collection.")
        }
    }

    private func isSingleton(_ url: ODataURL) -> Bool {
        guard url.path.segments.count == 1, case .name(let name, .none)? = url.path.segments.first else { return false }
        return mapping.model.singleton(name.text) != nil
    }
}

extension DownloadReport.Query {
    mutating func add(_ all: [RowApplier.Counts]) { for counts in all { add(counts) } }

    mutating func add(_ counts: RowApplier.Counts) {
        inserted += counts.inserted
        updated += counts.updated
        removed += counts.removed
    }
}
