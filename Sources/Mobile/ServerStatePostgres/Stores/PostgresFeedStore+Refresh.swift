import PostgresClient
import ServerState

/// The commits of refreshes.
extension PostgresFeedStore {
    /// The number of writes from which on they are loaded by COPY. Fewer travel in the statement, because a temporary
    /// table costs rows of the catalogue.
    private static let copyThreshold = 500

    func commit(
        _ batch: RefreshBatch, fence: Fence, claim: UInt64
    ) async throws(ServerStateError) -> FeedHead? {
        let (sealing, partition) = (state.sealing, try await partition(of: batch.feed))
        let head = try await state.work { work -> FeedHead? in
            // The row lock of the feed orders the refreshes (`rules.md` 42).
            let row = try await work.row(
                "select \(Self.columns), f.claim from feed f where f.id = $1 for update of f", .integer(batch.feed))
            guard let row else { return nil }
            let feed = try Self.feed(row, sealing)
            guard feed.fence == fence, feed.state != .frozen, work.incarnation.number == fence >> 32,
                try row.integerOrNil("claim") == Int64(bitPattern: claim)
            else { return nil }
            let base = max(feed.head, work.base)
            let merged = try await Self.merge(batch.writes, into: partition, of: feed.id, from: base, work)
            // The first refresh gets a head also without rows, so that tokens have a witness.
            let head = merged.changed > 0 ? base + Int64(merged.changed) : feed.head == 0 ? base + 1 : feed.head
            let new = FeedHead(
                head: head, tag: head == feed.head ? feed.tag : UInt64.random(in: 1...UInt64.max),
                changed: merged.changed, rowCount: feed.rowCount + merged.added)
            if head != feed.head { try await Self.store(new, of: feed.id, work) }
            if batch.isLast {
                let link = try sealing.seal(
                    batch.link, table: "feed", column: "link", key: Hexadecimal.text(feed.key))
                try await work.rows(
                    """
                    update feed set link = $2, watermark = $3, checked_at = $4,
                    state = case when state = 'filling' then 'active' else state end where id = $1
                    """, .integer(feed.id), .bytesOrNull(link), .bytesOrNull(batch.watermark),
                    .instant(batch.readAt ?? work.now))
            }
            return new
        }
        // Without statistics after a bulk load, pages are slow (trap 1). In the transaction, ANALYZE would wait for
        // other refreshes (`design-review.md` 21).
        if batch.writes.count >= Self.copyThreshold { _ = try? await state.write("analyze (skip_locked) \(partition)") }
        return head
    }

    private static func store(_ head: FeedHead, of feed: RecordNumber, _ work: StateWork) async throws {
        try await work.rows(
            "insert into feed_head values ($1, $2, $3)", .integer(feed), .integer(head.head), .bits(head.tag))
        try await work.rows(
            "update feed set head = $2, tag = $3, row_count = $4, changed_at = $5 where id = $1", .integer(feed),
            .integer(head.head), .bits(head.tag), .integer(head.rowCount), .instant(work.now))
    }

    /// Writes rows with a new digest, with numbers in their order.
    private static func merge(
        _ writes: [FeedWrite], into partition: String, of feed: RecordNumber, from base: ChangeNumber,
        _ work: StateWork
    ) async throws -> (changed: Int, added: Int64) {
        let writes = last(of: writes)
        guard !writes.isEmpty else { return (0, 0) }
        let source: String
        var values: [PostgresValue] = [.integer(feed), .integer(base), .instant(work.now)]
        if writes.count < copyThreshold {
            source = "unnest($4, $5, $6, $7, $8, $9) as s (n, part, key, digest, body, removal)"
            values += [
                .integers(writes.indices.map { Int64($0) }), .byteLists(writes.map(\.part)),
                .byteLists(writes.map(\.key)), .byteLists(writes.map(\.digest)), .byteLists(writes.map(\.body)),
                .texts(writes.map { ($0.removal ?? .changed).rawValue }),
            ]
        } else {
            source = "stage as s"
            try await load(writes, work)
        }
        let rows = try await work.transaction.execute(
            PostgresStatement(
                """
                with changed as materialized (
                  select s.*, m.key is not null and m.removed_at is null as is_live,
                  $2 + row_number() over (order by s.n) as seq
                  from \(source) left join \(partition) m on m.feed = $1 and m.part = s.part and m.key = s.key
                  where case when s.body is null then m.key is not null and m.removed_at is null
                    else m.key is null or m.removed_at is not null or m.digest <> s.digest end),
                written as (
                  insert into \(partition) as t (feed, part, key, seq, digest, size, body, removal, removed_at)
                  select $1, part, key, seq, case when body is null then ''::bytea else digest end,
                  coalesce(octet_length(body), 0), body, case when body is null then removal end,
                  case when body is null then $3 end from changed
                  on conflict (feed, part, key) do update set seq = excluded.seq, digest = excluded.digest,
                  size = excluded.size, body = excluded.body, removal = excluded.removal,
                  removed_at = excluded.removed_at)
                select count(*) as changed, count(*) filter (where body is not null and not is_live)
                - count(*) filter (where body is null) as added from changed
                """, values))
        guard let row = rows.first else { throw ServerStateError.damaged(reason: "a refresh has no result") }
        return (try row.number("changed"), try row.integer("added"))
    }

    /// Loads writes into a temporary table.
    private static func load(_ writes: [FeedWrite], _ work: StateWork) async throws {
        try await work.rows(
            """
            create temporary table stage (n bigint, part bytea, key bytea, digest bytea, body bytea, removal text)
            on commit drop
            """)
        let rows = writes.enumerated().map { number, write -> [PostgresValue] in
            [
                .number(number), .bytes(write.part), .bytes(write.key), .bytes(write.digest), .bytesOrNull(write.body),
                .text((write.removal ?? .changed).rawValue),
            ]
        }
        try await work.transaction.copy(into: "stage (n, part, key, digest, body, removal)", rows)
    }

    /// Of several writes of one part and key, the last one counts.
    private static func last(of writes: [FeedWrite]) -> [FeedWrite] {
        struct Place: Hashable {
            var part: [UInt8]
            var key: [UInt8]
        }
        var positions: [Place: Int] = [:]
        for (number, write) in writes.enumerated() { positions[Place(part: write.part, key: write.key)] = number }
        guard positions.count < writes.count else { return writes }
        return positions.values.sorted().map { writes[$0] }
    }

    func commitPacked(
        _ chunks: [PackedChunk], feed id: RecordNumber, head: ChangeNumber, changed: Int, rowCount: Int64
    ) async throws(ServerStateError) -> FeedHead? {
        try await state.work { work in
            let row = try await work.row(
                "select head, tag from feed where id = $1 for update", .integer(id))
            guard let row, try row.integer("head") == head else { return nil }
            let base = max(head, work.base)
            let new = changed > 0 ? base + Int64(changed) : head == 0 ? base + 1 : head
            let tag = new == head ? UInt64(bitPattern: try row.integer("tag")) : UInt64.random(in: 1...UInt64.max)
            try await work.rows("delete from packed where feed = $1", .integer(id))
            if !chunks.isEmpty {
                try await work.rows(
                    "insert into packed select $1, n, rows, data from unnest($2, $3, $4) as s (n, rows, data)",
                    .integer(id), .integers(chunks.map { Int64($0.number) }),
                    .integers(chunks.map { Int64($0.rowCount) }), .byteLists(chunks.map(\.data)))
            }
            let result = FeedHead(head: new, tag: tag, changed: changed, rowCount: rowCount)
            if new != head { try await Self.store(result, of: id, work) }
            try await work.rows(
                "update feed set row_count = $2, checked_at = $3, state = 'active' where id = $1", .integer(id),
                .integer(rowCount), .instant(work.now))
            return result
        }
    }
}
