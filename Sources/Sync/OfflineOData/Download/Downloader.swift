import GRDB
import ODataHTTP
import ODataModel
import ODataQuery
import ODataSQL
import ODataService

/// Downloads the defining queries of a store.
struct Downloader: Sendable {
    let database: StoreDatabase
    let mapping: StorageMapping
    let remote: any ODataProvider
    let environment: EngineEnvironment
    let progress: ProgressChannel
    /// The most rows requested in one page.
    let pageSize: Int
    /// The number of queries that are read at once.
    let parallelQueries: Int
    /// The capabilities that the app states for the service.
    var service = StatedCapabilities()
    /// The limits of a download.
    var limits = DownloadLimits()
    /// The values of the `Accept` header field.
    var formats = Formats()
    /// Whether an unreadable value refuses its query, instead of that value alone.
    var refusesUnreadableValues = false
    /// The first pages of queries that arrived in one batch, by query; `nil` if each query requests its own.
    var firstPages: LockedState<[Int64: EntityPage]>?
    /// The relations that single queries have not brought and others still may.
    let doubts = RelationDoubts()

    /// The `Accept` values for a full read and for a delta; `nil` for the client's default.
    struct Formats: Sendable {
        var full: String?
        var delta: String?

        /// The `Accept` value for a delta before V4: many services report new and changed entities in JSON, and
        /// leave out removed ones.
        static let olderDelta = "application/atom+xml,application/json;q=0.5"
    }

    /// The result of downloading several queries.
    struct Outcome: Sendable {
        /// The results of the queries that the service answered.
        var report: DownloadReport
        /// The errors of the refused queries.
        var refusals: [Int64: ODataError]
    }

    /// Downloads queries: a first download, a delta or a refresh. A query does not hold up the others if the
    /// service refuses it, has lost its set, or sends a response that cannot be read or stored.
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
        // If no response could be read at all, the fault is in the service or on the way to it, and not in a
        // query.
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
            // The service does not accept the delta link any more (OData Protocol 4.01, 11.3), or answers it with
            // something other than changes of the query: a full read follows.
            return try await refresh(query, table)
        }
    }

    /// Whether an answer to a link of the service means that the link has expired. The standard has status 410;
    /// services with a changed model also refuse their own link as malformed.
    private static func endsLinks(_ error: any Error) -> Bool {
        switch error {
        case let error as ODataError: !error.isOfCommunication && ![401, 403].contains(error.status)
        case let error as InvalidResponseError: error.isFromService
        case is StoredValueError, is EntityError: true
        default: false
        }
    }

    // MARK: First download

    /// Each page is written into the final table in its own transaction, with the link to the next page, so that
    /// the download resumes after the last complete page.
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
                // The link to the next page has expired, or the service has changed since.
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

    /// Releases the rows of a first download that begins again, since its link was removed, has expired, or never
    /// was stored.
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
        // Several pages are staged, to be applied as one.
        var followed = FollowedLinks()
        try followed.follow(link)
        var bounds = bounds(of: query, removedFrom: table)
        while true {
            do {
                try await bounds.addPage(rows: page.entities.count + removed.count)
            } catch OfflineError.endless {
                // So many changes save nothing compared with a full read, which has a known size.
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

    /// The keys of removed entities.
    ///
    /// - Returns: `nil` if the service identifies an entity by an id without a key. Only a comparison finds such
    ///   a row.
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

    /// Downloads a query again as a whole. Each page is compared with the local rows, and only differences are
    /// staged and written. Missing rows are removed after the service has confirmed by key that they are gone.
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

    /// The limits of a read of a query. The service is asked for a count once there are many rows.
    ///
    /// - Parameter table: the table from which the read removes rows, which count as read, too.
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

    /// Removes the mark *uploaded* from rows, after downloads have brought their server versions: from a held row
    /// once each of its queries was downloaded, from any other row once all queries of its set were.
    ///
    /// Locally created rows have no owner until the first download after their upload. A row that no query
    /// brought then does not belong to the offline data. A resumed first download may have read the page of a row
    /// before the row was uploaded.
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

    /// Whether queries hold a row, and all of them are among the given ones.
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

    /// Requests a page of a full read, ordered by key if the service allows it: concurrent insertions and
    /// removals then do not move other rows across a page border.
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

    /// Requests a page of a full read, ordered by key; see ``fullPage(_:_:link:)``.
    func inOrder<Answer>(
        _ query: StoredQuery, _ table: TableStorage, link: String?, fetch: (ODataRequest) async throws -> Answer
    ) async throws -> Answer {
        let unordered = try request(query, table, link: link)
        let ordered = ordered(unordered, table)
        let isOrdered = !ordered.url.options.orderBy.isEmpty && unordered.url.options.orderBy.isEmpty
        return try await asking(unordered, ordered: isOrdered ? ordered : nil, of: table.set, fetch)
    }

    /// A request for a page of a whole query, ordered by key unless it has an order of its own. The links of a
    /// service keep its order.
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

    /// The statuses with which services refuse a query.
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
            // The delta of a singleton is a collection, which its URL does not show.
            request = ODataRequest(following: link, preferences: preferences)
        } else {
            request = ODataRequest(.read, try columnSet(query, table), preferences: preferences)
            // Bodies before V4 do not name their entity set, and links may lie outside of the service root: the
            // URL of the query decides.
            request.link = link
        }
        let changes = formats.delta ?? (mapping.model.version < .v4 ? Formats.olderDelta : nil)
        if let format = isDelta ? changes : formats.full { request.headers["Accept"] = format }
        return request
    }

    /// The query with all properties in its `$select` that the engine needs besides: keys and foreign keys.
    static func columnSet(
        _ query: StoredQuery, _ table: TableStorage, mapping: StorageMapping
    ) throws -> ODataURL {
        var url = try ODataURL(parsing: query.text)
        url.options.expand.removeAll { item in item.relation.map { query.splits.contains($0) } ?? false }
        select(in: &url.options, table, mapping)
        return url
    }

    /// Adds the needed properties to each `$select`, at any depth.
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

    /// Requests the first pages of several queries in one batch. A query without an answer there requests its
    /// page itself.
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
            // The service has no batches, or refuses this one.
            return
        } catch is InvalidResponseError {
            return
        } catch TransportError.foreignLink, TransportError.insecureLink {
            // The query with the link reports the error itself.
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

    /// The first page of a query, if it arrived in a batch. It is returned once.
    func firstPage(of query: StoredQuery) -> EntityPage? {
        firstPages?.withLock { $0.removeValue(forKey: query.id) }
    }

    func fetch(_ request: ODataRequest) async throws -> EntityPage {
        try Task.checkCancellation()
        return try page(of: try await remote.execute(request), to: request)
    }

    /// The decoded collection in a response.
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
