import Foundation
import ODataHTTP
import ODataModel
import ODataQuery
import ODataService
import OfflineOData
import Testing

@Suite("A first download")
struct FirstDownloadTests {
    @Test("brings every row of every entity set unchanged")
    func everything() async throws {
        let shop = try await Shop()
        let store = try await shop.store()
        let report = try await store.download()
        #expect(report.queries.allSatisfy { $0.method == .first })
        #expect(report.received == report.inserted)
        #expect(try await shop.count("SELECT COUNT(*) FROM Orders") == 200)
        try await shop.expectEqual(store)
    }

    @Test("brings only the selected properties of its query")
    func filtered() async throws {
        let shop = try await Shop()
        let store = try await shop.clone([DefiningQuery("costly", "Orders?$filter=Freight gt 200")])
        let expected = try await shop.count("SELECT COUNT(*) FROM Orders WHERE Freight > 200")
        #expect(try await store.rows("Orders").count == expected)
        #expect(try await store.lacks("Customers"))
    }

    @Test("is read in key order unless the query or the service prevents it (rule 15)")
    func ordered() async throws {
        let shop = try await Shop()
        let orders = LockedList()
        let service = Gateway(
            base: try shop.client(),
            before: { request in
                guard request.link == nil, case .name(let set, .none)? = request.url.path.segments.last else {
                    return nil
                }
                orders.append(request)
                guard set.text == "Products", !request.url.options.orderBy.isEmpty else { return nil }
                throw ODataError(status: 501, code: "NotImplemented", message: "no $orderby")
            })
        let store = try await shop.clone(
            [
                DefiningQuery("lines", "Order_Lines"), DefiningQuery("late", "Orders?$orderby=OrderedAt desc"),
                DefiningQuery("products", "Products"),
            ], through: service)
        // The other options that the engine adds are removed first, without success.
        #expect(
            Set(orders.requests.map(\.url.description)).sorted() == [
                "Order_Lines?$orderby=OrderID,LineNumber", "Orders?$orderby=OrderedAt desc", "Products",
                "Products?$orderby=ProductID",
            ])
        #expect(try await store.rows("Products").count == 30)
    }

    @Test("continues at the last complete page after a lost connection (rule 14)")
    func resumed() async throws {
        let shop = try await Shop(pageSize: 50)
        let query = DefiningQuery(entitySet: "Orders")
        let store = try await shop.store([query])
        await shop.wire.cut { _, request in
            // The request for the third page; its link contains a token from the second page.
            (request.path ?? "").contains("skiptoken") ? .lostOnTheWay : nil
        }
        await #expect(throws: TransportError.self) { try await store.download() }
        #expect(try await store.rows("Orders").isEmpty, "nothing is seen of a query that is not complete")
        try store.close()
        await shop.wire.mend()
        let again = try await shop.reopen()
        let report = try await again.download()
        #expect(report.received == 150, "the first page did not travel again")
        #expect(try await again.rows("Orders").count == 200)
    }

    @Test("hides its rows until it is complete, while rows of other queries are visible")
    func hidden() async throws {
        let shop = try await Shop(pageSize: 20)
        let store = try await shop.store([
            DefiningQuery("cheap", "Orders?$filter=Freight lt 100"), DefiningQuery("all", "Orders"),
        ])
        try await store.download(["cheap"])
        let cheap = try await store.rows("Orders").count
        await shop.wire.cut { count, _ in count > 4 ? .lostOnTheWay : nil }
        await #expect(throws: TransportError.self) { try await store.download(["all"]) }
        #expect(try await store.rows("Orders").count == cheap)
        await shop.wire.mend()
        try await store.download()
        #expect(try await store.rows("Orders").count == 200)
    }

    @Test(
        "also loads keys and foreign keys, and distinguishes not loaded from null (rule 12)")
    func columns() async throws {
        let shop = try await Shop()
        let store = try await shop.clone([DefiningQuery("names", "Orders?$select=Freight")])
        let order = try #require(try await store.rows("Orders(1001)").first)
        #expect(order["CustomerID"] != nil)
        #expect(order["OrderedAt"] == nil)
        #expect(throws: EntityError.self) { try order.value(of: "OrderedAt") }
    }

    @Test("refuses a defining query that cannot be kept, and stores nothing")
    func refused() async throws {
        let shop = try await Shop()
        let query = try DefiningQuery("nested", "Orders?$expand=Customer($top=1)")
        await #expect(throws: OfflineError.self) { try await shop.store([query]) }
        #expect(!FileManager.default.fileExists(atPath: shop.directory.appendingPathComponent("clone").path))
    }

    @Test("does not overwrite an existing store")
    func existing() async throws {
        let shop = try await Shop()
        let store = try await shop.clone([DefiningQuery(entitySet: "Categories")])
        await #expect(throws: OfflineError.self) { try await shop.store() }
        #expect(try await store.rows("Categories").count == 5)
    }

    @Test("that must start again drops rows that were removed meanwhile")
    func restarted() async throws {
        let shop = try await Shop(pageSize: 50)
        let isExpired = LockedFlag()
        let service = Gateway(
            base: try shop.client(),
            before: { request in
                guard request.link != nil, !isExpired.isSet else { return nil }
                isExpired.set()
                try await shop.sql("DELETE FROM \"Order Lines\"; DELETE FROM Orders WHERE OrderID = 1001")
                throw ODataError(status: 410, code: "Gone", message: "The link has expired.")
            })
        let store = try await shop.clone([DefiningQuery(entitySet: "Orders")], through: service)
        #expect(try await store.rows("Orders").count == 199)
    }
    @Test("that must start again drops rows that were changed or deleted locally meanwhile")
    func restartedBehindChanges() async throws {
        let shop = try await Shop(pageSize: 50)
        let isExpired = LockedFlag()
        let service = Gateway(
            base: try shop.client(),
            before: { request in
                guard request.link?.contains("skiptoken") == true, isExpired.isSet else { return nil }
                isExpired.clear()
                throw ODataError(status: 410, code: "Gone", message: "The link has expired.")
            })
        var options = OfflineStore.Options()
        options.sync.parallelQueries = 1
        let store = try await shop.store(
            [DefiningQuery("some", "Orders?$filter=OrderID le 1010"), DefiningQuery("all", "Orders")],
            options: options, through: service)
        try await store.download(["some"])
        await shop.wire.cut { count, _ in count > 3 ? .lostOnTheWay : nil }
        await #expect(throws: TransportError.self) { try await store.download(["all"]) }
        await shop.wire.mend()
        try await store.update("Orders(1001)", ["Freight": 7])
        _ = try await store.execute(ODataRequest(.delete, try ODataURL(parsing: "Orders(1002)")))
        try await shop.sql("DELETE FROM \"Order Lines\"; DELETE FROM Orders WHERE OrderID IN (1001, 1002)")
        isExpired.set()
        try await store.download()
        #expect(!isExpired.isSet)
        try await store.changes.undoAll()
        try await store.download()
        #expect(try await store.rows("Orders").count == 198)
    }
}
