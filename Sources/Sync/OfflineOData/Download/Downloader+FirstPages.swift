import GRDB
import ODataFormat
import ODataHTTP
import ODataModel
import ODataSQL
import ODataService

/// The pages of a first download: rows are decoded into the table while the next bytes are received.
extension Downloader {
    /// A page of a first download.
    enum FirstPage {
        /// Entities: of a batch, a singleton, or a format that is decoded as a whole.
        case decoded(EntityPage)
        /// Bytes that have not been received yet.
        case encoded(EncodedCollection)
    }

    /// The result of writing a page.
    struct WrittenPage: Sendable {
        var counts: [RowApplier.Counts] = []
        var received = 0
        var nextLink: String?
    }

    /// The approximate number of bytes that one transaction writes into the table: no more than a local edit can
    /// wait for.
    private static let bytesAtOnce = 512 << 10

    /// Requests a page, in encoded form if the service's format can be read row by row.
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

    /// Writes a page into the table. The link to the next page is stored with the last rows. Until then, the page
    /// is read again after a crash, which changes nothing.
    ///
    /// - Parameters:
    ///   - link: the link that led to the page.
    ///   - bounds: the limits of the read.
    ///   - report: is called with the number of rows written so far.
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

    /// Returns the information at the end of a page, as far as it was received.
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
        // The reader keeps its position between the parts. It is used on the thread that writes.
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
            // A sweep of missing rows is only safe if every row has arrived.
            guard let next = try await following else { throw collection.incomplete }
            part = next
        }
    }
}

/// The information at the end of a page of a first download.
private struct PageEnd: Sendable {
    var nextLink: String?
    var deltaLink: String?
    var time: String

    /// - Returns: the link at which the download continues; `nil` at its end.
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

/// Writes the rows of a page into the table.
private struct RowSink: CollectionSink {
    /// The result for the rows.
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
        // A first download requests the current entities, and not changes.
        case .removed, .link, .deletedLink: break
        }
    }
}
