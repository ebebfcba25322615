import ServerState

extension ServerStateConformance {
    /// A feed of a case, with the lease that fills it.
    struct FeedBench: Sendable {
        let bench: Bench
        let feed: FeedRecord
        let fence: Fence
        let claim: UInt64

        var store: any FeedStore { bench.state.feeds }

        @discardableResult
        func commit(_ writes: [FeedWrite], isLast: Bool = true) async throws -> FeedHead {
            let head = try await store.commit(
                RefreshBatch(feed: feed.id, writes: writes, isLast: isLast, link: [4, 2]), fence: fence, claim: claim)
            return try unwrap(head, "the lease is the present one")
        }

        func page(
            _ kind: FeedPageRequest.Kind, after: ChangeNumber = 0, to: ChangeNumber, part: [UInt8] = [],
            witness: FeedWitness? = nil, limit: Int = 1000
        ) async throws -> FeedPage {
            let page = try await store.page(
                FeedPageRequest(
                    feed: feed.id, part: part, kind: kind, after: after, to: to, witness: witness, limit: limit))
            return try unwrap(page, "the feed is there")
        }
    }

    static func makeFeed(_ bench: Bench, key: UInt8 = 1) async throws -> FeedBench {
        let record = FeedRecord(
            key: [UInt8](repeating: key, count: 32), application: 1, destination: "d", query: "q", configuration: 1,
            visibility: .shared, tracking: "compare")
        let feed = try unwrap(try await bench.state.feeds.feed(record.key, makingWith: record), "a feed is made")
        try await bench.state.jobs.add(NewJob(kind: .refresh, target: "\(feed.id)"))
        let job = try unwrap(
            try await bench.state.jobs.claim([.refresh], limit: 1, lease: .seconds(30), owner: "a").first, "a job")
        let claim = try unwrap(
            try await bench.state.feeds.begin(feed.id, fence: job.fence), "the fence is newer than that of the feed")
        return FeedBench(bench: bench, feed: feed, fence: job.fence, claim: claim)
    }

    static func row(_ key: String, _ digest: UInt8 = 1, part: [UInt8] = []) -> FeedWrite {
        FeedWrite(
            key: Array(key.utf8), part: part, digest: [UInt8](repeating: digest, count: 16),
            body: Array("{\(key)\(digest)}".utf8))
    }

    static func removal(_ key: String, part: [UInt8] = []) -> FeedWrite {
        FeedWrite(key: Array(key.utf8), part: part, digest: [], body: nil, removal: .deleted)
    }

    static func keys(_ page: FeedPage) -> [String] {
        page.rows.map { String(decoding: $0.key, as: UTF8.self) + ($0.body == nil ? "-" : "") }
    }

    static let feedReads: [Case] = [
        Case("A full read has live rows, a delta has changes and removals") { bench in
            let feed = try await makeFeed(bench)
            let first = try await feed.commit([row("a"), row("b"), row("c")])
            try require(keys(try await feed.page(.full, to: first.head)), is: ["a", "b", "c"], "all rows")
            let second = try await feed.commit([row("a"), row("b", 2), removal("c")])
            try require(second.changed, is: 2, "an equal digest gets no number")
            try require(second.rowCount, is: 2, "live rows are counted")
            let delta = try await feed.page(.delta(presentParts: [[]]), after: first.head, to: second.head)
            try require(keys(delta), is: ["b", "c-"], "the changes")
            try require(delta.rows.last?.removal, is: .deleted, "the reason")
            try require(keys(try await feed.page(.full, to: second.head)), is: ["a", "b"], "without removed rows")
            try require(
                keys(try await feed.page(.full, to: first.head)), is: ["a"],
                "a row that changed moves behind the end of a read")
        },
        Case("Pages follow each other by sequence number, and end at four megabytes (point 33)") { bench in
            let feed = try await makeFeed(bench)
            let head = try await feed.commit((0..<5).map { row("r\($0)") }).head
            var (seen, position): ([String], ChangeNumber) = ([], 0)
            while true {
                let page = try await feed.page(.full, after: position, to: head, limit: 2)
                seen += keys(page)
                position = page.position
                guard page.hasMore else { break }
            }
            try require(seen, is: ["r0", "r1", "r2", "r3", "r4"], "each row once")
            let large = [UInt8](repeating: 65, count: 3 << 20)
            let writes = (0..<3).map {
                FeedWrite(key: [UInt8($0)], digest: [UInt8](repeating: UInt8($0), count: 16), body: large)
            }
            let next = try await feed.commit(writes).head
            let page = try await feed.page(.full, after: head, to: next)
            try require(page.rows.count == 1 && page.hasMore, "one row of three megabytes")
        },
        Case("A witness is known by head and tag, also after a restore that gives numbers again (point 3)") { bench in
            let feed = try await makeFeed(bench)
            let head = try await feed.commit([row("a")])
            let witness = FeedWitness(head: head.head, tag: head.tag)
            let known = try await feed.page(.full, to: head.head, witness: witness)
            try require(known.isWitnessKnown, "the pair is known")
            let forged = FeedWitness(head: head.head, tag: head.tag &+ 1)
            try require(
                try await feed.page(.full, to: head.head, witness: forged).isWitnessKnown == false, "another tag")
        },
        Case("Floor, head and rows of a page are of one snapshot (point 5)") { bench in
            let feed = try await makeFeed(bench)
            let from = try await feed.commit([row("a"), row("b")]).head
            let head = try await feed.commit([removal("a")]).head
            bench.clock.advance(by: .seconds(100))
            try require(
                try await feed.store.prune(feed.feed.id, removedBefore: bench.clock.now, limit: 100), is: 1,
                "the tombstone goes")
            let page = try await feed.page(.delta(presentParts: [[]]), after: from, to: head)
            try require(page.feed.floor > from, "the page tells that its beginning was pruned")
        },
        Case("A removal is left out if another present part has the row (point 2a)") { bench in
            let feed = try await makeFeed(bench)
            let from = try await feed.commit([row("k", part: [1])]).head
            let head = try await feed.commit([removal("k", part: [1]), row("k", 2, part: [2])]).head
            let parts: [[UInt8]] = [[1], [2]]
            let one = try await feed.page(.delta(presentParts: parts), after: from, to: head, part: [1])
            let two = try await feed.page(.delta(presentParts: parts), after: from, to: head, part: [2])
            try require(keys(two) + keys(one), is: ["k"], "no removal follows the row")
            let narrow = try await feed.page(.delta(presentParts: [[1]]), after: from, to: head, part: [1])
            try require(keys(narrow), is: ["k-"], "who may not see the other part gets the removal")
        },
        Case("A part that is gone is sent as removals without an upper bound (point 2b)") { bench in
            let feed = try await makeFeed(bench)
            let from = try await feed.commit([row("a", part: [1]), row("b", part: [1]), row("b", part: [2])]).head
            _ = try await feed.commit([row("a", 2, part: [1])])
            let page = try await feed.page(
                .revoked(presentParts: [[2]], removedAfter: from), to: from, part: [1])
            try require(keys(page), is: ["a-"], "the edited row goes, the one in another part stays")
        },
        Case("A feed is found by the first 8 bytes of its key (point 15)") { bench in
            let feed = try await makeFeed(bench, key: 3)
            let prefix = [UInt8](repeating: 3, count: 8)
            try require(try await feed.store.feed(withPrefix: prefix)?.id, is: feed.feed.id, "by its prefix")
            try require(
                try await feed.store.feed(withPrefix: [UInt8](repeating: 4, count: 8)) == nil, "by no other")
            try require(try await feed.store.drop(feed.feed.id) == false, "a small feed goes at once")
            try require(try await feed.store.feed(withPrefix: prefix) == nil, "a dropped feed is not found")
            let again = try await makeFeed(bench, key: 3)
            try require(again.feed.id > feed.feed.id, "a number is not given again")
        },
        Case("Part sets are kept for 60 days after their last use") { bench in
            let store = bench.state.feeds
            let id = try await store.keepParts([[2], [1], [2]])
            try require(id.count, is: 8, "8 bytes (point 16)")
            try require(try await store.keepParts([[1], [2]]), is: id, "order does not matter")
            try require(try await store.parts(ofSet: id), is: [[1], [2]], "the parts")
            bench.clock.advance(by: .seconds(59 * 86_400))
            _ = try await store.keepParts([[1], [2]])
            bench.clock.advance(by: .seconds(59 * 86_400))
            try require(try await store.parts(ofSet: id), is: [[1], [2]], "a use keeps them")
            bench.clock.advance(by: .seconds(2 * 86_400))
            try require(try await store.parts(ofSet: id) == nil, "then they go")
        },
    ]

    static let feedWrites: [Case] = [
        Case("The time of the rows is the beginning of the read, not that of the commit") { bench in
            let feed = try await makeFeed(bench)
            let begin = bench.clock.now
            bench.clock.advance(by: .seconds(5))
            let head = try await feed.store.commit(
                RefreshBatch(feed: feed.feed.id, writes: [row("a")], readAt: begin), fence: feed.fence,
                claim: feed.claim)
            try require(head != nil, "the rows are stored")
            let stored = try unwrap(try await feed.store.feed(feed.feed.id), "the feed")
            try require(stored.checkedAt, is: begin, "the beginning")
            try require(stored.changedAt, is: bench.clock.now, "the commit")
        },
        Case("An old fence writes nothing") { bench in
            let feed = try await makeFeed(bench)
            bench.clock.advance(by: .seconds(31))
            let job = try unwrap(
                try await bench.state.jobs.claim([.refresh], limit: 1, lease: .seconds(30), owner: "b").first, "a job")
            let claim = try unwrap(try await feed.store.begin(feed.feed.id, fence: job.fence), "the new node begins")
            let late = try await feed.store.commit(
                RefreshBatch(feed: feed.feed.id, writes: [row("old")]), fence: feed.fence, claim: feed.claim)
            try require(late == nil, "the late node writes nothing")
            try require(try await feed.store.begin(feed.feed.id, fence: feed.fence) == nil, "nor does it begin again")
            let other = try await feed.store.commit(
                RefreshBatch(feed: feed.feed.id, writes: [row("x")]), fence: job.fence, claim: claim &+ 1)
            try require(other == nil, "a node with an equal fence and another name writes nothing")
            let head = try await feed.store.commit(
                RefreshBatch(feed: feed.feed.id, writes: [row("new")]), fence: job.fence, claim: claim)
            try require(head?.rowCount, is: 1, "the present node writes")
        },
        Case("A fence of an old incarnation writes nothing (point 14)") { bench in
            let feed = try await makeFeed(bench)
            _ = try await bench.state.beginIncarnation()
            let late = try await feed.store.commit(
                RefreshBatch(feed: feed.feed.id, writes: [row("old")]), fence: feed.fence, claim: feed.claim)
            try require(late == nil, "nothing was written")
        },
        Case("A new incarnation gives numbers above those before") { bench in
            let feed = try await makeFeed(bench)
            let before = try await feed.commit([row("a")])
            let incarnation = try await bench.state.beginIncarnation()
            bench.clock.advance(by: .seconds(31))
            let job = try unwrap(
                try await bench.state.jobs.claim([.refresh], limit: 1, lease: .seconds(30), owner: "b").first, "a job")
            let claim = try unwrap(try await feed.store.begin(feed.feed.id, fence: job.fence), "a new fence")
            let after = try unwrap(
                try await feed.store.commit(
                    RefreshBatch(feed: feed.feed.id, writes: [row("b")]), fence: job.fence, claim: claim), "a head")
            try require(after.head > before.head && after.head >> 32 == incarnation.number, "above the old head")
            try require(after.tag != before.tag, "with another tag")
        },
        Case("The last step of a refresh sets link and state, and an empty feed has a head") { bench in
            let feed = try await makeFeed(bench)
            let step = try await feed.commit([row("a")], isLast: false)
            try require(try await feed.store.feed(feed.feed.id)?.state, is: .filling, "not yet")
            let last = try await feed.commit([])
            try require(last.head, is: step.head, "without changes the head stays")
            let record = try unwrap(try await feed.store.feed(feed.feed.id), "the feed")
            try require(record.state, is: .active, "the feed is full")
            try require(record.link, is: [4, 2], "the link is stored")
            try require(record.checkedAt, is: bench.clock.now, "the time of the check is stored")
            let empty = try await makeFeed(bench, key: 9)
            let head = try await empty.commit([])
            try require(head.head > 0 && head.tag != 0, "an empty feed has a head with a tag")
        },
        Case("A frozen feed is not written, a suspended one stays suspended") { bench in
            let feed = try await makeFeed(bench)
            try await feed.commit([row("a")])
            _ = try await feed.store.setState(.suspended, note: "many rows are gone", feed: feed.feed.id)
            try await feed.commit([row("b")])
            let record = try await feed.store.feed(feed.feed.id)
            try require(record?.state, is: .suspended, "an operator decides")
            try require(record?.note, is: "many rows are gone", "with a reason")
            _ = try await feed.store.setState(.frozen, note: nil, feed: feed.feed.id)
            let late = try await feed.store.commit(
                RefreshBatch(feed: feed.feed.id, writes: [row("c")]), fence: feed.fence, claim: feed.claim)
            try require(late == nil, "a frozen feed keeps its head")
        },
        Case("Digests and parts are listed in order, without removed rows") { bench in
            let feed = try await makeFeed(bench)
            try await feed.commit([row("b", part: [2]), row("a", part: [1]), row("c", part: [1])])
            try await feed.commit([removal("c", part: [1])])
            let digests = try await feed.store.digests(of: feed.feed.id, part: [1], after: nil)
            try require(digests.map(\.key), is: [Array("a".utf8)], "live rows of the part")
            try require(
                try await feed.store.digests(of: feed.feed.id, part: [1], after: Array("a".utf8)), is: [],
                "behind a key")
            try require(try await feed.store.parts(of: feed.feed.id, after: nil), is: [[1], [2]], "the parts")
        },
        Case("Packed digests are replaced on their head alone") { bench in
            let record = FeedRecord(
                key: [UInt8](repeating: 8, count: 32), application: 1, destination: "d", query: "q", configuration: 1,
                visibility: .user, tracking: "compare")
            let store = bench.state.feeds
            let feed = try unwrap(try await store.feed(record.key, makingWith: record), "a feed is made")
            let chunk = PackedChunk(number: 0, rowCount: 3, data: [1, 2, 3])
            let head = try unwrap(
                try await store.commitPacked([chunk], feed: feed.id, head: 0, changed: 3, rowCount: 3), "a head")
            try require(try await store.packed(of: feed.id), is: [chunk], "the chunks")
            try require(
                try await store.commitPacked([], feed: feed.id, head: 0, changed: 1, rowCount: 0) == nil,
                "another request was first")
            let same = try await store.commitPacked([chunk], feed: feed.id, head: head.head, changed: 0, rowCount: 3)
            try require(same?.tag, is: head.tag, "without changes the head stays")
        },
    ]
}
