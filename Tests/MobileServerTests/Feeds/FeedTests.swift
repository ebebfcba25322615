import Foundation
import ODataService
import ServerState
import Testing

@testable import MobileServer

@Suite("Feeds of a destination")
struct FeedTests {
    private static let tracking = ["Prefer": "odata.track-changes", "Accept": "application/json"]

    /// Reads all pages from a URL.
    private func read(
        _ url: String, pageSize: Int? = nil
    ) async throws -> (rows: [[String: Any]], delta: String, pages: Int) {
        var rows: [[String: Any]] = []
        var next = url
        var fields = Self.tracking
        if let pageSize { fields["Prefer"] = "odata.track-changes, odata.maxpagesize=\(pageSize)" }
        for number in 1...1000 {
            let answer = try await Wire.send("GET", next, fields)
            guard answer.status == 200 else {
                throw ODataError(status: answer.status, code: answer.code ?? "", message: answer.reason ?? answer.text)
            }
            rows += answer.rows
            if let delta = answer.json["@odata.deltaLink"] as? String { return (rows, delta, number) }
            next = try #require(answer.json["@odata.nextLink"] as? String, "\(answer.text.prefix(500))")
        }
        throw ODataError(status: 500, code: "Test", message: "too many pages")
    }

    /// Returns a URL with another token.
    private func replacingToken(of url: String, by change: (FeedToken) -> FeedToken, _ keys: ServerKeys) throws
        -> String
    {
        let start = try #require(url.range(of: "token="))
        let token = String(url[start.upperBound...].prefix { $0 != "&" })
        return url.replacing(token, with: change(try FeedToken(token, keys)).text(keys))
    }

    @Test("A change at a back end without delta links appears in the next delta")
    func delta() async throws {
        try await ShopBackEnd.run { site, backEnd in
            let first = try await read(site.url + "Products")
            #expect(first.rows.count == 3)
            #expect(first.delta.hasPrefix(site.url + "Products?$deltatoken="))
            #expect(Set(first.rows.compactMap { $0["Name"] as? String }) == ["Product 1", "Product 2", "Product 3"])
            #expect(try await read(first.delta).rows.isEmpty)

            try await backEnd.send("PATCH", "Products(2)", "{\"Name\": \"Changed\"}")
            try await backEnd.send("DELETE", "Products(3)")
            try await backEnd.send("POST", "Products", "{\"ID\": 9, \"Name\": \"New\", \"Price\": 1}")
            try await site.refresh()
            let second = try await read(first.delta)
            #expect(second.rows.count == 3)
            #expect(Set(second.rows.compactMap { $0["Name"] as? String }) == ["Changed", "New"])
            #expect(
                second.rows.contains { $0["@odata.removed"] != nil || $0["@removed"] != nil || $0["reason"] != nil })
            #expect(try await read(second.delta).rows.isEmpty)
            // The old link still tells the same.
            #expect(try await read(first.delta).rows.count == 3)
        }
    }

    @Test("Many readers cost one read of the back end")
    func singleFlight() async throws {
        try await ShopBackEnd.run(rows: 40) { site, backEnd in
            try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<20 { group.addTask { try await self.read(site.url + "Products").rows.count } }
                for try await count in group { #expect(count == 40) }
            }
            // Readers that came while the feed was read asked for no second read.
            try await Task.sleep(for: .milliseconds(300))
            #expect(backEnd.requests.count { $0.hasPrefix("GET /Products") } == 1)
        }
    }

    @Test("Rows are as old as the beginning of their read, so that a slow read hides no change")
    func slowRead() async throws {
        try await ShopBackEnd.run { configuration in
            configuration.destinations["shop"]?.queries["products"]?.maxStale = .milliseconds(300)
        } _: { site, backEnd in
            let first = try await read(site.url + "Products")
            let before = try #require(try await site.feed())
            backEnd.delayReads(by: .milliseconds(900))
            try await site.part.refresher.demand(before)
            // The back end has read its rows, and the response is on its way.
            try await Task.sleep(for: .milliseconds(400))
            try await backEnd.send("PATCH", "Products(2)", "{\"Name\": \"Changed\"}")
            for _ in 0..<500 where try await site.feed()?.checkedAt == before.checkedAt {
                try await Task.sleep(for: .milliseconds(10))
            }
            #expect(try await read(first.delta).rows.compactMap { $0["Name"] as? String } == ["Changed"])
        }
    }

    @Test("Full reads and deltas have pages, and a change between two pages appears in the next delta")
    func pages() async throws {
        try await ShopBackEnd.run(rows: 25) { site, backEnd in
            let fields = ["Prefer": "odata.track-changes, odata.maxpagesize=10"]
            let page = try await Wire.send("GET", site.url + "Products", fields)
            #expect(page.rows.count == 10)
            let next = try #require(page.json["@odata.nextLink"] as? String)
            try await backEnd.send("PATCH", "Products(25)", "{\"Name\": \"Moved\"}")
            try await site.refresh()
            let rest = try await read(next, pageSize: 10)
            #expect(rest.rows.count == 14)
            let delta = try await read(rest.delta)
            #expect(delta.rows.compactMap { $0["Name"] as? String } == ["Moved"])
        }
    }

    @Test("If the back end has delta links, the feed uses them")
    func link() async throws {
        try await ShopBackEnd.run(ShopBackEnd.Ability(hasDeltaLinks: true)) { site, backEnd in
            let first = try await read(site.url + "Products")
            #expect(try await site.feed()?.link != nil)
            try await backEnd.send("PATCH", "Products(2)", "{\"Name\": \"Changed\"}")
            try await backEnd.send("DELETE", "Products(1)")
            try await site.refresh()
            let second = try await read(first.delta)
            #expect(second.rows.count == 2)
            #expect(backEnd.requests.contains { $0.contains("deltatoken") })
            #expect(backEnd.requests.count { $0 == "GET /Products" } == 1)
        }
    }

    @Test("A query without a feed is forwarded to the back end")
    func others() async throws {
        try await ShopBackEnd.run { site, backEnd in
            let answer = try await Wire.send("GET", site.url + "Products?$filter=ID%20eq%202", Self.tracking)
            #expect(answer.rows.count == 1)
            #expect(answer.json["@odata.deltaLink"] == nil)
            #expect(try await site.feed() == nil)
            #expect(backEnd.requests.contains { $0.contains("$filter=ID%20eq%202") })
            let plain = try await Wire.send("GET", site.url + "Products")
            #expect(plain.rows.count == 3 && plain.json["@odata.deltaLink"] == nil)
        }
    }

    // MARK: Checks of the token

    @Test("A token with a different witness tag is refused with 410 reason fork (review, 3)")
    func fork() async throws {
        let keys = ServerKeys.generate()
        try await run(keys) { site, backEnd in
            let first = try await read(site.url + "Products")
            let forked = try replacingToken(
                of: first.delta,
                by: { token in
                    var token = token
                    token.witness.tag ^= 1
                    return token
                }, keys)
            try await expectGone(forked, "fork")
            let later = try replacingToken(
                of: first.delta,
                by: { token in
                    var token = token
                    token.witness.head += 1
                    return token
                }, keys)
            try await expectGone(later, "fork")
            #expect(try await read(first.delta).rows.isEmpty)
        }
    }

    @Test(
        "A token of another feed, an expired one and an invalid one are refused with 410 (review, 13 and 15)"
    )
    func otherTokens() async throws {
        let keys = ServerKeys.generate()
        try await run(keys) { site, _ in
            let first = try await read(site.url + "Products")
            try await expectGone(
                try replacingToken(
                    of: first.delta,
                    by: { token in
                        var token = token
                        token.feed[0] ^= 1
                        return token
                    }, keys), "feed")
            try await expectGone(
                try replacingToken(
                    of: first.delta,
                    by: { token in
                        var token = token
                        token.expires = ServerInstant(rawValue: 1)
                        return token
                    }, keys), "expired")
            let forged = first.delta.replacing("deltatoken=A", with: "deltatoken=B")
            try await expectGone(forged, "expired")
            let syntax = try await Wire.send("GET", site.url + "Products?$deltatoken=!")
            #expect(syntax.status == 400 || syntax.status == 410)
        }
    }

    @Test("A delta link older than pruned removals is refused with 410 reason pruned (review, 5)")
    func pruned() async throws {
        try await ShopBackEnd.run { site, backEnd in
            let first = try await read(site.url + "Products")
            try await backEnd.send("DELETE", "Products(3)")
            try await site.refresh()
            let second = try await read(first.delta)
            let feed = try #require(try await site.feed())
            let moment = ServerInstant.current() + .seconds(60)
            let pruned = try await site.state.feeds.prune(feed.id, removedBefore: moment, limit: 100)
            #expect(pruned == 1)
            try await expectGone(first.delta, "pruned")
            #expect(try await read(second.delta).rows.isEmpty)
        }
    }

    @Test("A next link of another incarnation starts again, and a delta link continues")
    func restarted() async throws {
        try await ShopBackEnd.run(rows: 25) { site, backEnd in
            let first = try await read(site.url + "Products")
            let page = try await Wire.send(
                "GET", site.url + "Products", ["Prefer": "odata.track-changes, odata.maxpagesize=10"])
            let next = try #require(page.json["@odata.nextLink"] as? String)
            _ = try await site.state.beginIncarnation()
            try await expectGone(next, "restarted")
            try await backEnd.send("PATCH", "Products(2)", "{\"Name\": \"Changed\"}")
            try await site.refresh()
            #expect(try await read(first.delta).rows.count == 1)
        }
    }

    // MARK: Suspicious reads

    @Test("A refresh that would remove many rows suspends the feed until an operator resumes it")
    func guardOfRemovals() async throws {
        try await ShopBackEnd.run(ShopBackEnd.Ability(pageSize: 1000), rows: 300) { site, backEnd in
            let first = try await read(site.url + "Products")
            for id in 1...150 { try await backEnd.send("DELETE", "Products(\(id))") }
            try await site.refresh()
            let feed = try #require(try await site.feed())
            #expect(feed.state == .suspended)
            #expect(feed.note?.contains("150 of 300") == true)
            #expect(try await read(first.delta).rows.isEmpty)
            #expect(try await read(site.url + "Products").rows.count == 300)

            let commands = FeedCommands(destinations: site.part)
            await #expect(throws: FeedCommandError.self) { try await commands.refresh(feed.id) }
            try await commands.resume(feed.id)
            for _ in 0..<200 where try await site.feed()?.rowCount != 150 {
                try await Task.sleep(for: .milliseconds(20))
            }
            #expect(try await read(first.delta).rows.count == 150)
            #expect(try await commands.list(application: "shop").first?.rows == 150)
        }
    }

    @Test("If the back end fails, the feed stays as it is, and readers wait or get an error")
    func failure() async throws {
        try await ShopBackEnd.run { site, backEnd in
            let first = try await read(site.url + "Products")
            backEnd.refuse(with: 500)
            let feed = try #require(try await site.feed())
            try await site.part.refresher.demand(feed)
            try await Task.sleep(for: .milliseconds(200))
            #expect(try await read(first.delta).rows.isEmpty)
            #expect(try await site.feed()?.rowCount == 3)
            #expect(try await site.feed()?.state == .active)
        }
    }

    @Test("A worker with an old fence writes nothing (review, 14)")
    func fence() async throws {
        try await ShopBackEnd.run { site, _ in
            _ = try await read(site.url + "Products")
            let feed = try #require(try await site.feed())
            let claim = try #require(try await site.state.feeds.begin(feed.id, fence: feed.fence + 2))
            #expect(try await site.state.feeds.begin(feed.id, fence: feed.fence + 1) == nil)
            let batch = RefreshBatch(
                feed: feed.id, writes: [FeedWrite(key: Array("Products(1)".utf8), digest: [], body: nil)])
            #expect(try await site.state.feeds.commit(batch, fence: feed.fence + 1, claim: claim) == nil)
            // A restored database may give a fence again, but not the name of the claim.
            #expect(try await site.state.feeds.commit(batch, fence: feed.fence + 2, claim: claim ^ 1) == nil)
            #expect(try await read(site.url + "Products").rows.count == 3)
        }
    }

    @Test("A shared feed stays active if two users see the same rows")
    func checkShared() async throws {
        try await ShopBackEnd.run { site, _ in
            _ = try await read(site.url + "Products")
            let feed = try #require(try await site.feed())
            let commands = FeedCommands(destinations: site.part)
            #expect(try await commands.checkShared(feed.id, as: [.init("Basic YQ=="), .init("Basic Yg==")]))
            #expect(try await site.feed()?.state == .active)
        }
    }

    // MARK: Metadata and V2

    @Test("The metadata announce delta links and repeatable requests that the server adds")
    func metadata() async throws {
        try await ShopBackEnd.run { site, _ in
            let text = try await Wire.send("GET", site.url + "$metadata", ["Accept": "application/xml"]).text
            #expect(text.contains("Org.OData.Repeatability.V1.Supported"))
            #expect(text.contains("Target=\"Shop.Container/Products\""))
        }
    }

    @Test("A back end of OData 2.0 gets delta links")
    func v2() async throws {
        try await ShopBackEnd.run(isV2: true) { site, backEnd in
            func page(_ url: String) async throws -> (results: [[String: Any]], delta: String) {
                let answer = try await Wire.send("GET", url, Self.tracking)
                let body = try #require(
                    answer.json["d"] as? [String: Any], "\(answer.status) \(answer.text.prefix(500))")
                return (
                    body["results"] as? [[String: Any]] ?? [],
                    try #require(body["__delta"] as? String, "\(answer.text)")
                )
            }
            let first = try await page(site.url + "Products")
            #expect(first.results.count == 3)
            #expect(first.delta.contains("!deltatoken=") || first.delta.contains("%21deltatoken="))
            try await backEnd.send("PATCH", "Products(2)", "{\"Name\": \"Changed\"}")
            try await site.refresh()
            let second = try await page(first.delta)
            #expect(second.results.compactMap { $0["Name"] as? String } == ["Changed"])
        }
    }

    // MARK: Helpers

    private func run(
        _ keys: ServerKeys, _ body: (DestinationSite, ShopBackEnd) async throws -> Void
    ) async throws {
        let backEnd = try await ShopBackEnd()
        try await DestinationSite.run(backEnd.url, keys: keys) { configuration in
            var shared = QueryConfiguration("Products")
            shared.visibility = .shared
            configuration.destinations["shop"]?.queries["products"] = shared
        } _: {
            try await body($0, backEnd)
        }
        try await backEnd.stop()
    }

    private func expectGone(_ url: String, _ reason: String, _ location: SourceLocation = #_sourceLocation) async throws
    {
        let answer = try await Wire.send("GET", url, Self.tracking)
        #expect(answer.status == 410, "\(answer.text)", sourceLocation: location)
        #expect(answer.code == "DeltaTokenExpired", sourceLocation: location)
        #expect(answer.reason == reason, sourceLocation: location)
    }
}
