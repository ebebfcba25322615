import ODataClient
import ODataHTTP
import ODataModel
import ODataQuery
import ODataService
import OfflineOData
import Synchronization
import Testing

@Suite("A later download")
struct DeltaTests {
    @Test("brings only new, changed and removed rows")
    func onlyChanges() async throws {
        let shop = try await Shop()
        let store = try await shop.clone()
        try await shop.sql(
            """
            INSERT INTO Categories VALUES (6, 'Valves');
            UPDATE Customers SET City = 'Oslo' WHERE CustomerID = 'C0009';
            DELETE FROM "Order Lines" WHERE OrderID = 1006 AND LineNumber = 1;
            """)
        let report = try await store.download()
        #expect(report.received == 3)
        #expect((report.inserted, report.updated, report.removed) == (1, 1, 1))
        #expect(report.queries.allSatisfy { $0.method == .delta })
        try await shop.expectEqual(store)
    }

    @Test("brings nothing if nothing changed")
    func nothing() async throws {
        let shop = try await Shop()
        let store = try await shop.clone()
        #expect(try await store.download().received == 0)
    }

    @Test(
        "compares everything after an expired link and gets a new link", arguments: [410, 404])
    func forgottenLink(status: Int) async throws {
        let shop = try await Shop()
        let hasForgotten = LockedFlag()
        let service = Gateway(
            base: try shop.client(),
            before: { request in
                guard hasForgotten.isSet, let link = request.link, link.contains("deltatoken") else { return nil }
                throw ODataError(status: status, code: "Gone", message: "That was long ago.")
            })
        let store = try await shop.clone(through: service)
        try await store.update("Products(1)", ["Stock": 7])
        try await shop.sql(
            """
            UPDATE Customers SET City = 'Oslo' WHERE CustomerID = 'C0009';
            DELETE FROM "Order Lines" WHERE OrderID = 1006 AND LineNumber = 1;
            """)
        hasForgotten.set()
        let report = try await store.download()
        #expect(report.queries.allSatisfy { $0.method == .refresh })
        #expect(report.removed == 1)
        #expect(try await store.rows("Customers('C0009')").first?["City"] == "Oslo")
        #expect(try await store.rows("Products(1)").first?["Stock"] == 7)
        hasForgotten.clear()
        #expect(try await store.download().queries.allSatisfy { $0.method == .delta })
        try await store.upload()
        try await store.download()
        try await shop.expectEqual(store)
    }

    @Test("compares all rows if a removed entity has an id without a key")
    func unreadableRemoval() async throws {
        let shop = try await Shop()
        let service = Gateway(
            base: try shop.client(),
            after: { request, response in
                guard request.link != nil, case .page(var page) = response.body else { return response }
                page.removed = page.removed.map { RemovedEntity(id: "urn:lines:4711", reason: $0.reason) }
                var answer = response
                answer.body = .page(page)
                return answer
            })
        let store = try await shop.clone([DefiningQuery(entitySet: "Order_Lines")], through: service)
        try await shop.sql("DELETE FROM \"Order Lines\" WHERE OrderID = 1006")
        let report = try await store.download()
        #expect(report.queries.map(\.method) == [.refresh])
        #expect(report.removed == 3)
        #expect(try await store.rows("Order_Lines?$filter=OrderID eq 1006").isEmpty)
        #expect(try await store.download().queries.map(\.method) == [.delta])
    }

    /// An observer of the changed rows in a store.
    private final class Look: Sendable {
        private let counts = Mutex<[Int]>([])
        private let store = Mutex<OfflineStore?>(nil)

        /// The number of changed orders at each look.
        var seen: [Int] { counts.withLock { $0 } }

        func begin(at store: OfflineStore) { self.store.withLock { $0 = store } }

        func take() async throws {
            guard let store = store.withLock({ $0 }) else { return }
            let count = try await store.rows("Orders?$filter=Freight eq 7777").count
            counts.withLock { $0.append(count) }
        }
    }

    @Test("arrives in pages and is applied at once")
    func pages() async throws {
        let shop = try await Shop(pageSize: 10)
        let look = Look()
        let service = Gateway(
            base: try shop.client(),
            before: { _ in
                try await look.take()
                return nil
            })
        let store = try await shop.clone(through: service)
        try await shop.sql("UPDATE Orders SET Freight = 7777 WHERE OrderID <= 1045")
        look.begin(at: store)
        // The observer looks before each page, and continuously while pages are received and applied.
        let isOver = LockedFlag()
        let watch = Task { while !isOver.isSet { try await look.take() } }
        defer { isOver.set() }
        let report = try await store.download()
        #expect(report.updated == 45)
        isOver.set()
        try await watch.value
        try await look.take()
        #expect(Set(look.seen) == [0, 45])
        #expect(look.seen.filter { $0 == 0 }.count >= 5, "there are five pages")
        try await shop.expectEqual(store)
    }

    @Test("removes a row that left the filter unless another query holds it (rule 12)")
    func leavingFilter() async throws {
        let shop = try await Shop()
        let store = try await shop.clone([
            DefiningQuery("norway", "Customers?$filter=Country eq 'Norway'"),
            DefiningQuery("bergen", "Customers?$filter=City eq 'Bergen'"),
        ])
        let before = try await store.rows("Customers").count
        try await shop.sql("UPDATE Customers SET Country = 'Sweden' WHERE CustomerID = 'C0001'")
        try await store.download()
        #expect(try await store.rows("Customers").count == before, "its city still is Bergen")
        try await shop.sql("UPDATE Customers SET City = 'Malmö' WHERE CustomerID = 'C0001'")
        try await store.download()
        #expect(try await store.rows("Customers").count == before - 1)
    }

    @Test("keeps local changes on top of changes by others (rule 7)")
    func reapplied() async throws {
        let shop = try await Shop()
        let store = try await shop.clone()
        try await store.update("Customers('C0003')", ["CompanyName": "Mine"])
        try await shop.sql("UPDATE Customers SET City = 'Theirs' WHERE CustomerID = 'C0003'")
        try await store.download()
        let customer = try #require(try await store.rows("Customers('C0003')").first)
        #expect(customer["CompanyName"] == "Mine")
        #expect(customer["City"] == "Theirs")
    }

    @Test("never removes a row with local changes (rule 12)")
    func pendingStays() async throws {
        let shop = try await Shop()
        let store = try await shop.clone()
        try await store.update("Categories(5)", ["Name": "Buoys and more"])
        try await shop.sql("DELETE FROM \"Order Lines\"; DELETE FROM Products; DELETE FROM Categories")
        try await store.download()
        #expect(try await store.rows("Categories").count == 1)
    }

    @Test("reads all rows again if the service offers no delta links, and writes only differences")
    func refresh() async throws {
        let shop = try await Shop(pageSize: 30)
        let store = try await shop.clone(through: PlainService(base: shop.client()))
        try await shop.sql(
            """
            UPDATE Customers SET City = 'Oslo' WHERE CustomerID = 'C0009';
            DELETE FROM "Order Lines" WHERE OrderID = 1006;
            """)
        let report = try await store.download()
        #expect(report.queries.allSatisfy { $0.method == .refresh })
        #expect(report.updated == 1)
        #expect(report.removed == 3)
        try await shop.expectEqual(store)
    }

    @Test("does not remove rows after a truncated read, and the next one does (rule 15)")
    func cutRefresh() async throws {
        let shop = try await Shop(pageSize: 30)
        let store = try await shop.clone(through: PlainService(base: shop.client()))
        try await shop.sql(
            "DELETE FROM Orders WHERE OrderID = 1200; UPDATE Orders SET Freight = 7777 WHERE OrderID = 1001")
        // The orders alone have seven pages.
        await shop.wire.cut { count, _ in count > 3 ? .answerLost : nil }
        await #expect(throws: TransportError.self) { try await store.download() }
        #expect(try await store.rows("Orders").count == 200)
        await shop.wire.mend()
        let report = try await store.download()
        #expect(report.queries.allSatisfy { $0.method == .refresh })
        try await shop.expectEqual(store)
    }

    @Test("of a query that the service removed does not block the others")
    func missingQuery() async throws {
        let shop = try await Shop()
        let isGone = LockedFlag()
        let service = Gateway(
            base: PlainService(base: try shop.client()),
            before: { request in
                guard isGone.isSet, request.url.description.hasPrefix("Categories") else { return nil }
                throw ODataError(status: 404, code: "NotFound", message: "There is no such set.")
            })
        let store = try await shop.clone(through: service)
        isGone.set()
        try await shop.sql("UPDATE Orders SET Freight = 7 WHERE OrderID = 1001")
        let error = await #expect(throws: OfflineError.self) { try await store.download() }
        guard case .queriesRefused(let refusals, let report)? = error else { throw try #require(error) }
        #expect(refusals.map(\.name) == ["Categories"] && refusals.map(\.text) == ["Categories"])
        #expect(refusals.map(\.error.status) == [404] && refusals.allSatisfy(\.wasLoaded))
        #expect(refusals.first?.description.contains("query Categories (Categories): 404") == true)
        #expect(report.updated == 1 && !report.queries.map(\.name).contains("Categories"))
        let event = try #require(try await store.observe.events(newest: 1).first)
        #expect(event.requests == report.received && event.failures == 1)
        #expect(event.text.hasSuffix("refused: Categories"))
        #expect(try await store.rows("Orders(1001)").first?["Freight"] == .decimal(ODataDecimal(7)))
    }

    @Test("discards the pages of an interrupted download")
    func staleStage() async throws {
        let shop = try await Shop()
        let isBroken = LockedFlag()
        var ghost = ODataEntity(shape: try #require(shop.database.model.shape(ofSet: "Categories")))
        ghost["CategoryID"] = 66
        ghost["Name"] = "Ghost"
        ghost.markUnchanged()
        let entity = ghost
        let service = Gateway(
            base: try shop.client(),
            before: { request in
                guard let link = request.link else { return nil }
                if link == "next" {
                    isBroken.set()
                    throw ODataError(status: 503, code: "Busy", message: "Come again.")
                }
                guard !isBroken.isSet else { return nil }
                return ODataResponse(body: .page(EntityPage(entities: [entity], nextLink: "next")))
            })
        let store = try await shop.clone([DefiningQuery(entitySet: "Categories")], through: service)
        await #expect(throws: ODataError.self) { try await store.download() }
        try await store.download()
        #expect(try await store.rows("Categories").count == 5)
    }

    @Test(
        "uses the last of several items for one entity in a page",
        arguments: [
            #"{"@removed":{"reason":"deleted"},"ID":5}"#,
            #"{"@odata.context":"$metadata#Things/$deletedEntity","id":"Things(5)","reason":"deleted"}"#,
            // Ids with another service root, as behind a proxy, and with a type cast.
            ##"{"@odata.context":"#Things/$deletedEntity","id":"http://inner.test/v4/Things(5)","reason":"deleted"}"##,
            #"{"@odata.context":"$metadata#Things/$deletedEntity","id":"Things(5)/T.Thing","reason":"deleted"}"#,
        ])
    func madeAgain(removal: String) async throws {
        let metadata = """
            <edmx:Edmx xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx" Version="4.0"><edmx:DataServices>
            <Schema xmlns="http://docs.oasis-open.org/odata/ns/edm" Namespace="T">
            <EntityType Name="Thing"><Key><PropertyRef Name="ID"/></Key>
            <Property Name="ID" Type="Edm.Int32" Nullable="false"/><Property Name="Text" Type="Edm.String"/></EntityType>
            <EntityContainer Name="C"><EntitySet Name="Things" EntityType="T.Thing"/></EntityContainer></Schema>
            </edmx:DataServices></edmx:Edmx>
            """
        func delta(_ items: [String], _ next: Int) -> String {
            """
            {"@odata.context":"$metadata#Things/$delta","value":[\(items.joined(separator: ","))],\
            "@odata.deltaLink":"Things?$deltatoken=\(next)"}
            """
        }
        let transport = PagesTransport(answers: [
            "$metadata": metadata,
            "Things": """
            {"@odata.context":"$metadata#Things","value":[{"ID":5,"Text":"a"}],"@odata.deltaLink":"Things?$deltatoken=1"}
            """,
            "Things?$deltatoken=1": delta([removal, #"{"ID":5,"Text":"again"}"#], 2),
            "Things?$deltatoken=2": delta([#"{"ID":5,"Text":"late"}"#, removal], 3),
            "Things?$deltatoken=3": delta([#"{"ID":5,"Text":"late"}"#, removal, #"{"ID":5,"Text":"last"}"#], 4),
        ])
        let folder = Folder()
        let root = "http://delta.test/"
        let store = try await OfflineStore.create(
            at: folder.url.appendingPathComponent("store").path, protection: .unencrypted, serviceRoot: root,
            remote: ODataClient(serviceRoot: root, transport: transport))
        var texts: [[ODataValue?]] = []
        for _ in 1...4 {
            try await store.download()
            texts.append(try await store.rows("Things").map { $0["Text"] })
        }
        #expect(texts == [["a"], ["again"], [], ["last"]])
    }

    @Test(
        "distinguishes canonically equivalent keys, in any order",
        arguments: [true, false])
    func keysByBytes(isRemovalFirst: Bool) async throws {
        let metadata = """
            <edmx:Edmx xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx" Version="4.0"><edmx:DataServices>
            <Schema xmlns="http://docs.oasis-open.org/odata/ns/edm" Namespace="T">
            <EntityType Name="File"><Key><PropertyRef Name="Path"/></Key>
            <Property Name="Path" Type="Edm.String" Nullable="false"/><Property Name="Text" Type="Edm.String"/></EntityType>
            <EntityContainer Name="C"><EntitySet Name="Files" EntityType="T.File"/></EntityContainer></Schema>
            </edmx:DataServices></edmx:Edmx>
            """
        func delta(_ items: [String], _ next: Int) -> String {
            """
            {"@odata.context":"$metadata#Files/$delta","value":[\(items.joined(separator: ","))],\
            "@odata.deltaLink":"Files?$deltatoken=\(next)"}
            """
        }
        let (one, two) = ("Caf\u{E9}", "Cafe\u{301}")
        let moved = [
            #"{"@removed":{"reason":"deleted"},"Path":"Cafe\u0301"}"#, #"{"Path":"Caf\u00e9","Text":"new"}"#,
        ]
        let transport = PagesTransport(answers: [
            "$metadata": metadata,
            "Files": """
            {"@odata.context":"$metadata#Files","value":[{"Path":"Cafe\\u0301","Text":"old"}],\
            "@odata.deltaLink":"Files?$deltatoken=1"}
            """,
            "Files?$deltatoken=1": delta(isRemovalFirst ? moved : moved.reversed(), 2),
            "Files?$deltatoken=2": delta([#"{"Path":"Cafe\u0301","Text":"other"}"#], 3),
        ])
        let folder = Folder()
        let root = "http://delta.test/"
        let store = try await OfflineStore.create(
            at: folder.url.appendingPathComponent("store").path, protection: .unencrypted, serviceRoot: root,
            remote: ODataClient(serviceRoot: root, transport: transport))
        func paths() async throws -> [[UInt8]] {
            try await store.rows("Files").map { file in
                guard case .string(let path)? = file["Path"] else { throw ODataError.notFound("Path") }
                return Array(path.utf8)
            }
        }
        try await store.download()
        #expect(try await paths() == [Array(two.utf8)])
        try await store.download()
        #expect(try await paths() == [Array(one.utf8)])
        // The keys differ only in their Unicode form: the deleted file is one of them, and the download brings the
        // other one.
        try await store.delete("Files('\(one)')")
        try await store.download()
        #expect(try await paths() == [Array(two.utf8)])
        #expect(try await store.rows("Files").map { $0["Text"] } == ["other"])
    }
}
