import Foundation
import GRDB

/// Reads one page of a feed in one snapshot.
struct FeedPageReader {
    let request: FeedPageRequest
    let feed: FeedRecord
    let isWitnessKnown: Bool

    func page(in database: Database) throws -> FeedPage {
        let limit = min(max(request.limit, 1), FeedPageRequest.rowLimit)
        let cursor = try Row.fetchCursor(
            database,
            sql: """
                select key, seq, size, body, removal, removed_at from member
                where feed = ? and part = ? and seq > ? and seq <= ?\(condition) order by seq limit ?
                """, arguments: [request.feed, Data(request.part), request.after, end, limit + 1])
        var (rows, position, size, count): ([FeedRow], ChangeNumber, Int, Int) = ([], request.after, 0, 0)
        while let row = try cursor.next() {
            size += row["size"] as Int
            // The first row is always there.
            guard count < limit, count == 0 || size <= FeedPageRequest.byteLimit else {
                return page(rows, hasMore: true, position)
            }
            count += 1
            position = row["seq"]
            if let shown = try shown(row, in: database) { rows.append(shown) }
        }
        return page(rows, hasMore: false, position)
    }

    private func page(_ rows: [FeedRow], hasMore: Bool, _ position: ChangeNumber) -> FeedPage {
        FeedPage(feed: feed, isWitnessKnown: isWitnessKnown, rows: rows, hasMore: hasMore, position: position)
    }

    private var condition: String {
        switch request.kind {
        case .full: " and removed_at is null"
        case .delta: ""
        case .revoked(_, let removedAfter): " and (removed_at is null or seq > \(removedAfter))"
        }
    }

    private var end: ChangeNumber {
        if case .revoked = request.kind { return .max }
        return request.to
    }

    /// Returns the row as devices get it, or `nil` if another part that the user may see has the entity.
    private func shown(_ row: Row, in database: Database) throws -> FeedRow? {
        let key = row.bytes("key") ?? []
        let isRemoved = (row["removed_at"] as Int64?) != nil
        let removal = (row["removal"] as String?).flatMap { FeedRemoval(rawValue: $0) } ?? .changed
        let seq: ChangeNumber = row["seq"]
        switch request.kind {
        case .full: return FeedRow(key: key, part: request.part, seq: seq, body: row.bytes("body"))
        case .delta(let parts):
            guard isRemoved else {
                return FeedRow(key: key, part: request.part, seq: seq, body: row.bytes("body"))
            }
            guard try !isPresent(key, in: parts, database) else { return nil }
            return FeedRow(key: key, part: request.part, seq: seq, body: nil, removal: removal)
        case .revoked(let parts, _):
            guard try !isPresent(key, in: parts, database) else { return nil }
            return FeedRow(
                key: key, part: request.part, seq: seq, body: nil, removal: isRemoved ? removal : .changed)
        }
    }

    /// Returns whether another part has a live row of a key (`design-review.md` 2).
    private func isPresent(_ key: [UInt8], in parts: [[UInt8]], _ database: Database) throws -> Bool {
        let statement = try database.cachedStatement(
            sql: "select 1 from member where feed = ? and part = ? and key = ? and removed_at is null")
        for part in parts where part != request.part {
            if try Int.fetchOne(statement, arguments: [request.feed, Data(part), Data(key)]) != nil { return true }
        }
        return false
    }
}

/// Writes the rows of a refresh step.
struct FeedRowWriter {
    let feed: RecordNumber
    let now: ServerInstant
    /// The last number that was given.
    private(set) var last: ChangeNumber
    /// The number of rows that were changed or removed.
    private(set) var changed = 0
    /// The change of the number of live rows.
    private(set) var added: Int64 = 0

    init(feed: RecordNumber, base: ChangeNumber, now: ServerInstant) {
        self.feed = feed
        self.now = now
        last = base
    }

    mutating func write(_ writes: [FeedWrite], in database: Database) throws {
        let find = try database.cachedStatement(
            sql: "select digest, removed_at from member where feed = ? and part = ? and key = ?")
        let put = try database.cachedStatement(
            sql: """
                insert into member values (?1, ?2, ?3, ?4, ?5, ?6, ?7, null, null)
                on conflict (feed, part, key) do update set seq = ?4, digest = ?5, size = ?6, body = ?7,
                removal = null, removed_at = null
                """)
        let remove = try database.cachedStatement(
            sql: """
                update member set seq = ?4, digest = x'', size = 0, body = null, removal = ?5, removed_at = ?6
                where feed = ?1 and part = ?2 and key = ?3
                """)
        for write in writes {
            let (part, key) = (Data(write.part), Data(write.key))
            let known = try Row.fetchOne(find, arguments: [feed, part, key])
            let isLive = known.map { ($0["removed_at"] as Int64?) == nil } ?? false
            if let body = write.body {
                guard !isLive || known?.bytes("digest") != write.digest else { continue }
                last += 1
                try put.execute(arguments: [
                    feed, part, key, last, Data(write.digest), body.count, Data(body),
                ])
                if !isLive { added += 1 }
            } else {
                guard isLive else { continue }
                last += 1
                try remove.execute(arguments: [
                    feed, part, key, last, (write.removal ?? .changed).rawValue, now.rawValue,
                ])
                added -= 1
            }
            changed += 1
        }
    }
}
