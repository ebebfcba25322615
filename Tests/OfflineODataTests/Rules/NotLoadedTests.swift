import Foundation
import ODataClient
import ODataHTTP
import ODataModel
import ODataQuery
import ODataService
import OfflineOData
import Testing

@Suite("Rule 12: a read outside of all queries is refused by name")
struct NotLoadedTests {
    /// A missing part, and the query that would load it.
    private struct Refusal: Equatable {
        var name: String?
        var query: String?
    }

    /// Returns the refusal of a read; `nil` if the read succeeds.
    private func refusal(
        _ provider: any ODataProvider, _ query: String
    ) async throws -> Refusal? {
        do {
            _ = try await provider.execute(ODataRequest(.read, try ODataURL(parsing: query)))
            return nil
        } catch let error as ODataError where error.isNotLoaded {
            #expect(error.status == 501)
            if let query = error.definingQuery { #expect(error.message.contains(query)) }
            return Refusal(name: error.target, query: error.definingQuery)
        }
    }

    @Test(
        "a contained collection, everywhere in a query",
        arguments: [
            "Albums?$expand=Pages", "Albums(1)?$expand=Pages", "Albums(1)/Pages", "Albums(1)/Pages(1)",
            "Albums(1)/Pages/$count", "Albums(1)/Pages(1)/Title", "Albums?$filter=Pages/any()",
            "Albums?$filter=Pages/any(p:p/Number eq 1)", "Albums?$filter=Pages/all(p:p/Number eq 1)",
            "Albums?$filter=Pages/$count gt 0", "Albums?$orderby=Pages/$count", "Albums?$expand=Pages/$count",
            "Albums/$count?$filter=Pages/any()", "Albums?$compute=Pages/$count as Size&$select=Size",
            "Albums?$apply=filter(Pages/any())", "Albums?$apply=aggregate(Pages/$count as Size)",
            "Albums?$apply=groupby((Name),aggregate(Pages/Number with sum as Sum))", "Albums?$expand=Pages/$ref",
            "Tags?$expand=Albums($expand=Pages)", "Tags?$filter=Albums/any(a:a/Pages/any())",
            "Notes?$filter=Album/Pages/any()",
        ])
    func contained(query: String) async throws {
        let studio = try await Studio()
        let store = try await studio.clone([
            try DefiningQuery("a", "Albums?$expand=Tags"), try DefiningQuery("t", "Tags"),
            try DefiningQuery("n", "Notes"),
        ])
        let refused = try await refusal(store, query)
        #expect(refused?.name == "Albums/Pages")
        #expect(refused?.query == "Albums?$expand=Pages")
        try await store.queries.add(DefiningQuery("p", "Albums?$expand=Pages"))
        try await store.download()
        #expect(try await refusal(store, query) == nil)
    }

    @Test(
        "a relation without a foreign key, from both ends",
        arguments: [
            ("Albums?$expand=Tags", "Albums/Tags"), ("Albums(1)/Tags", "Albums/Tags"),
            ("Tags(1)/Albums", "Tags/Albums"),
            ("Albums(1)/Tags/$ref", "Albums/Tags"), ("Tags?$filter=Albums/any(a:a/ID eq 1)", "Tags/Albums"),
            ("Albums?$filter=Tags/any(t:t/Name eq 'red')", "Albums/Tags"),
            ("Albums?$orderby=Tags/$count", "Albums/Tags"),
        ])
    func relation(query: String, name: String) async throws {
        let studio = try await Studio()
        let store = try await studio.clone([try DefiningQuery("a", "Albums"), try DefiningQuery("t", "Tags")])
        #expect(try await refusal(store, query)?.name == name)
        try await store.queries.add(DefiningQuery("b", "Albums?$expand=Tags($select=ID)"))
        try await store.download()
        #expect(try await refusal(store, query) == nil, "a link table tells both directions")
        #expect(try await store.rows("Tags?$filter=Albums/any()").count == 2)
    }

    @Test("a set, a singleton, and an entity of a set")
    func sets() async throws {
        let studio = try await Studio()
        try await studio.service.seed(json: Array(#"{"Me": {"Owner": "Ada"}}"#.utf8))
        let store = try await studio.clone([try DefiningQuery("t", "Tags?$filter=ID eq 1")])
        for query in ["Notes", "Notes/$count", "Notes(1)", "Notes(1)/Text", "Notes?$filter=ID eq 1", "Notes(1)/Album"] {
            #expect(try await refusal(store, query)?.name == "Notes", "\(query)")
        }
        for query in ["Me", "Me/Owner"] { #expect(try await refusal(store, query)?.query == "Me", "\(query)") }
        #expect(try await refusal(store, "Tags?$filter=$root/Notes(1)/Text eq Name")?.name == "Notes")
        #expect(try await refusal(store, "$crossjoin(Tags,Notes)")?.name == "Notes")
        let service = DataService(store)
        await #expect(throws: ODataError.self) { try await service.entity("Notes", key: ODataValue.integer(1)) }
        #expect(
            try await service.entity("Tags", key: ODataValue.integer(2)) == nil,
            "of a query with a filter, all is here that it says")
        #expect(try await store.rows("Tags").count == 1)
        let change = ODataRequest(.delete, try ODataURL(parsing: "Notes(1)"))
        let error = await #expect(throws: ODataError.self) { try await store.execute(change) }
        #expect(error?.isNotLoaded == true, "it may be there")
    }

    @Test("a null foreign key needs no other row, and a local entity is not missing")
    func foreignKeys() async throws {
        let journeys = try await Journeys()
        let store = try await journeys.clone(["p": "People"])
        #expect(try await refusal(store, "People?$expand=HomeAirport")?.query == "Airports")
        #expect(try await refusal(store, "People('ann')/HomeAirport")?.name == "People/HomeAirport")
        #expect(try await refusal(store, "People?$filter=HomeAirport eq null")?.name == "People/HomeAirport")
        #expect(try await refusal(store, "People?$orderby=HomeAirport/Code")?.name == "People/HomeAirport")
        #expect(try await refusal(store, "People('cid')?$expand=HomeAirport") == nil, "it has none")
        #expect(try await refusal(store, "People?$filter=Home eq null&$expand=HomeAirport") == nil)
        try await store.queries.add(DefiningQuery("a", "Airports"))
        try await store.download()
        #expect(try await store.rows("People?$filter=HomeAirport eq null").map { $0["Name"] } == ["cid"])
    }

    @Test("the other end of a foreign key, if no query reads the set")
    func dependents() async throws {
        let studio = try await Studio()
        let store = try await studio.clone([try DefiningQuery("a", "Albums")])
        #expect(try await refusal(store, "Albums?$expand=Notes")?.query == "Notes")
        #expect(try await refusal(store, "Albums?$filter=Notes/any()")?.name == "Albums/Notes")
        try await store.queries.add(DefiningQuery("n", "Notes?$filter=ID gt 100"))
        try await store.download()
        #expect(
            try await refusal(store, "Albums?$expand=Notes") == nil, "a part of a set is held as far as its query says")
    }

    @Test("relations are held for the rows of the query that expands them")
    func byRow() async throws {
        let studio = try await Studio()
        let store = try await studio.clone([
            try DefiningQuery("one", "Albums?$filter=ID eq 1&$expand=Tags,Pages"), try DefiningQuery("all", "Albums"),
        ])
        for relation in ["Tags", "Pages"] {
            #expect(try await refusal(store, "Albums(1)/\(relation)") == nil)
            #expect(try await refusal(store, "Albums?$filter=ID eq 1&$expand=\(relation)") == nil)
            #expect(try await refusal(store, "Albums(2)/\(relation)")?.name == "Albums/\(relation)")
            #expect(try await refusal(store, "Albums?$expand=\(relation)")?.name == "Albums/\(relation)")
            #expect(try await refusal(store, "Albums?$filter=\(relation)/any()")?.name == "Albums/\(relation)")
        }
        try await store.queries.remove("one")
        #expect(try await refusal(store, "Albums(1)/Tags")?.name == "Albums/Tags")
    }

    @Test("the friends of a person who was downloaded without friends")
    func friends() async throws {
        let journeys = try await Journeys()
        let store = try await journeys.clone(["ann": "People?$filter=Name eq 'ann'&$expand=Friends"])
        #expect(try await store.rows("People('ann')/Friends").map { $0["Name"] } == ["bob"])
        #expect(try await refusal(store, "People('bob')/Friends")?.query == "People?$expand=Friends")
        #expect(try await refusal(store, "People?$expand=Friends")?.name == "People/Friends")
        #expect(try await refusal(store, "People('ann')?$expand=Friends($expand=Friends)")?.name == "People/Friends")
        // With all people in a query, the friends of each person are known.
        try await journeys.service.link("People('bob')/Friends", to: "People('ann')")
        let all = try await journeys.clone(["all": "People?$expand=Friends"])
        #expect(try await all.rows("People('bob')/Friends").count == 2)
    }

    @Test("the relations of a local creation are known until a download has brought it")
    func local() async throws {
        let studio = try await Studio()
        let store = try await studio.clone([try DefiningQuery("a", "Albums")])
        let album = try #require(try await store.create("Albums", ["Name": "Mine"]))
        guard case .integer(let id)? = album["ID"] else { throw ODataError.notFound("ID") }
        for query in ["Albums(\(id))/Pages", "Albums(\(id))?$expand=Tags,Notes", "Albums(\(id))/Cover"] {
            #expect(try await refusal(store, query) == nil, "\(query)")
        }
        #expect(try await refusal(store, "Albums?$expand=Pages")?.name == "Albums/Pages", "others are not known")
        try await store.create("Notes", ["AlbumID": 2, "Text": "mine"])
        #expect(try await store.rows("Notes").count == 1, "a set of which there is only what was made here")
        #expect(try await refusal(store, "Notes(77)")?.name == "Notes")
        #expect(try await refusal(store, "Albums(2)/Notes")?.name == "Albums/Notes")
        _ = try await store.sync()
        #expect(try await refusal(store, "Notes")?.name == "Notes")
    }

    @Test("a stream and a property have the same error")
    func values() async throws {
        let studio = try await Studio()
        let store = try await studio.clone([try DefiningQuery("p", "Pictures?$select=ID")])
        #expect(try await refusal(store, "Pictures(1)/$value")?.name == "Pictures(1)/$value")
        #expect(try await refusal(store, "Pictures(1)/Title")?.query == "Pictures?$select=Title")
    }

    @Test("over HTTP, the error details contain the query")
    func served() async throws {
        let studio = try await Studio()
        let store = try await studio.clone([try DefiningQuery("a", "Albums")])
        let transport = LoopbackTransport(ODataHandler(provider: store))
        let session = try HTTPSession(
            transport, serviceRoot: "http://clone.test/", configuration: .init(retry: .none))
        let client = try ODataClient(serviceRoot: "http://clone.test/", transport: session)
        for query in ["Albums?$expand=Pages", "Albums(1)/Pages", "Notes", "Me", "Albums?$filter=Tags/any()"] {
            let refused = try await refusal(client, query)
            #expect(refused?.query != nil, "\(query)")
        }
    }

    @Test("all missing parts are listed")
    func listed() async throws {
        let studio = try await Studio()
        try await studio.service.seed(json: Array(#"{"Me": {"Owner": "Ada"}}"#.utf8))
        let store = try await studio.clone([
            try DefiningQuery("a", "Albums?$expand=Tags,Pages"), try DefiningQuery("t", "Tags"),
        ])
        let parts = try await store.queries.missingParts()
        #expect(
            Set(parts.map(\.name)) == [
                "Notes", "Pictures", "Me", "Albums/Sheets", "Albums/Cover", "Albums/Scans", "Albums/Pictures",
            ], "\(parts)")
        #expect(parts.first { $0.name == "Albums/Cover" }?.query == "Albums?$expand=Cover")
        for part in parts where part.query != nil {
            try await store.queries.add(
                DefiningQuery(part.name.replacingOccurrences(of: "/", with: "-"), part.query ?? ""))
        }
        try await store.download()
        #expect(try await store.queries.missingParts().filter { !$0.needsStreams } == [])
    }

    @Test("an attribute in a dynamic query, as long as a row lacks it")
    func dynamicQuery() async throws {
        let studio = try await Studio()
        let store = try await studio.clone([try DefiningQuery("a", "Albums?$select=ID")])
        let names = Selection.from("Albums", as: "a").select("a.Name")
        let error = await #expect(throws: ODataError.self) { try await store.queries.select(names) }
        #expect(error?.isNotLoaded == true && error?.target == "Albums/Name")
        #expect(error?.definingQuery == "Albums?$select=Name")
        let known = try await store.queries.select(.from("Albums", as: "a").select("a.ID"))
        try await store.queries.add(DefiningQuery("b", "Albums?$select=Name"))
        try await store.download()
        #expect(try await store.queries.select(names).count == known.count && known.count > 0)
    }

    @Test("a paged read continues if the queries change between its pages")
    func pages() async throws {
        let studio = try await Studio()
        let store = try await studio.clone([
            try DefiningQuery("a", "Albums?$expand=Tags"), try DefiningQuery("t", "Tags"),
        ])
        let request = ODataRequest(
            .read, try ODataURL(parsing: "Albums?$expand=Tags"), preferences: Preferences(maxPageSize: 1))
        guard case .page(let page) = try await store.execute(request).body, let next = page.nextLink else {
            throw ODataError.notFound("a next page")
        }
        try await store.queries.add(DefiningQuery("n", "Notes"))
        let following = ODataRequest(following: next, preferences: Preferences(maxPageSize: 1))
        guard case .page(let second) = try await store.execute(following).body else { throw ODataError.notFound(next) }
        #expect(second.entities.count == 1)
    }
}
