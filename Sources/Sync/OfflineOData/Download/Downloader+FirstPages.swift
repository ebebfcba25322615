import GRDB
import ODataFormat
import ODataHTTP
import ODataModel
import ODataSQL
import ODataService

/// The pages of a first download: rows go from the bytes into the table, while the next bytes are received.
extension Downloader {
    /// A page of a first download.
    enum FirstPage {
        /// Entities: of a batch, a singleton, or a format that comes decoded.
        case decoded(EntityPage)
        /// Bytes that have not been received yet.
        case encoded(EncodedCollection)
    }

    /// What writing a page did.
    struct WrittenPage: Sendable {
        var counts: [RowApplier.Counts] = []
        var received = 0
        var nextLink: String?
    }

    /// About how many bytes are read into the table in one transaction: no more than a local edit can wait for.
    private static let bytesAtOnce = 512 << 10

    /// Asks for a page, encoded where the service's format can be read row by row.
    func firstPage(_ query: StoredQuery, _ table: TableStorage, link: String?) async throws -> FirstPage {
        if link == nil || link == query.nextLink, let page = firstPage(of: query) { return .decoded(page) }
        return try await inOrder(query, table, link: link) { request in
            try Task.checkCancellation()
            var request = request
            request.format = ResponseFormat()
            let response = try await remote.execute(request)
            if let collection = EncodedCollection(
                response, to: request, model: mapping.model, type: table.shape.name, strictness: .forgiving)
            {
                return .encoded(collection)
            }
            return .decoded(try page(of: response, to: request))
        }
    }

    /// Writes a page into the table. The link to the next one comes with its last rows: until then, the page is read
    /// again after a crash, which changes nothing.
    ///
    /// - Parameters:
    ///   - link: what led to the page.
    ///   - bounds: how much the read may bring.
    ///   - report: told how many rows were written so far.
    func write(
        _ page: FirstPage, behind link: String?, query: StoredQuery, table: TableStorage,
        bounds: inout ReadBounds, report: (Int) -> Void
    ) async throws -> WrittenPage {
        switch page {
        case .decoded(let page):
            try await bounds.add(page.entities.count)
            return try await write(page, behind: link, query: query, table: table, report: report)
        case .encoded(let collection):
            return try await write(
                collection, behind: link, query: query, table: table, bounds: &bounds, report: report)
        }
    }

    /// What the end of a page says, as far as it is gone by.
    private func pageEnd(
        nextLink: String?, deltaLink: String?, behind link: String?, received: Int, at time: String,
        of query: StoredQuery
    ) -> PageEnd {
        PageEnd(
            nextLink: self.nextLink(nextLink, behind: link, received: received, of: query),
            deltaLink: kept(deltaLink, of: query), time: time)
    }

    private func write(
        _ page: EntityPage, behind link: String?, query: StoredQuery, table: TableStorage, report: (Int) -> Void
    ) async throws -> WrittenPage {
        let end = pageEnd(
            nextLink: page.nextLink, deltaLink: page.deltaLink, behind: link, received: page.entities.count,
            at: environment.instant.description, of: query)
        var written = WrittenPage(received: page.entities.count)
        var start = 0
        repeat {
            let part = Array(page.entities[start...].prefix(Self.rowsAtOnce))
            start += part.count
            let isLast = start == page.entities.count
            let (counts, nextLink) = try await database.bulkWrite { database -> (RowApplier.Counts, String?) in
                var applier = try applier(of: query, table, in: database)
                for entity in part { try applier.apply(entity) }
                guard isLast else { return (applier.counts, nil) }
                return (applier.counts, try end.write(query, table, in: database))
            }
            written.counts.append(counts)
            written.nextLink = nextLink
            report(start)
        } while start < page.entities.count
        return written
    }

    private func write(
        _ collection: EncodedCollection, behind link: String?, query: StoredQuery, table: TableStorage,
        bounds: inout ReadBounds, report: (Int) -> Void
    ) async throws -> WrittenPage {
        var written = WrittenPage()
        // The reader stays where the last part ended; it is worked with on the thread that writes.
        let reading = LockedState(collection)
        var part = try await collection.receive(Self.bytesAtOnce)
        var bytesWithoutRow = 0
        while true {
            let (current, received, time) = (part, written.received, environment.instant.description)
            async let following = current.isLast ? nil : collection.receive(Self.bytesAtOnce)
            let (sink, isLast, nextLink) = try await database.bulkWrite { database in
                try reading.withLock { collection in
                    var sink = RowSink(
                        applier: try applier(of: query, table, in: database))
                    try collection.read(current, into: &sink)
                    let outcome = sink.outcome
                    let end = sink.summary.map { summary in
                        pageEnd(
                            nextLink: summary.nextLink.map { collection.resolved($0, in: summary) },
                            deltaLink: summary.deltaLink.map { collection.resolved($0, in: summary) }, behind: link,
                            received: received + outcome.received, at: time, of: query)
                    }
                    return (outcome, end != nil, try end?.write(query, table, in: database))
                }
            }
            written.counts.append(sink.counts)
            written.received += sink.received
            report(written.received)
            bytesWithoutRow = sink.received > 0 ? 0 : bytesWithoutRow + current.byteCount
            guard bytesWithoutRow <= limits.bytesWithoutRow else {
                throw OfflineError.endless(
                    query: query.name, reason: "\(bytesWithoutRow) bytes of a page came without a row")
            }
            try await bounds.add(sink.received)
            if isLast {
                written.nextLink = nextLink
                return written
            }
            // Whoever sweeps away what did not come must be able to trust that all has come.
            guard let next = try await following else { throw collection.incomplete }
            part = next
        }
    }
}

/// What the end of a page of a first download says.
private struct PageEnd: Sendable {
    var nextLink: String?
    var deltaLink: String?
    var time: String

    /// - Returns: where the download goes on; `nil` where it does not.
    func write(_ query: StoredQuery, _ table: TableStorage, in database: Database) throws -> String? {
        guard let nextLink else {
            if try QueryTable.markLoaded(query, deltaLink: deltaLink, at: time, in: database) {
                try Membership.claimHiddenRows(of: query.id, table, in: database)
            }
            return nil
        }
        let goesOn = try QueryTable.setNextLink(query.keepsLinks ? nextLink : nil, of: query, in: database)
        return goesOn ? nextLink : nil
    }
}

/// Takes the rows of a page into the table.
private struct RowSink: CollectionSink {
    /// What came of them.
    struct Outcome: Sendable {
        var counts: RowApplier.Counts
        var received: Int
    }

    private var applier: RowApplier
    private var received = 0
    private(set) var summary: CollectionSummary?

    init(applier: RowApplier) { self.applier = applier }

    var outcome: Outcome { Outcome(counts: applier.counts, received: received) }

    mutating func row(_ row: borrowing JSONRow) throws {
        received += 1
        try applier.apply(row)
    }

    mutating func endOfRows() throws { try applier.finishRows() }

    mutating func element(_ element: CollectionPayloadReader.Element) throws {
        switch element {
        case .entity(let entity):
            received += 1
            try applier.apply(entity)
        case .finished(let summary): self.summary = summary
        // A first download asks for what is there, and not for changes.
        case .removed, .link, .deletedLink: break
        }
    }
}
