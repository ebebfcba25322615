import Crypto
import PostgresClient
import ServerState

/// Feeds and part sets. Pages and refreshes are in other files.
struct PostgresFeedStore: FeedStore {
    let state: PostgresServerState

    /// The rows of a dropped feed that one call removes.
    private static let dropStep = 10_000
    /// The rows of one list of digests or parts.
    static let listLimit: Int64 = 10_000
    /// The columns of a feed.
    static let columns = """
        f.id, f.key as feed_key, f.application, f.destination, f.query_name, f.configuration, f.visibility, f.tracking,
        f.state, f.note, f.head, f.floor, f.tag, f.fence, f.checked_at, f.changed_at, f.link, f.watermark, f.row_count,
        (select a.asked_at from feed_asked a where a.feed = f.id) as asked_at
        """

    // MARK: Feeds

    func feed(
        _ key: [UInt8], makingWith record: FeedRecord?
    ) async throws(ServerStateError) -> FeedRecord? {
        let known = try await find("f.key = $1", .bytes(key))
        guard known == nil, let record else { return known }
        try await state.write(
            """
            insert into feed
            (key, application, destination, query_name, configuration, visibility, tracking, state, tag)
            values ($1, $2, $3, $4, $5, $6, $7, $8, 0) on conflict (key) do nothing
            """, .bytes(key), .integer(record.application), .text(record.destination), .text(record.query),
            .number(record.configuration), .text(record.visibility.rawValue), .text(record.tracking),
            .text(record.state.rawValue))
        return try await find("f.key = $1", .bytes(key))
    }

    func feed(withPrefix prefix: [UInt8]) async throws(ServerStateError) -> FeedRecord? {
        // The end of the range: all keys that begin with the bytes are below it.
        try await find(
            "f.key >= $1 and f.key <= $2 limit 1", .bytes(prefix),
            and: .bytes(prefix + [UInt8](repeating: 0xFF, count: 32)))
    }

    func feed(_ id: RecordNumber) async throws(ServerStateError) -> FeedRecord? {
        try await find("f.id = $1", .integer(id))
    }

    private func find(
        _ condition: String, _ first: PostgresValue, and second: PostgresValue? = nil
    ) async throws(ServerStateError) -> FeedRecord? {
        let sealing = state.sealing
        let text = "select \(Self.columns) from feed f where \(condition)"
        guard let second else {
            return try await state.all(text, first) { try Self.feed($0, sealing) }.first
        }
        return try await state.all(text, first, second) { try Self.feed($0, sealing) }.first
    }

    func feeds(of application: RecordNumber?) async throws(ServerStateError) -> [FeedRecord] {
        let sealing = state.sealing
        return try await state.all(
            "select \(Self.columns) from feed f where $1::bigint is null or f.application = $1 order by f.id",
            .integerOrNull(application)
        ) { try Self.feed($0, sealing) }
    }

    func setState(
        _ new: FeedState, note: String?, feed id: RecordNumber
    ) async throws(ServerStateError) -> FeedRecord {
        try await state.write(
            "update feed set state = $1, note = $2 where id = $3", .text(new.rawValue), .textOrNull(note), .integer(id))
        guard let feed = try await feed(id) else { throw .missing(kind: "feed", name: "\(id)") }
        return feed
    }

    func noteAsked(_ feed: RecordNumber, at moment: ServerInstant) async throws(ServerStateError) {
        // A row of its own, so that no reader waits for a refresh (`design-review.md` 31).
        try await state.write(
            """
            insert into feed_asked as a select f.id, $1 from feed f where f.id = $2
            on conflict (feed) do update set asked_at = $1 where a.asked_at < $1
            """, .instant(moment), .integer(feed))
    }

    func begin(_ feed: RecordNumber, fence: Fence) async throws(ServerStateError) -> UInt64? {
        let claim = UInt64.random(in: 1...UInt64.max)
        let rows = try await state.write(
            """
            update feed set fence = $1, claim = $2 where id = $3 and fence < $1
            and exists (select 1 from cluster where incarnation = $1 >> 32)
            """, .integer(fence), .bits(claim), .integer(feed))
        return rows.changedCount == 1 ? claim : nil
    }

    // MARK: Partitions

    /// Returns the name of the partition with the rows of a feed. A statement that names it takes 4 locks, not 49
    /// (`design-review.md` 29).
    func partition(of feed: RecordNumber) async throws(ServerStateError) -> String {
        if let known = state.partitions.withLock({ $0[feed] }) { return PostgresSchema.memberPartition(known) }
        let numbers = try await state.all(
            """
            select n::bigint as number from generate_series(0, \(PostgresSchema.memberPartitions - 1)) n
            where satisfies_hash_partition('member'::regclass, \(PostgresSchema.memberPartitions), n, $1::bigint)
            """, .integer(feed)
        ) { try $0.number("number") }
        guard let number = numbers.first else { throw .damaged(reason: "the feed \(feed) has no partition") }
        state.partitions.withLock { partitions in
            if partitions.count > 100_000 { partitions = [:] }
            partitions[feed] = number
        }
        return PostgresSchema.memberPartition(number)
    }

    // MARK: Going

    func prune(
        _ feed: RecordNumber, removedBefore moment: ServerInstant, limit: Int
    ) async throws(ServerStateError) -> Int {
        let partition = try await partition(of: feed)
        return try await state.work { work in
            // The row of the feed is locked, so that floor and rows are of one commit.
            guard try await work.row("select id from feed where id = $1 for no key update", .integer(feed)) != nil
            else {
                return 0
            }
            let row = try await work.row(
                """
                with old as (select part, key, seq from \(partition) where feed = $1 and removed_at < $2
                  order by seq limit $3),
                gone as (delete from \(partition) m using old
                  where m.feed = $1 and m.part = old.part and m.key = old.key and m.removed_at is not null)
                select count(*) as number, coalesce(max(seq), 0) as floor from old
                """, .integer(feed), .instant(moment), .number(max(limit, 1)))
            guard let row, try row.number("number") > 0 else { return 0 }
            let floor = PostgresValue.integer(try row.integer("floor"))
            try await work.rows(
                "update feed set floor = greatest(floor, $2) where id = $1", .integer(feed), floor)
            // One tag below the floor stays, for a token whose witness is the head at that time.
            try await work.rows(
                """
                delete from feed_head where feed = $1
                and head < (select max(head) from feed_head where feed = $1 and head <= $2)
                """, .integer(feed), floor)
            return try row.number("number")
        }
    }

    func drop(_ feed: RecordNumber) async throws(ServerStateError) -> Bool {
        try await state.work { work in
            if try await work.change("delete from feed where id = $1", .integer(feed)) > 0 {
                try await work.rows(
                    "insert into dropped_feed values ($1) on conflict (id) do nothing", .integer(feed))
                try await work.rows("delete from feed_asked where feed = $1", .integer(feed))
            }
            let waiting = try await work.row(
                "select id from dropped_feed order by id limit 1 for update skip locked")
            guard let waiting else {
                return try await work.row("select id from dropped_feed limit 1") != nil
            }
            let id = PostgresValue.integer(try waiting.integer("id"))
            var budget = Self.dropStep
            for table in ["member", "packed"] {
                let key = table == "member" ? "part, key" : "chunk"
                budget -= try await work.change(
                    """
                    delete from \(table) where feed = $1
                    and (\(key)) in (select \(key) from \(table) where feed = $1 limit $2)
                    """, id, .number(budget))
                guard budget > 0 else { return true }
            }
            try await work.rows("delete from feed_head where feed = $1", id)
            try await work.rows("delete from dropped_feed where id = $1", id)
            return try await work.row("select id from dropped_feed limit 1") != nil
        }
    }

    // MARK: Part sets

    func keepParts(_ parts: [[UInt8]]) async throws(ServerStateError) -> [UInt8] {
        let sorted = Set(parts).sorted { $0.lexicographicallyPrecedes($1) }
        var bytes: [UInt8] = []
        for part in sorted {
            withUnsafeBytes(of: UInt32(clamping: part.count).bigEndian) { bytes.append(contentsOf: $0) }
            bytes += part
        }
        let id = Array(SHA256.hash(data: bytes).prefix(8))
        // A use is noted once an hour.
        let isFresh = try await state.all(
            "select id from part_set where id = $1 and used_at > outpost_now($2) - 3600000000", .bytes(id), state.given
        ) { _ in true }
        guard isFresh.isEmpty else { return id }
        try await state.write(
            """
            insert into part_set values ($1, $2, outpost_now($3))
            on conflict (id) do update set used_at = excluded.used_at
            """, .bytes(id), .bytes(bytes), state.given)
        return id
    }

    func parts(ofSet id: [UInt8]) async throws(ServerStateError) -> [[UInt8]]? {
        let found = try await state.all(
            "select parts from part_set where id = $1 and used_at > outpost_now($2) - 5184000000000", .bytes(id),
            state.given
        ) { try $0.bytes("parts") }
        guard let bytes = found.first else { return nil }
        var (parts, rest): ([[UInt8]], ArraySlice<UInt8>) = ([], bytes[...])
        while rest.count >= 4 {
            let count = rest.prefix(4).reduce(0) { $0 << 8 | Int($1) }
            rest = rest.dropFirst(4)
            guard count <= rest.count else { throw .damaged(reason: "a part set cannot be read") }
            parts.append(Array(rest.prefix(count)))
            rest = rest.dropFirst(count)
        }
        return parts
    }

    // MARK: Rows

    static func feed(_ row: PostgresRow, _ sealing: PostgresSealing) throws -> FeedRecord {
        let key = try row.bytes("feed_key")
        var feed = FeedRecord(
            key: key, application: try row.integer("application"), destination: try row.text("destination"),
            query: try row.text("query_name"), configuration: try row.number("configuration"),
            visibility: FeedVisibility(rawValue: try row.text("visibility")) ?? .passthrough,
            tracking: try row.text("tracking"), state: FeedState(rawValue: try row.text("state")) ?? .suspended)
        feed.id = try row.integer("id")
        feed.note = try row.textOrNil("note")
        feed.head = try row.integer("head")
        feed.floor = try row.integer("floor")
        feed.tag = UInt64(bitPattern: try row.integer("tag"))
        feed.fence = try row.integer("fence")
        feed.checkedAt = try row.instantOrNil("checked_at")
        feed.changedAt = try row.instantOrNil("changed_at")
        feed.askedAt = try row.instantOrNil("asked_at")
        feed.link = try sealing.open(
            try row.bytesOrNil("link"), table: "feed", column: "link", key: Hexadecimal.text(key))
        feed.watermark = try row.bytesOrNil("watermark")
        feed.rowCount = try row.integer("row_count")
        return feed
    }
}
