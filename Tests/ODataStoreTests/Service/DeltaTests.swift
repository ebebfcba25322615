import Foundation
import GRDB
import ODataModel
import ODataQuery
import ODataService
import Secrets
import Testing

@testable import ODataSQL
@testable import ODataStore

@Suite("A service on its own model: delta links")
struct DeltaTests {
    private var tracking: Preferences { Preferences(trackChanges: true) }

    private func track(_ bazaar: Bazaar, _ url: String, pageSize: Int? = nil) async throws -> EntityPage {
        try await bazaar.page(url, preferences: Preferences(maxPageSize: pageSize, trackChanges: true))
    }

    private func names(_ page: EntityPage) -> [String] {
        page.entities.compactMap { if case .string(let name)? = $0["Name"] { name } else { nil } }.sorted()
    }

    private func make(_ bazaar: Bazaar, _ names: [String]) async throws -> [String] {
        var ids: [String] = []
        for name in names {
            ids.append(try #require(try await bazaar.create("Products", #"{"Name":"\#(name)"}"#).control.id))
        }
        return ids
    }

    @Test("11.3 Requesting Changes: created, changed and deleted entities appear once in the next delta")
    func changes() async throws {
        let bazaar = try await Bazaar()
        let ids = try await make(bazaar, ["a", "b", "c"])
        let response = try await bazaar.send(.read, "Products", preferences: tracking)
        #expect(response.preferencesApplied.contains("track-changes"))
        guard case .page(let first) = response.body else { throw ODataError.notFound("page") }
        #expect(names(first) == ["a", "b", "c"])
        try await bazaar.send(.update, ids[0], #"{"Name":"A"}"#)
        try await bazaar.send(.delete, ids[1])
        _ = try await make(bazaar, ["d"])
        let gone = try await make(bazaar, ["e"])
        try await bazaar.send(.delete, gone[0])
        let delta = try await bazaar.follow(first.deltaLink)
        #expect(names(delta) == ["A", "d"])
        #expect(delta.removed.map(\.id) == [ids[1]])
        #expect(delta.removed.map(\.reason) == [.deleted])
        let empty = try await bazaar.follow(delta.deltaLink)
        #expect(empty.entities.isEmpty && empty.removed.isEmpty)
        #expect(empty.deltaLink != nil)
    }

    @Test("11.3 an edit on page 1 during the read of page 2 is in the first delta")
    func editsBetweenPages() async throws {
        let bazaar = try await Bazaar()
        let ids = try await make(bazaar, ["a", "b", "c", "d"])
        let one = try await track(bazaar, "Products?$orderby=Name", pageSize: 2)
        #expect(names(one) == ["a", "b"])
        #expect(one.deltaLink == nil)
        try await bazaar.send(.update, ids[0], #"{"Price":7}"#)
        try await bazaar.send(.delete, ids[1])
        let two = try await bazaar.follow(one.nextLink)
        #expect(names(two) == ["c", "d"])
        let delta = try await bazaar.follow(two.deltaLink)
        #expect(names(delta) == ["a"])
        #expect(delta.removed.map(\.id) == [ids[1]])
    }

    @Test("11.3 rows enter and leave a filtered result, with reason changed (rule 29)")
    func filters() async throws {
        let bazaar = try await Bazaar()
        let ids = try await make(bazaar, ["a", "b"])
        let first = try await track(bazaar, "Products?$filter=Price lt 5&$select=Name")
        try await bazaar.send(.update, ids[0], #"{"Price":7}"#)
        let left = try await bazaar.follow(first.deltaLink)
        #expect(names(left) == [])
        #expect(left.removed.map(\.id) == [ids[0]])
        #expect(left.removed.map(\.reason) == [.changed])
        try await bazaar.send(.update, ids[0], #"{"Price":2}"#)
        // An entity that was never in the result is not reported as removed.
        try await bazaar.create("Products", #"{"Name":"x","Price":50}"#)
        let entered = try await bazaar.follow(left.deltaLink)
        #expect(names(entered) == ["a"])
        #expect(entered.removed.isEmpty)
    }

    @Test("11.3.1 a change of other properties is not reported unless it changes an ETag")
    func projections() async throws {
        let bazaar = try await Bazaar()
        for id in 1...2 { try await bazaar.create("Orders", #"{"ID":\#(id),"Owner":"o","Margin":\#(id)}"#) }
        func ids(_ link: String?) async throws -> [ODataValue] {
            try await bazaar.follow(link).entities.compactMap { $0["ID"] }
        }
        let owners = try await track(bazaar, "Orders?$select=ID,Owner").deltaLink
        let filtered = try await track(bazaar, "Orders?$select=ID&$filter=Margin lt 9").deltaLink
        let computed = try await track(bazaar, "Orders?$select=ID,Twice&$compute=Margin mul 2 as Twice").deltaLink
        let expanded = try await track(bazaar, "Orders?$select=ID&$expand=Lines").deltaLink
        let whole = try await track(bazaar, "Orders").deltaLink
        try await bazaar.send(.update, "Orders(1)", #"{"Margin":3}"#)
        #expect(try await ids(owners) == [])
        #expect(try await ids(filtered) == [1])
        #expect(try await ids(computed) == [1])
        #expect(try await ids(expanded) == [])
        #expect(try await ids(whole) == [1])
        try await bazaar.send(.update, "Orders(2)", #"{"Owner":"p"}"#)
        #expect(try await ids(owners) == [2])
        #expect(try await ids(filtered) == [1])
        try await bazaar.create("Orders(2)/Lines", #"{"No":1}"#)
        #expect(try await ids(expanded) == [2])
        try await bazaar.send(.delete, "Orders(1)")
        #expect(try await bazaar.follow(owners).removed.map(\.id) == ["Orders(1)"])
        let products = try await make(bazaar, ["a"])
        let tagged = try await track(bazaar, "Products?$select=Name").deltaLink
        try await bazaar.send(.update, products[0], #"{"Price":3}"#)
        #expect(names(try await bazaar.follow(tagged)) == ["a"])
    }

    @Test("Columns beyond the sixty-second share a bit of the update record")
    func manyColumns() async throws {
        let properties = (0..<70).map { #"<Property Name="P\#($0)" Type="Edm.Int32"/>"# }.joined()
        let bazaar = try await Bazaar(replacing: [
            #"<Property Name="Margin" Type="Edm.Int32"/>"#: properties
        ])
        try await bazaar.create("Orders", #"{"ID":1}"#)
        let near = try await track(bazaar, "Orders?$select=P2").deltaLink
        let far = try await track(bazaar, "Orders?$select=P69").deltaLink
        try await bazaar.send(.update, "Orders(1)", #"{"P3":3}"#)
        #expect(try await bazaar.follow(near).entities.isEmpty)
        #expect(try await bazaar.follow(far).entities.isEmpty)
        try await bazaar.send(.update, "Orders(1)", #"{"P69":3}"#)
        #expect(try await bazaar.follow(near).entities.isEmpty)
        #expect(try await bazaar.follow(far).entities.count == 1)
    }

    @Test("11.3 changes of a related row move rows in and out of a result (rule 29)")
    func relatedRows() async throws {
        let bazaar = try await Bazaar()
        try await bazaar.create("Categories", #"{"Name":"Kitchen","Products":[{"Name":"Mug"}]}"#)
        try await bazaar.create("Categories", #"{"Name":"Office","Products":[{"Name":"Pen"}]}"#)
        let byName = try await track(bazaar, "Products?$filter=Category/Name eq 'Kitchen'")
        #expect(names(byName) == ["Mug"])
        let byMember = try await track(bazaar, "Categories?$filter=Products/any(p:p/Name eq 'Mug')")
        #expect(names(byMember) == ["Kitchen"])
        // The category changes; its products do not.
        try await bazaar.send(.update, "Categories(1)", #"{"Name":"Cuisine"}"#)
        try await bazaar.send(.update, "Categories(2)", #"{"Name":"Kitchen"}"#)
        let moved = try await bazaar.follow(byName.deltaLink)
        #expect(names(moved) == ["Pen"])
        #expect(moved.removed.map(\.reason) == [.changed])
        // The product moves. Both categories are affected; the log contains the previous one.
        let mug = try #require(try await bazaar.page("Products?$filter=Name eq 'Mug'").entities.first?.control.id)
        try await bazaar.send(.update, mug, #"{"CategoryID":2}"#)
        let members = try await bazaar.follow(byMember.deltaLink)
        #expect(names(members) == ["Kitchen"])
        #expect(members.entities.map { $0["ID"] } == [2])
        #expect(members.removed.map(\.id) == ["Categories(1)"])
        try await bazaar.send(.delete, mug)
        let after = try await bazaar.follow(members.deltaLink)
        #expect(after.removed.map(\.id) == ["Categories(2)"])
    }

    @Test("11.3 a change in an expanded entity is a change of the result")
    func expands() async throws {
        let bazaar = try await Bazaar()
        let ids = try await make(bazaar, ["a", "b", "c"])
        try await bazaar.send(.create, "\(ids[0])/Related/$ref", #"{"id":"\#(ids[1])"}"#)
        let first = try await track(bazaar, "Products?$expand=Texts,Related($select=Name)&$filter=Name ne 'b'")
        try await bazaar.send(.update, ids[1], #"{"Price":3}"#)
        let related = try await bazaar.follow(first.deltaLink)
        #expect(names(related) == ["a"])
        try await bazaar.send(.delete, "\(ids[0])/Related/$ref?$id=\(ids[1])")
        let unlinked = try await bazaar.follow(related.deltaLink)
        guard case .many(let none, _, _)? = unlinked.entities.first?.related["Related"] else {
            throw ODataError.notFound("Related")
        }
        #expect(none.isEmpty)
        try await bazaar.send(.update, ids[2], #"{"Texts@delta":[{"Language":"EN","Text":"x"}]}"#)
        #expect(names(try await bazaar.follow(unlinked.deltaLink)) == ["c"])
    }

    @Test("11.3 the members of an entity's collection are tracked like a set")
    func navigation() async throws {
        let bazaar = try await Bazaar()
        let ids = try await make(bazaar, ["a", "b"])
        try await bazaar.create("Categories", #"{"Name":"Kitchen"}"#)
        let byKey = try await track(bazaar, "Categories(1)/Products")
        let byLink = try await track(bazaar, "\(ids[0])/Related")
        try await bazaar.send(.update, ids[1], #"{"CategoryID":1}"#)
        try await bazaar.send(.create, "\(ids[0])/Related/$ref", #"{"id":"\#(ids[1])"}"#)
        #expect(names(try await bazaar.follow(byKey.deltaLink)) == ["b"])
        let linked = try await bazaar.follow(byLink.deltaLink)
        #expect(names(linked) == ["b"])
        try await bazaar.send(.delete, "\(ids[0])/Related/$ref?$id=\(ids[1])")
        #expect(try await bazaar.follow(linked.deltaLink).removed.map(\.id) == [ids[1]])
    }

    @Test("11.3 deltas come in pages, and later changes are in the next delta")
    func pages() async throws {
        let bazaar = try await Bazaar()
        let first = try await track(bazaar, "Products")
        _ = try await make(bazaar, ["a", "b", "c"])
        let size = Preferences(maxPageSize: 2)
        let one = try await bazaar.follow(first.deltaLink, preferences: size)
        #expect(one.entities.count == 2)
        #expect(one.deltaLink == nil)
        _ = try await make(bazaar, ["d"])
        let two = try await bazaar.follow(one.nextLink, preferences: size)
        #expect(names(two) == ["c"])
        #expect(names(try await bazaar.follow(two.deltaLink)) == ["d"])
    }

    @Test("11.3.2 the number of changes, and $deltatoken=latest")
    func countAndLatest() async throws {
        let bazaar = try await Bazaar()
        let ids = try await make(bazaar, ["a", "b"])
        let latest = try await bazaar.page("Products?$deltatoken=latest")
        #expect(latest.entities.isEmpty)
        let link = try #require(latest.deltaLink)
        try await bazaar.send(.delete, ids[0])
        _ = try await make(bazaar, ["c"])
        let counting = link.replacingOccurrences(of: "Products?", with: "Products/$count?")
        guard case .count(let count) = try await bazaar.service.execute(ODataRequest(following: counting)).body else {
            throw ODataError.notFound("count")
        }
        #expect(count == 2)
        #expect(names(try await bazaar.follow(link)) == ["c"])
    }

    @Test("8.2.8.6 a query that cannot be tracked gets no Preference-Applied (rule 29)")
    func untrackable() async throws {
        let bazaar = try await Bazaar()
        for url in [
            "Products?$top=1", "Products?$skip=1", "Products?$filter=CreatedAt lt now()",
            "Products?$apply=aggregate($count as n)", "Products?$expand=Related($filter=CreatedAt lt now())",
        ] {
            let response = try await bazaar.send(.read, url, preferences: tracking)
            #expect(!response.preferencesApplied.contains("track-changes"), "\(url)")
        }
    }

    @Test("11.3 a delta link is valid for its query, for thirty days and for one state of the data (rule 29)")
    func expiry() async throws {
        let bazaar = try await Bazaar()
        let ids = try await make(bazaar, ["a"])
        let link = try #require(try await track(bazaar, "Products").deltaLink)
        let other = link.replacingOccurrences(of: "Products?", with: "Categories?")
        #expect(await status(bazaar, other) == 400)
        #expect(await status(bazaar, "Products?$deltatoken=~nonsense") == 400)
        try await bazaar.send(.delete, ids[0])
        #expect(await status(bazaar, link) == 200)
        bazaar.clock.advance(by: 31 * 86_400)
        #expect(await status(bazaar, link) == 410)
        // 11.3.2: the Location header has the URL for a new full read.
        let refusal = try #require(try await bazaar.refusal(.read, link))
        #expect(refusal.headers["Location"] == "Products")
    }

    @Test("The change log is limited, with or without readers")
    func logIsForgotten() async throws {
        let bazaar = try await Bazaar()
        try await bazaar.create("Categories", #"{"Name":"Kitchen"}"#)
        bazaar.clock.advance(by: 31 * 86_400)
        for number in 0..<StoreService.changesBetweenCleanups {
            try await bazaar.send(.update, "Categories(1)", #"{"Name":"n\#(number)"}"#)
        }
        let oldest = try await bazaar.service.database.read {
            try Int64.fetchOne($0, sql: "SELECT min(at) FROM outpost_change")
        }
        #expect(oldest == bazaar.clock.now.seconds)
    }

    private func status(_ bazaar: Bazaar, _ link: String) async -> Int {
        do {
            return try await bazaar.service.execute(ODataRequest(following: link)).status
        } catch {
            return (error as? ODataError)?.status ?? 0
        }
    }

    @Test("11.3 delta links survive a restart of the service")
    func restart() async throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("outpost-\(ODataGuid.random()).db")
            .path
        defer {
            for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + suffix) }
        }
        let key = EncryptionKey.generate()
        let first = try await Bazaar(at: .file(path, .encrypted(.key(key))))
        #expect(first.service.isNew)
        let ids = try await make(first, ["a", "b"])
        let link = try await track(first, "Products").deltaLink
        try await first.send(.delete, ids[0])
        try await first.service.close()
        let second = try await Bazaar(at: .file(path, .encrypted(.key(key))))
        #expect(!second.service.isNew)
        try await second.send(.update, ids[1], #"{"Price":3}"#)
        let delta = try await second.follow(link)
        #expect(names(delta) == ["b"])
        #expect(delta.removed.map(\.id) == [ids[0]])
        try await second.service.close()
        await #expect(throws: StoreError.self) {
            try await Bazaar(at: .file(path, .encrypted(.key(key)))) { $0.unique("Products", "Name") }
        }
    }

    @Test("The cost of a delta depends on the changes, not on the size of the set")
    func cost() async throws {
        let bazaar = try await Bazaar()
        let rows = (0..<3000).map { #"{"ID":\#($0 + 1),"Name":"n\#($0)"}"# }.joined(separator: ",")
        try await bazaar.service.seed(json: Array(#"{"Categories":[\#(rows)]}"#.utf8))
        let link = try #require(try await bazaar.page("Categories?$deltatoken=latest").deltaLink)
        try await bazaar.send(.update, "Categories(7)", #"{"Name":"x"}"#)
        let service = bazaar.service
        let bound = try service.core.bind(ODataURL(parsing: "Categories"))
        let query = try #require(try TrackedQuery(bound, core: service.core, principal: nil))
        let plan = try await service.database.read { database in
            try Row.fetchAll(
                database,
                sql:
                    "EXPLAIN QUERY PLAN SELECT row_id FROM outpost_change WHERE name = ? AND version > ? AND version <= ?",
                arguments: ["Categories", 1, 2]
            ).map { $0["detail"] as String }
        }
        #expect(plan.allSatisfy { $0.hasPrefix("SEARCH") })
        #expect(query.root.related.isEmpty)
        #expect(names(try await bazaar.follow(link)) == ["x"])
    }
}
