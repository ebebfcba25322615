import HTTPTypes
import ODataModel
import ODataQuery
import ODataService
import OfflineOData
import Testing

@Suite("Rule 16: $expand in a defining query")
struct ExpandTests {
    @Test("is split at a foreign key, so that both parts have delta links")
    func split() async throws {
        let shop = try await Shop()
        let store = try await shop.clone([
            try DefiningQuery("mine", "Orders?$filter=EmployeeID eq 1&$expand=Order_Lines,Customer")
        ])
        let mine = try await shop.count("SELECT COUNT(*) FROM Orders WHERE EmployeeID = 1")
        let lines = try await shop.count(
            "SELECT COUNT(*) FROM \"Order Lines\" WHERE OrderID IN (SELECT OrderID FROM Orders WHERE EmployeeID = 1)")
        let customers = try await shop.count("SELECT COUNT(DISTINCT CustomerID) FROM Orders WHERE EmployeeID = 1")
        #expect(try await store.rows("Orders").count == mine)
        #expect(try await store.rows("Order_Lines").count == lines)
        #expect(try await store.rows("Customers").count == customers)
        #expect(try await store.queries.all().map(\.name) == ["mine"])
        let explanation = try #require(try await store.queries.explainDownloads().first)
        #expect(explanation.parts.count == 2 && explanation.parts.allSatisfy { $0.contains("split") })
        try await shop.sql(
            "UPDATE \"Order Lines\" SET Quantity = 77 WHERE OrderID = (SELECT MIN(OrderID) FROM Orders WHERE EmployeeID = 1) AND LineNumber = 1"
        )
        try await store.download()
        #expect(try await store.rows("Order_Lines?$filter=Quantity eq 77").count == 1)
        try await store.queries.remove("mine")
        for set in ["Orders", "Order_Lines", "Customers"] { #expect(try await store.lacks(set), "\(set)") }
    }

    @Test("within a whole read is read with it, compared and released")
    func nested() async throws {
        let studio = try await Studio()
        let store = try await studio.clone([
            try DefiningQuery("tree", "Albums?$expand=Tags($expand=Albums($select=Name))")
        ])
        #expect(try await store.rows("Albums(1)/Tags").count == 2)
        #expect(try await store.rows("Tags(1)/Albums").count == 1)
        try await studio.link("Tags(1)/Albums", to: "Albums(2)")
        try await store.download()
        #expect(try await store.rows("Tags(1)/Albums?$orderby=ID").map { $0["Name"] } == ["Summer", "Winter"])
        #expect(try await store.rows("Albums(2)/Tags").map { $0["Name"] } == ["red"])
    }

    @Test("brings only changes if the service tracks both sets")
    func deltas() async throws {
        let studio = try await Studio()
        let store = try await studio.clone([
            try DefiningQuery("summer", "Albums?$filter=Name eq 'Summer'&$expand=Notes($select=Text)")
        ])
        #expect(try await store.rows("Notes").map { $0["Text"] } == ["first"])
        try await studio.service.create("Notes", ["ID": 2, "AlbumID": 1, "Text": "second"])
        try await studio.service.create("Notes", ["ID": 3, "AlbumID": 2, "Text": "elsewhere"])
        let report = try await store.download()
        #expect(report.queries.map(\.method) == [.delta, .delta])
        #expect(report.received == 1)
        #expect(try await store.rows("Albums(1)/Notes?$orderby=ID").map { $0["Text"] } == ["first", "second"])
    }

    @Test("is read whole and compared if the service cannot filter by the relation")
    func refused() async throws {
        let shop = try await Shop()
        let service = Gateway(
            base: PlainService(base: try shop.client()),
            before: { request in
                guard request.url.description.hasPrefix("Order_Lines"), request.url.options.filter != nil else {
                    return nil
                }
                throw ODataError(status: 501, code: "NotImplemented", message: "There are no such filters here.")
            })
        let store = try await shop.clone(
            [try DefiningQuery("mine", "Orders?$filter=EmployeeID eq 1&$expand=Order_Lines")], through: service)
        let lines = try await shop.count(
            "SELECT COUNT(*) FROM \"Order Lines\" WHERE OrderID IN (SELECT OrderID FROM Orders WHERE EmployeeID = 1)")
        #expect(try await store.rows("Order_Lines").count == lines)
        let explanation = try #require(try await store.queries.explainDownloads().first)
        #expect(explanation.parts.contains { $0.contains("whole") })
        try await shop.sql(
            "DELETE FROM \"Order Lines\" WHERE OrderID = (SELECT MIN(OrderID) FROM Orders WHERE EmployeeID = 1) AND LineNumber = 1"
        )
        try await store.download()
        #expect(try await store.rows("Order_Lines").count == lines - 1)
    }

    @Test(
        "is probed again if the service failed or refused the user before", arguments: [403, 500])
    func failedProbe(status: Int) async throws {
        let shop = try await Shop()
        let isFailing = LockedFlag()
        let service = Gateway(
            base: try shop.client(),
            before: { request in
                guard isFailing.isSet, request.url.description.hasPrefix("Order_Lines") else { return nil }
                throw ODataError(status: status, code: "No", message: "Not now.")
            })
        let store = try await shop.store(
            [try DefiningQuery("mine", "Orders?$filter=EmployeeID eq 1&$expand=Order_Lines")], through: service)
        isFailing.set()
        await #expect(throws: (any Error).self) { try await store.download() }
        isFailing.clear()
        try await store.download()
        let lines = try await shop.count(
            "SELECT COUNT(*) FROM \"Order Lines\" WHERE OrderID IN (SELECT OrderID FROM Orders WHERE EmployeeID = 1)")
        #expect(try await store.rows("Order_Lines").count == lines)
        let explanation = try #require(try await store.queries.explainDownloads().first)
        #expect(explanation.parts.allSatisfy { $0.contains("split") } && !explanation.parts.isEmpty)
    }

    @Test("is not probed again after it was loaded, and its rows are still released")
    func failedProbeOfLoaded() async throws {
        let shop = try await Shop()
        let answers = LockedNames()
        let service = Gateway(
            base: try shop.client(),
            before: { request in
                guard request.url.description.hasPrefix("Order_Lines"), request.url.options.top == 1 else { return nil }
                answers.append("")
                throw ODataError(status: answers.names.count == 1 ? 500 : 404, code: "No", message: "Not now.")
            })
        let store = try await shop.store(
            [try DefiningQuery("mine", "Orders?$filter=EmployeeID eq 1&$expand=Order_Lines")], through: service)
        for _ in 1...2 { try await store.download() }
        let lines = try await shop.count(
            "SELECT COUNT(*) FROM \"Order Lines\" WHERE OrderID IN (SELECT OrderID FROM Orders WHERE EmployeeID = 1)")
        #expect(try await store.rows("Order_Lines").count == lines)
        try await shop.sql(
            "DELETE FROM \"Order Lines\" WHERE OrderID = (SELECT MIN(OrderID) FROM Orders WHERE EmployeeID = 1) AND LineNumber = 1"
        )
        try await store.download()
        #expect(try await store.rows("Order_Lines").count == lines - 1)
        try await store.queries.remove("mine")
        #expect(try await store.lacks("Order_Lines"))
    }

    @Test("keeps relations without a foreign key as at the service, with local changes on top")
    func links() async throws {
        let studio = try await Studio()
        let store = try await studio.clone([try DefiningQuery("albums", "Albums?$expand=Tags")])
        #expect(try await store.rows("Albums(1)/Tags?$orderby=ID").map { $0["Name"] } == ["red", "blue"])
        #expect(try await store.rows("Tags").count == 2, "only what albums lead to")
        _ = try await store.execute(
            ODataRequest(.create, try ODataURL(parsing: "Albums(2)/Tags/$ref"), body: .reference("Tags(1)")))
        try await studio.link("Albums(2)/Tags", to: "Tags(3)")
        var unlink = ODataRequest(.delete, try ODataURL(parsing: "Albums(1)/Tags/$ref"))
        unlink.url.options.id = "Tags(2)"
        _ = try await studio.service.execute(unlink)
        try await store.download()
        #expect(try await store.rows("Albums(1)/Tags").map { $0["Name"] } == ["red"])
        #expect(try await store.rows("Albums(2)/Tags?$orderby=ID").map { $0["Name"] } == ["red", "green"])
        try await store.sync()
        #expect(try await studio.service.rows("Albums(2)/Tags").count == 2)
    }

    @Test("keeps rows of a locally deleted entity as long as its deletion may be undone")
    func belowDeleted() async throws {
        let studio = try await Studio()
        let store = try await studio.clone([try DefiningQuery("albums", "Albums?$expand=Tags")])
        try await store.update("Tags(1)", ["Name": "mine"])
        try await store.delete("Albums(1)")
        for _ in 1...2 { try await store.download() }
        #expect(try await store.rows("Tags?$orderby=ID").map { $0["Name"] } == ["mine", "blue"])
        #expect(try await store.changes.original(of: ODataURL(parsing: "Tags(1)"))?["Name"] == "red")
        #expect(try await store.changes.undo([ODataURL(parsing: "Albums(1)")]) == 1)
        #expect(try await store.rows("Albums(1)/Tags?$orderby=ID").map { $0["Name"] } == ["mine", "blue"])
        try await store.download()
        #expect(try await store.rows("Albums(1)/Tags?$orderby=ID").map { $0["Name"] } == ["mine", "blue"])
        try await store.delete("Albums(1)")
        #expect(try await store.sync().upload.failed.map(\.entityText) == [])
        #expect(try await store.rows("Tags").isEmpty, "and not longer")
    }

    @Test("keeps rows of a locally deleted contained entity")
    func belowDeletedContained() async throws {
        let depot = try await Depot()
        let store = try await depot.clone([try DefiningQuery("boxes", "Boxes?$expand=Slips($expand=Header)")])
        #expect(try await store.rows("Headers").map { $0["Title"] } == ["first"])
        try await store.delete("Boxes(1)/Slips(1)")
        for _ in 1...2 { try await store.download() }
        #expect(try await store.rows("Headers").map { $0["Title"] } == ["first"])
        #expect(try await store.changes.undoAll() == 1)
        #expect(try await store.rows("Boxes(1)/Slips(1)/Header").map { $0["Title"] } == ["first"])
    }

    @Test("Rule 17: brings contained entities with their container, and a singleton is a query of its own")
    func contained() async throws {
        let studio = try await Studio()
        try await studio.service.seed(json: Array(#"{"Me": {"Owner": "Ada"}}"#.utf8))
        var profile = ODataEntity(shape: try #require(studio.service.model.shape(QualifiedName("Studio", "Profile"))))
        let store = try await studio.clone([
            try DefiningQuery("albums", "Albums?$expand=Pages"), try DefiningQuery("me", "Me"),
        ])
        #expect(try await store.rows("Albums(1)/Pages").map { $0["Title"] } == ["Cover"])
        #expect(try await store.rows("Albums(2)/Pages").isEmpty)
        #expect(try await store.rows("Me").map { $0["Owner"] } == ["Ada"])
        profile["Owner"] = "Cy"
        let change = ODataRequest(.update, try ODataURL(parsing: "Me"), body: .entity(profile))
        _ = try await store.execute(change)
        #expect(try await store.rows("Me").map { $0["Owner"] } == ["Cy"])
        #expect(try await store.changes.undo([ODataURL(parsing: "Me")]) == 1)
        _ = try await store.execute(change)
        #expect(try await store.rows("RequestQueue").map { $0["URL"] } == ["Me"])
        try await store.download()
        #expect(try await store.rows("Me").map { $0["Owner"] } == ["Cy"], "a download leaves the change on top")
        #expect(try await store.upload().failed.map(\.description) == [])
        #expect(try await studio.service.rows("Me").map { $0["Owner"] } == ["Cy"])
        profile["Owner"] = "Bo"
        _ = try await studio.service.execute(
            ODataRequest(.update, try ODataURL(parsing: "Me"), body: .entity(profile)))
        _ = try await studio.service.execute(ODataRequest(.delete, try ODataURL(parsing: "Albums(1)/Pages(1)")))
        try await store.download()
        #expect(try await store.rows("Me").map { $0["Owner"] } == ["Bo"])
        #expect(try await store.rows("Albums(1)/Pages").isEmpty)
    }

    @Test("that leads back to the set of the query adds rows that stay")
    func ownSet() async throws {
        let studio = try await Studio()
        try await studio.link("Albums(2)/Tags", to: "Tags(1)")
        let store = try await studio.clone([
            try DefiningQuery("summer", "Albums?$filter=Name eq 'Summer'&$expand=Tags($expand=Albums)")
        ])
        for _ in 1...3 {
            #expect(try await store.rows("Albums?$orderby=ID").map { $0["ID"] } == [1, 2])
            try await store.download()
        }
        var unlink = ODataRequest(.delete, try ODataURL(parsing: "Albums(2)/Tags/$ref"))
        unlink.url.options.id = "Tags(1)"
        _ = try await studio.service.execute(unlink)
        try await store.download()
        #expect(try await store.rows("Albums").map { $0["ID"] } == [1], "until nothing leads to them")
    }

    @Test("with $select also requests keys and foreign keys")
    func nestedSelect() async throws {
        let studio = try await Studio()
        @Sendable func strip(_ entity: inout ODataEntity, _ options: QueryOptions) {
            let names = options.select.compactMap { item -> String? in
                if case .path(let path) = item.kind { path.first?.text } else { nil }
            }
            for name in entity.shape.properties.map(\.name) where !names.isEmpty && !names.contains(name) {
                entity[name] = nil
            }
            entity.markUnchanged()
            for item in options.expand {
                guard let name = item.path.first?.text, case .many(var others, _, _)? = entity.related[name] else {
                    continue
                }
                for index in others.indices { strip(&others[index], item.options) }
                entity.related[name] = .many(others)
            }
        }
        let service = Gateway(
            base: try studio.client(),
            after: { request, response in
                guard case .page(var page) = response.body else { return response }
                for index in page.entities.indices { strip(&page.entities[index], request.url.options) }
                var response = response
                response.body = .page(page)
                return response
            })
        let store = try await studio.clone(
            [
                try DefiningQuery(
                    "tree", "Albums?$expand=Tags($select=Name;$expand=Albums($select=Name)),Pages($select=Title)")
            ],
            through: service)
        #expect(try await store.rows("Albums(1)/Tags?$orderby=ID").map { $0["Name"] } == ["red", "blue"])
        #expect(try await store.rows("Albums(1)/Pages").map { $0["Title"] } == ["Cover"])
    }

    @Test("refuses unsupported forms by name")
    func unsupported() async throws {
        let studio = try await Studio()
        let store = try await studio.clone([try DefiningQuery("t", "Tags")])
        for text in [
            "Albums?$expand=Tags($top=1)", "Albums?$expand=Tags($expand=Albums($top=1))", "Albums?$expand=Tags/$ref",
        ] {
            await #expect(throws: OfflineError.self) { try await store.queries.add(DefiningQuery("x", text)) }
        }
    }
}
