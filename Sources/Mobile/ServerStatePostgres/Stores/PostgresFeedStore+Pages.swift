import PostgresClient
import ServerState

/// Pages, digests and parts of feeds.
extension PostgresFeedStore {
    func page(_ request: FeedPageRequest) async throws(ServerStateError) -> FeedPage? {
        let partition = try await partition(of: request.feed)
        let limit = min(max(request.limit, 1), FeedPageRequest.rowLimit)
        let end = if case .revoked = request.kind { ChangeNumber.max } else { request.to }
        // One statement is one snapshot: floor, head, tags and rows belong together (`design-review.md` 5). The inner
        // query reads one row more than the page has, and the sizes end the page at four megabytes.
        let rows = try await state.rows(
            """
            select \(Self.columns), $6::bigint is null or exists (
              select 1 from feed_head h where h.feed = f.id and h.head = $6 and h.tag = $7) as is_known,
            r.key, r.seq, r.removal, r.is_removed, r.is_hidden, r.found, \(Self.body(request.kind)) as body
            from feed f left join lateral (
              select m.*, m.removed_at is not null as is_removed, \(Self.hidden(request.kind, partition)) as is_hidden,
              count(*) over () as found, row_number() over (order by m.seq) as number,
              (sum(m.size) over (order by m.seq))::bigint as total
              from (select key, seq, size, body, removal, removed_at from \(partition)
                where feed = $1 and part = $2 and seq > $3 and seq <= $4\(Self.condition(request.kind))
                order by seq limit $5 + 1) m) r on r.number <= $5
            and (r.number = 1 or r.total <= \(FeedPageRequest.byteLimit))
            where f.id = $1 order by r.seq
            """, .integer(request.feed), .bytes(request.part), .integer(request.after), .integer(end), .number(limit),
            .integerOrNull(request.witness?.head), request.witness.map { .bits($0.tag) } ?? .null,
            .byteLists(Self.otherParts(request)), .integer(Self.removedAfter(request.kind)))
        do {
            return try page(rows, request)
        } catch {
            throw PostgresServerState.translated(error)
        }
    }

    private func page(_ rows: PostgresRows, _ request: FeedPageRequest) throws -> FeedPage? {
        guard let first = rows.first else { return nil }
        var page = FeedPage(
            feed: try Self.feed(first, state.sealing), isWitnessKnown: try first.flag("is_known"), rows: [],
            hasMore: false, position: request.after)
        guard let found = try first.integerOrNil("found") else { return page }
        page.hasMore = Int(clamping: found) > rows.count
        for row in rows {
            page.position = try row.integer("seq")
            guard try !row.flag("is_hidden") else { continue }
            let removal = try row.textOrNil("removal").flatMap { FeedRemoval(rawValue: $0) } ?? .changed
            let isRemoved = try row.flag("is_removed")
            let isRevoked = if case .revoked = request.kind { true } else { false }
            page.rows.append(
                FeedRow(
                    key: try row.bytes("key"), part: request.part, seq: page.position,
                    body: isRemoved || isRevoked ? nil : try row.bytesOrNil("body"),
                    removal: isRemoved ? removal : isRevoked ? .changed : nil))
        }
        return page
    }

    private static func condition(_ kind: FeedPageRequest.Kind) -> String {
        switch kind {
        case .full: " and removed_at is null"
        case .delta: ""
        case .revoked: " and (removed_at is null or seq > $9)"
        }
    }

    /// A row that is sent as a removal needs no body.
    private static func body(_ kind: FeedPageRequest.Kind) -> String {
        if case .revoked = kind { "null::bytea" } else { "r.body" }
    }

    /// The condition that another part that the user may see has the entity (`design-review.md` 2).
    private static func hidden(_ kind: FeedPageRequest.Kind, _ partition: String) -> String {
        let isThere = """
            exists (select 1 from \(partition) o where o.feed = $1 and o.part = any($8) and o.key = m.key
            and o.removed_at is null)
            """
        return switch kind {
        case .full: "false"
        case .delta: "m.removed_at is not null and \(isThere)"
        case .revoked: isThere
        }
    }

    private static func otherParts(_ request: FeedPageRequest) -> [[UInt8]] {
        switch request.kind {
        case .full: []
        case .delta(let parts), .revoked(let parts, _): parts.filter { $0 != request.part }
        }
    }

    private static func removedAfter(_ kind: FeedPageRequest.Kind) -> ChangeNumber {
        if case .revoked(_, let change) = kind { change } else { 0 }
    }

    // MARK: Lists

    func digests(
        of feed: RecordNumber, part: [UInt8], after key: [UInt8]?
    ) async throws(ServerStateError) -> [FeedDigest] {
        let partition = try await partition(of: feed)
        return try await state.all(
            """
            select key, digest from \(partition) where feed = $1 and part = $2 and key > $3 and removed_at is null
            order by key limit $4
            """, .integer(feed), .bytes(part), .bytes(key ?? []), .integer(Self.listLimit)
        ) { FeedDigest(key: try $0.bytes("key"), digest: try $0.bytes("digest")) }
    }

    func parts(
        of feed: RecordNumber, after part: [UInt8]?
    ) async throws(ServerStateError) -> [[UInt8]] {
        let partition = try await partition(of: feed)
        return try await state.all(
            """
            select distinct part from \(partition) where feed = $1 and ($2::bytea is null or part > $2)
            and removed_at is null order by part limit $3
            """, .integer(feed), .bytesOrNull(part), .integer(Self.listLimit)
        ) { try $0.bytes("part") }
    }

    func packed(of feed: RecordNumber) async throws(ServerStateError) -> [PackedChunk] {
        try await state.all("select * from packed where feed = $1 order by chunk", .integer(feed)) {
            PackedChunk(
                number: try $0.number("chunk"), rowCount: try $0.number("row_count"), data: try $0.bytes("data"))
        }
    }
}
