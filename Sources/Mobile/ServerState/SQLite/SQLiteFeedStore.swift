import Crypto
import Foundation
import GRDB

/// Feeds in `feeds.db`.
struct SQLiteFeedStore: FeedStore {
    let state: SQLiteServerState

    private var sealing: Sealing { Sealing(state.keys) }

    /// The rows of a dropped feed that one call removes.
    private static let dropStep = 10_000
    /// The rows of one list of digests or parts.
    private static let listLimit = 10_000

    // MARK: Feeds

    func feed(
        _ key: [UInt8], makingWith record: FeedRecord?
    ) async throws(ServerStateError) -> FeedRecord? {
        let sealing = sealing
        let known = try await state.feedsFile.read { database in
            try Row.fetchOne(database, sql: "select * from feed where key = ?", arguments: [Data(key)])
                .map { try Self.feed($0, sealing) }
        }
        guard known == nil, let record else { return known }
        return try await state.feedsFile.write { database in
            try database.execute(
                sql: """
                    insert into feed (key, application, destination, query_name, configuration, visibility, tracking,
                    state, tag) values (?, ?, ?, ?, ?, ?, ?, ?, ?) on conflict (key) do nothing
                    """,
                arguments: [
                    Data(key), record.application, record.destination, record.query, record.configuration,
                    record.visibility.rawValue, record.tracking, record.state.rawValue, Self.bytes(0),
                ])
            return try Row.fetchOne(database, sql: "select * from feed where key = ?", arguments: [Data(key)])
                .map { try Self.feed($0, sealing) }
        }
    }

    func feed(withPrefix prefix: [UInt8]) async throws(ServerStateError) -> FeedRecord? {
        let sealing = sealing
        return try await state.feedsFile.read { database in
            // The end of the range: all keys that begin with the bytes are below it.
            let end = Data(prefix + [UInt8](repeating: 0xFF, count: 32))
            return try Row.fetchOne(
                database, sql: "select * from feed where key >= ? and key <= ? limit 1",
                arguments: [Data(prefix), end]
            ).map { try Self.feed($0, sealing) }
        }
    }

    func feed(_ id: RecordNumber) async throws(ServerStateError) -> FeedRecord? {
        let sealing = sealing
        return try await state.feedsFile.read { try Self.feed(id, sealing, in: $0) }
    }

    func feeds(of application: RecordNumber?) async throws(ServerStateError) -> [FeedRecord] {
        let sealing = sealing
        return try await state.feedsFile.read { database in
            try Row.fetchAll(
                database, sql: "select * from feed where ?1 is null or application = ?1 order by id",
                arguments: [application]
            ).map { try Self.feed($0, sealing) }
        }
    }

    func setState(
        _ new: FeedState, note: String?, feed id: RecordNumber
    ) async throws(ServerStateError) -> FeedRecord {
        let sealing = sealing
        return try await state.feedsFile.write { database in
            try database.execute(
                sql: "update feed set state = ?, note = ? where id = ?", arguments: [new.rawValue, note, id])
            guard let feed = try Self.feed(id, sealing, in: database) else {
                throw ServerStateError.missing(kind: "feed", name: "\(id)")
            }
            return feed
        }
    }

    func noteAsked(_ feed: RecordNumber, at moment: ServerInstant) async throws(ServerStateError) {
        try await state.feedsFile.write { database in
            try database.execute(
                sql: "update feed set asked_at = ?1 where id = ?2 and (asked_at is null or asked_at < ?1)",
                arguments: [moment.rawValue, feed])
        }
    }

    func begin(_ feed: RecordNumber, fence: Fence) async throws(ServerStateError) -> UInt64? {
        let claim = UInt64.random(in: 1...UInt64.max)
        return try await state.feedsFile.write { database in
            guard try Self.isPresent(fence, in: database) else { return nil }
            try database.execute(
                sql: "update feed set fence = ?1, claim = ?3 where id = ?2 and fence < ?1",
                arguments: [fence, feed, Self.bytes(claim)])
            return database.changesCount == 1 ? claim : nil
        }
    }

    /// Returns whether a fence is of the incarnation of the file (`design-review.md` 14).
    private static func isPresent(_ fence: Fence, in database: Database) throws -> Bool {
        try SQLiteServerState.incarnation(in: database).number == fence >> 32
    }

    // MARK: Reading

    func page(_ request: FeedPageRequest) async throws(ServerStateError) -> FeedPage? {
        let sealing = sealing
        return try await state.feedsFile.read { database in
            // One read transaction is one snapshot: floor, head, tags and rows belong together.
            guard let feed = try Self.feed(request.feed, sealing, in: database) else { return nil }
            var isKnown = true
            if let witness = request.witness {
                isKnown =
                    try Int.fetchOne(
                        database, sql: "select 1 from feed_head where feed = ? and head = ? and tag = ?",
                        arguments: [request.feed, witness.head, Self.bytes(witness.tag)]) != nil
            }
            return try FeedPageReader(request: request, feed: feed, isWitnessKnown: isKnown).page(in: database)
        }
    }

    func digests(
        of feed: RecordNumber, part: [UInt8], after key: [UInt8]?
    ) async throws(ServerStateError) -> [FeedDigest] {
        try await state.feedsFile.read { database in
            try Row.fetchAll(
                database,
                sql: """
                    select key, digest from member where feed = ? and part = ? and key > ? and removed_at is null
                    order by key limit \(Self.listLimit)
                    """, arguments: [feed, Data(part), Data(key ?? [])]
            ).map { FeedDigest(key: $0.bytes("key") ?? [], digest: $0.bytes("digest") ?? []) }
        }
    }

    func parts(
        of feed: RecordNumber, after part: [UInt8]?
    ) async throws(ServerStateError) -> [[UInt8]] {
        try await state.feedsFile.read { database in
            var parts: [[UInt8]] = []
            var last = part.map { Data($0) }
            while parts.count < Self.listLimit {
                let next = try Data.fetchOne(
                    database,
                    sql: """
                        select part from member where feed = ?1 and (?2 is null or part > ?2) and removed_at is null
                        order by part limit 1
                        """, arguments: [feed, last])
                guard let next else { break }
                parts.append(Array(next))
                last = next
            }
            return parts
        }
    }

    // MARK: Writing

    func commit(
        _ batch: RefreshBatch, fence: Fence, claim: UInt64
    ) async throws(ServerStateError) -> FeedHead? {
        let (sealing, now) = (sealing, state.clock())
        return try await state.feedsFile.write { database in
            guard let feed = try Self.feed(batch.feed, sealing, in: database), feed.fence == fence,
                feed.state != .frozen, try Self.isPresent(fence, in: database),
                try Data.fetchOne(database, sql: "select claim from feed where id = ?", arguments: [batch.feed])
                    == Self.bytes(claim)
            else { return nil }
            let base = max(feed.head, try SQLiteServerState.incarnation(in: database).number << 32)
            var writer = FeedRowWriter(feed: feed.id, base: base, now: now)
            try writer.write(batch.writes, in: database)
            let rowCount = feed.rowCount + writer.added
            // The first refresh gets a head also without rows, so that tokens have a witness.
            let head = writer.changed > 0 ? writer.last : feed.head == 0 ? base + 1 : feed.head
            let tag = head == feed.head ? feed.tag : UInt64.random(in: 1...UInt64.max)
            if head != feed.head {
                try database.execute(
                    sql: "insert into feed_head values (?, ?, ?)", arguments: [feed.id, head, Self.bytes(tag)])
                try database.execute(
                    sql: "update feed set head = ?, tag = ?, row_count = ?, changed_at = ? where id = ?",
                    arguments: [head, Self.bytes(tag), rowCount, now.rawValue, feed.id])
            }
            if batch.isLast {
                let link = try sealing.seal(
                    batch.link, table: "feed", column: "link", key: Self.hexadecimal(feed.key))
                try database.execute(
                    sql: """
                        update feed set link = ?, watermark = ?, checked_at = ?,
                        state = case when state = 'filling' then 'active' else state end where id = ?
                        """,
                    arguments: [
                        link, batch.watermark.map { Data($0) }, (batch.readAt ?? now).rawValue, feed.id,
                    ])
            }
            return FeedHead(head: head, tag: tag, changed: writer.changed, rowCount: rowCount)
        }
    }

    func packed(of feed: RecordNumber) async throws(ServerStateError) -> [PackedChunk] {
        try await state.feedsFile.read { database in
            try Row.fetchAll(
                database, sql: "select * from packed where feed = ? order by chunk", arguments: [feed]
            ).map {
                PackedChunk(number: $0["chunk"], rowCount: $0["row_count"], data: $0.bytes("data") ?? [])
            }
        }
    }

    func commitPacked(
        _ chunks: [PackedChunk], feed id: RecordNumber, head: ChangeNumber, changed: Int, rowCount: Int64
    ) async throws(ServerStateError) -> FeedHead? {
        let (sealing, now) = (sealing, state.clock())
        return try await state.feedsFile.write { database in
            guard let feed = try Self.feed(id, sealing, in: database), feed.head == head else { return nil }
            let base = max(feed.head, try SQLiteServerState.incarnation(in: database).number << 32)
            let new = changed > 0 ? base + Int64(changed) : feed.head == 0 ? base + 1 : feed.head
            let tag = new == feed.head ? feed.tag : UInt64.random(in: 1...UInt64.max)
            try database.execute(sql: "delete from packed where feed = ?", arguments: [id])
            for chunk in chunks {
                try database.execute(
                    sql: "insert into packed values (?, ?, ?, ?)",
                    arguments: [id, chunk.number, chunk.rowCount, Data(chunk.data)])
            }
            if new != feed.head {
                try database.execute(
                    sql: "insert into feed_head values (?, ?, ?)", arguments: [id, new, Self.bytes(tag)])
            }
            try database.execute(
                sql: """
                    update feed set head = ?, tag = ?, row_count = ?, checked_at = ?, state = 'active',
                    changed_at = case when head = ? then changed_at else ? end where id = ?
                    """,
                arguments: [new, Self.bytes(tag), rowCount, now.rawValue, new, now.rawValue, id])
            return FeedHead(head: new, tag: tag, changed: changed, rowCount: rowCount)
        }
    }

    // MARK: Going

    func prune(
        _ feed: RecordNumber, removedBefore moment: ServerInstant, limit: Int
    ) async throws(ServerStateError) -> Int {
        try await state.feedsFile.write { database in
            let old = try Row.fetchAll(
                database,
                sql: "select rowid, seq from member where feed = ? and removed_at < ? order by seq limit ?",
                arguments: [feed, moment.rawValue, max(limit, 1)])
            guard let last = old.last else { return 0 }
            let floor: Int64 = last["seq"]
            let statement = try database.cachedStatement(sql: "delete from member where rowid = ?")
            for row in old { try statement.execute(arguments: [row["rowid"] as Int64]) }
            try database.execute(
                sql: "update feed set floor = max(floor, ?) where id = ?", arguments: [floor, feed])
            // One tag below the floor stays, for a token whose witness is the head at that time.
            try database.execute(
                sql: """
                    delete from feed_head where feed = ?1 and head <
                    (select max(head) from feed_head where feed = ?1 and head <= ?2)
                    """, arguments: [feed, floor])
            return old.count
        }
    }

    func drop(_ feed: RecordNumber) async throws(ServerStateError) -> Bool {
        try await state.feedsFile.write { database in
            try database.execute(sql: "delete from feed where id = ?", arguments: [feed])
            if database.changesCount > 0 {
                try database.execute(sql: "insert or ignore into dropped_feed values (?)", arguments: [feed])
            }
            let waiting = try Int64.fetchOne(database, sql: "select id from dropped_feed order by id limit 1")
            guard let id = waiting else { return false }
            var budget = Self.dropStep
            for (table, key) in [("member", "rowid"), ("packed", "rowid")] {
                try database.execute(
                    sql: """
                        delete from \(table) where \(key) in (select \(key) from \(table) where feed = ? limit ?)
                        """, arguments: [id, budget])
                budget -= database.changesCount
                guard budget > 0 else { return true }
            }
            try database.execute(sql: "delete from feed_head where feed = ?", arguments: [id])
            try database.execute(sql: "delete from dropped_feed where id = ?", arguments: [id])
            return try Int.fetchOne(database, sql: "select 1 from dropped_feed limit 1") != nil
        }
    }

    // MARK: Part sets

    func keepParts(_ parts: [[UInt8]]) async throws(ServerStateError) -> [UInt8] {
        let sorted = Set(parts.map { Data($0) }).sorted { $0.lexicographicallyPrecedes($1) }
        var bytes = Data()
        for part in sorted {
            withUnsafeBytes(of: UInt32(clamping: part.count).bigEndian) { bytes.append(contentsOf: $0) }
            bytes.append(part)
        }
        let id = Array(SHA256.hash(data: bytes).prefix(8))
        let (now, text) = (state.clock(), bytes)
        // A use is noted once an hour.
        let isFresh = try await state.feedsFile.read { database in
            try Int.fetchOne(
                database, sql: "select 1 from part_set where id = ? and used_at > ?",
                arguments: [Data(id), (now - .seconds(3600)).rawValue]) != nil
        }
        guard !isFresh else { return id }
        try await state.feedsFile.write { database in
            try database.execute(
                sql: """
                    insert into part_set values (?1, ?2, ?3) on conflict (id) do update set used_at = ?3
                    """, arguments: [Data(id), text, now.rawValue])
        }
        return id
    }

    func parts(ofSet id: [UInt8]) async throws(ServerStateError) -> [[UInt8]]? {
        let now = state.clock()
        let bytes = try await state.feedsFile.read { database in
            try Data.fetchOne(
                database, sql: "select parts from part_set where id = ? and used_at > ?",
                arguments: [Data(id), (now - .seconds(60 * 86_400)).rawValue])
        }
        guard let bytes else { return nil }
        var (parts, rest): ([[UInt8]], ArraySlice<UInt8>) = ([], Array(bytes)[...])
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

    static func bytes(_ tag: UInt64) -> Data { withUnsafeBytes(of: tag.bigEndian) { Data($0) } }

    static func hexadecimal(_ bytes: [UInt8]) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    private static func feed(
        _ id: RecordNumber, _ sealing: Sealing, in database: Database
    ) throws -> FeedRecord? {
        try Row.fetchOne(database, sql: "select * from feed where id = ?", arguments: [id])
            .map { try feed($0, sealing) }
    }

    private static func feed(_ row: Row, _ sealing: Sealing) throws -> FeedRecord {
        let key = row.bytes("key") ?? []
        var feed = FeedRecord(
            key: key, application: row["application"], destination: row["destination"], query: row["query_name"],
            configuration: row["configuration"],
            visibility: FeedVisibility(rawValue: row["visibility"]) ?? .passthrough, tracking: row["tracking"],
            state: FeedState(rawValue: row["state"]) ?? .suspended)
        feed.id = row["id"]
        feed.note = row["note"]
        feed.head = row["head"]
        feed.floor = row["floor"]
        feed.tag = (row.bytes("tag") ?? []).reduce(0) { $0 << 8 | UInt64($1) }
        feed.fence = row["fence"]
        feed.checkedAt = row.moment("checked_at")
        feed.changedAt = row.moment("changed_at")
        feed.askedAt = row.moment("asked_at")
        feed.link = try sealing.open(row["link"], table: "feed", column: "link", key: hexadecimal(key))
        feed.watermark = row.bytes("watermark")
        feed.rowCount = row["row_count"]
        return feed
    }
}
