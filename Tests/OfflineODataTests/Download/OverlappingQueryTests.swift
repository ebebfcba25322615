import ODataModel
import ODataQuery
import ODataService
import OfflineOData
import Testing

@Suite("Queries with the same contained and related entities (rules 12 and 17)")
struct OverlappingQueryTests {
    private func pages(_ store: any ODataProvider) async throws -> [ODataValue?] {
        try await store.rows("Albums(1)/Pages?$orderby=Number").map { $0["Number"] }
    }

    private func tags(_ store: any ODataProvider) async throws -> [ODataValue?] {
        try await store.rows("Albums(1)/Tags?$orderby=ID").map { $0["Name"] }
    }

    private func unlink(_ studio: Studio, _ tag: String) async throws {
        var unlink = ODataRequest(.delete, try ODataURL(parsing: "Albums(1)/Tags/$ref"))
        unlink.url.options.id = tag
        _ = try await studio.service.execute(unlink)
    }

    /// Returns a studio with a second and a third page.
    private func studio() async throws -> Studio {
        let studio = try await Studio()
        for number in 2...3 {
            try await studio.service.change(
                .create, "Albums(1)/Pages", "Page", ["Number": .integer(Int64(number)), "Title": "More"])
        }
        return studio
    }

    @Test("keep each other's contained entities and remove their own")
    func containedParts() async throws {
        let studio = try await studio()
        let store = try await studio.clone([
            try DefiningQuery("low", "Albums(1)/Pages?$filter=Number lt 2"),
            try DefiningQuery("high", "Albums(1)/Pages?$filter=Number ge 2"),
        ])
        #expect(try await pages(store) == [1, 2, 3])
        try await store.download()
        #expect(try await pages(store) == [1, 2, 3])
        _ = try await studio.service.execute(ODataRequest(.delete, try ODataURL(parsing: "Albums(1)/Pages(3)")))
        try await store.download()
        #expect(try await pages(store) == [1, 2])
        try await store.queries.remove("low")
        #expect(try await pages(store) == [2])
        try await store.download()
        #expect(try await pages(store) == [2])
    }

    @Test("share a contained entity, which is removed with the last of them", arguments: ["low", "high"])
    func sharedPage(first: String) async throws {
        let studio = try await studio()
        let store = try await studio.clone([
            try DefiningQuery("low", "Albums(1)/Pages?$filter=Number le 2"),
            try DefiningQuery("high", "Albums(1)/Pages?$filter=Number ge 2"),
        ])
        try await store.download()
        try await store.change(.update, "Albums(1)/Pages(2)", "Page", ["Title": "Mine"])
        try await store.queries.remove(first)
        #expect(try await pages(store) == (first == "low" ? [2, 3] : [1, 2]))
        #expect(try await store.upload().failed.map(\.entityText) == [])
        try await store.download()
        #expect(try await pages(store) == (first == "low" ? [2, 3] : [1, 2]))
        try await store.queries.remove(first == "low" ? "high" : "low")
        #expect(try await store.lacks("Albums"), "what contains it goes too")
    }

    @Test("release contained entities when their container leaves one of them")
    func leavingContainer() async throws {
        let studio = try await studio()
        let store = try await studio.clone([
            try DefiningQuery("albums", "Albums"),
            try DefiningQuery("summer", "Albums?$filter=Name eq 'Summer'&$expand=Pages"),
        ])
        #expect(try await pages(store) == [1, 2, 3])
        try await studio.service.update("Albums(1)", ["Name": "Autumn"])
        try await store.download()
        #expect(try await store.rows("Albums").count == 2)
        #expect(try await store.lacks("Albums(1)/Pages"))
    }

    @Test("keep each other's relations and remove their own")
    func relations() async throws {
        let studio = try await Studio()
        let store = try await studio.clone([
            try DefiningQuery("red", "Albums?$filter=ID eq 1&$expand=Tags($filter=Name eq 'red')"),
            try DefiningQuery("blue", "Albums?$filter=ID eq 1&$expand=Tags($filter=Name eq 'blue')"),
        ])
        #expect(try await tags(store) == ["red", "blue"])
        try await store.download()
        #expect(try await tags(store) == ["red", "blue"])
        try await unlink(studio, "Tags(1)")
        try await store.download()
        #expect(try await tags(store) == ["blue"])
    }

    @Test(
        "release the relations of an entity that leaves one of them if no other query has them",
        arguments: [true, false])
    func leavingRelated(isRemoved: Bool) async throws {
        let studio = try await Studio()
        let store = try await studio.clone([
            try DefiningQuery("albums", "Albums"), try DefiningQuery("tags", "Tags"),
            try DefiningQuery("summer", "Albums?$filter=Name eq 'Summer'&$expand=Tags"),
        ])
        #expect(try await tags(store) == ["red", "blue"])
        try await store.link("Albums(1)/Tags", to: "Tags(3)")
        try await unlink(studio, "Tags(1)")
        if isRemoved {
            try await store.queries.remove("summer")
        } else {
            try await studio.service.update("Albums(1)", ["Name": "Autumn"])
            try await store.download()
        }
        #expect(try await store.rows("Albums").count == 2)
        #expect(try await store.rows("Tags").count == 3)
        #expect(try await store.lacks("Albums(1)/Tags"), "no query reads it any more")
        #expect(
            try await store.observe.status().pending.map(\.kind) == [.link],
            "what was changed here still goes to the service")
    }

    @Test("keep a relation until all of them report that it is gone")
    func sharedRelation() async throws {
        let studio = try await Studio()
        let store = try await studio.clone([
            try DefiningQuery("one", "Albums?$filter=ID eq 1&$expand=Tags($filter=Name ne 'green')"),
            try DefiningQuery("other", "Albums?$filter=ID le 1&$expand=Tags($filter=Name ne 'blue')"),
        ])
        #expect(try await tags(store) == ["red", "blue"])
        try await unlink(studio, "Tags(1)")
        try await store.download(["one"])
        try await store.download()
        #expect(try await tags(store) == ["blue"])
    }

    @Test("leave relations to the queries that request them, even if a service expands more")
    func unaskedRelations() async throws {
        let studio = try await Studio()
        let client = try studio.client()
        let service = Gateway(
            base: client,
            after: { request, response in
                guard request.url.description.contains("Pages"), case .page(var page) = response.body else {
                    return response
                }
                for index in page.entities.indices {
                    let id = page.entities[index]["ID"]?.lexicalText ?? ""
                    page.entities[index].related["Tags"] = .many(try await client.rows("Albums(\(id))/Tags"))
                }
                var response = response
                response.body = .page(page)
                return response
            })
        var options = OfflineStore.Options()
        options.sync.parallelQueries = 1
        let store = try await studio.clone(
            [try DefiningQuery("tags", "Albums?$expand=Tags"), try DefiningQuery("pages", "Albums?$expand=Pages")],
            options: options, through: service)
        for _ in 1...2 {
            #expect(try await tags(store) == ["red", "blue"])
            #expect(try await pages(store) == [1])
            try await store.download()
        }
    }

    @Test("remove a requested relation at both ends")
    func relationFromBothEnds() async throws {
        let studio = try await Studio()
        let store = try await studio.clone([
            try DefiningQuery("tags", "Tags"),
            try DefiningQuery("red", "Albums?$expand=Tags($filter=Name ne 'blue';$expand=Albums($filter=ID le 1))"),
        ])
        #expect(try await tags(store) == ["red"])
        try await studio.link("Albums(2)/Tags", to: "Tags(1)")
        for _ in 1...2 {
            try await store.download()
            #expect(try await tags(store) == ["red"])
            #expect(
                try await store.rows("Albums(2)/Tags").map { $0["Name"] } == ["red"], "of which one end tells alone")
        }
        try await unlink(studio, "Tags(1)")
        try await store.download()
        #expect(try await tags(store).isEmpty)
    }

    @Test("bring rows below a contained entity with local changes")
    func belowChanged() async throws {
        let depot = try await Depot()
        let store = try await depot.clone([try DefiningQuery("boxes", "Boxes?$expand=Slips($expand=Marks)")])
        try await store.change(.update, "Boxes(1)/Slips(1)", "Slip", ["HeaderID": 2])
        try await depot.service.change(.update, "Boxes(1)/Slips(1)/Marks(1)", "Mark", ["Text": "blue"])
        try await depot.service.change(.create, "Boxes(1)/Slips(1)/Marks", "Mark", ["No": 2, "Text": "green"])
        try await store.download()
        let marks = try await store.rows("Boxes(1)/Slips(1)/Marks?$orderby=No")
        #expect(marks.map { $0["Text"] } == ["blue", "green"])
        #expect(try await store.rows("Boxes(1)/Slips(1)").first?["HeaderID"] == 2, "with the change on top")
        _ = try await depot.service.execute(
            ODataRequest(.delete, try ODataURL(parsing: "Boxes(1)/Slips(1)/Marks(1)")))
        try await store.download()
        #expect(try await store.rows("Boxes(1)/Slips(1)/Marks").map { $0["Text"] } == ["green"])
    }
}
