import HTTPTypes
import ODataModel
import ODataQuery
import ODataService
import OfflineOData
import Testing

@Suite("Capabilities that an app states for its service")
struct StatedCapabilityTests {
    private func stated(_ state: (inout StatedCapabilities) -> Void) -> OfflineStore.Options {
        var options = OfflineStore.Options()
        state(&options.service.capabilities)
        return options
    }

    /// The paths of the requests since the wire was mended.
    private func paths(_ shop: Shop) async -> [String] {
        await shop.wire.requests.compactMap { $0.path?.removingPercentEncoding }
    }

    // MARK: Reads

    @Test("No delta links: each download compares all rows, even with a stored link")
    func delta() async throws {
        let shop = try await Shop()
        let store = try await shop.clone([DefiningQuery(entitySet: "Products")])
        #expect(try await store.observe.status().queries.map(\.hasDeltaLink) == [true])
        try store.close()
        let client = try shop.client()
        let reopened = try await OfflineStore.open(
            at: store.directory, protection: .unencrypted, options: stated { $0.supportsDelta = false },
            connect: { _, _ in client })
        try await shop.sql("UPDATE Products SET Stock = 4711 WHERE ProductID = 1")
        await shop.wire.mend()
        let report = try await reopened.download()
        #expect(report.queries.map(\.method) == [.refresh])
        #expect(report.updated == 1)
        #expect(try await reopened.observe.status().queries.map(\.hasDeltaLink) == [false])
        let preferences = await shop.wire.requests.flatMap { request in
            request.headerFields.filter { $0.name.canonicalName == "prefer" }.map(\.value)
        }
        #expect(!preferences.isEmpty && !preferences.contains { $0.contains("track-changes") })
    }

    @Test(
        "No next links: pages are requested behind the last rows until one is empty",
        arguments: [false, true])
    func pages(isCapped: Bool) async throws {
        let shop = try await Shop()
        // The service returns fewer rows than requested and no next link.
        let capped = Gateway(
            base: try shop.client(),
            after: { _, response in
                guard case .page(var page) = response.body else { return response }
                page.entities = Array(page.entities.prefix(7))
                page.nextLink = nil
                var answer = response
                answer.body = .page(page)
                return answer
            })
        var options = stated { $0.supportsNext = false }
        options.sync.downloadPageSize = 30
        let store = try await shop.store(
            [DefiningQuery(entitySet: "Customers"), try DefiningQuery("few", "Orders?$orderby=OrderID desc&$top=9")],
            options: options, through: isCapped ? capped : nil)
        await shop.wire.mend()
        try await store.download()
        #expect(try await store.rows("Customers").count == 40)
        let few = try await shop.database.rows("Orders?$orderby=OrderID desc&$top=9")
        #expect(try await store.rows("Orders?$orderby=OrderID desc").map { $0["OrderID"] } == few.map { $0["OrderID"] })
        let asked = await paths(shop).filter { $0.contains("Customers?") }
        #expect(asked.contains { $0.contains("$skip=\(isCapped ? 7 : 30)") })
        #expect(asked.allSatisfy { $0.contains("$orderby=CustomerID") })
        try await shop.sql("UPDATE Customers SET City = 'Elsewhere' WHERE CustomerID = 'C0039'")
        let report = try await store.download()
        #expect(report.queries.map(\.method) == [.refresh, .refresh])
        #expect((report.inserted, report.updated, report.removed) == (0, 1, 0))
    }

    @Test("No next links: an interrupted first download continues behind the received rows")
    func resumedPages() async throws {
        let shop = try await Shop()
        var options = stated { $0.supportsNext = false }
        options.sync.downloadPageSize = 30
        let store = try await shop.store([DefiningQuery(entitySet: "Customers")], options: options)
        await shop.wire.cut { _, request in request.path?.contains("skip=30") == true ? .lostOnTheWay : nil }
        await #expect(throws: (any Error).self) { try await store.download() }
        await shop.wire.mend()
        try await store.download()
        let asked = await paths(shop).filter { !$0.contains("$count") }
        #expect(asked.first?.contains("$skip=30") == true)
        #expect(try await store.rows("Customers").count == 40)
    }

    @Test("No orders or no counts: only the supported one is requested", arguments: [false, true], [false, true])
    func orderAndCount(hasOrders: Bool, hasCounts: Bool) async throws {
        let shop = try await Shop()
        let options = stated {
            $0.supportsOrderBy = hasOrders
            $0.supportsCount = hasCounts
        }
        let store = try await shop.store([DefiningQuery(entitySet: "Customers")], options: options)
        await shop.wire.mend()
        try await store.download()
        let asked = await paths(shop)
        #expect(asked.contains { $0.contains("$orderby") } == hasOrders)
        #expect(asked.contains { $0.contains("/$count") } == hasCounts)
        #expect(try await store.rows("Customers").count == 40)
    }

    @Test(
        "No filters by keys: missing rows are requested one by one", arguments: [false, true])
    func filterByKey(isStated: Bool) async throws {
        let shop = try await Shop()
        let store = try await shop.store(
            [DefiningQuery(entitySet: "Order_Lines")], options: stated { $0.supportsFilterByKey = !isStated },
            through: PlainService(base: shop.client()))
        try await store.download()
        try await shop.sql("DELETE FROM \"Order Lines\" WHERE OrderID = 1006")
        await shop.wire.mend()
        #expect(try await store.download().removed == 3)
        let asked = await paths(shop)
        #expect(asked.contains { $0.contains("$filter") } == !isStated)
        #expect(asked.count { $0.contains("Order_Lines(") } == (isStated ? 3 : 0))
    }

    @Test("No filters by keys: an entity with another key is not the requested one")
    func otherByKey() async throws {
        let shop = try await Shop()
        let client = try shop.client()
        let service = Gateway(
            base: PlainService(base: client),
            before: { request in
                guard request.url.description.hasPrefix("Order_Lines(") else { return nil }
                // The service returns the entity with another key.
                return try await client.execute(
                    ODataRequest(.read, try ODataURL(parsing: "Order_Lines(OrderID=1007,LineNumber=1)")))
            })
        let store = try await shop.store(
            [DefiningQuery(entitySet: "Order_Lines")], options: stated { $0.supportsFilterByKey = false },
            through: service)
        try await store.download()
        try await shop.sql("DELETE FROM \"Order Lines\" WHERE OrderID = 1006")
        #expect(try await store.download().removed == 3)
        #expect(try await store.rows("Order_Lines?$filter=OrderID eq 1006").isEmpty)
    }

    // MARK: Batches

    /// Returns a store of two queries that are downloaded in batches. A change set of two changes was uploaded
    /// before.
    private func synchronised(
        _ shop: Shop, _ options: OfflineStore.Options, through service: Gateway
    ) async throws -> OfflineStore {
        var options = options
        options.sync.batchesDefiningQueries = true
        let store = try await shop.store(
            [DefiningQuery(entitySet: "Products"), DefiningQuery(entitySet: "Customers")], options: options,
            through: service)
        try await store.download()
        try await store.changes.transaction { changes in
            try changes.update("Products(1)", ["Stock": 501])
            try changes.update("Products(2)", ["Stock": 502])
        }
        #expect(try await store.upload().accepted.count == 2)
        #expect(try await shop.count("SELECT COUNT(*) FROM Products WHERE Stock IN (501, 502) AND ProductID < 3") == 2)
        return store
    }

    @Test(
        "No batches: first pages and change sets are sent singly",
        arguments: [false, true])
    func batches(isStated: Bool) async throws {
        let shop = try await Shop()
        let batches = LockedNames()
        let service = Gateway(
            base: try shop.client(),
            before: { request in
                guard case .batch = request.body else { return nil }
                batches.append("")
                throw ODataError(status: 501, code: "NotImplemented", message: "There are no batches.")
            })
        let store = try await synchronised(
            shop, stated { if isStated { $0.supportsBatch = false } }, through: service)
        #expect(batches.names.count == (isStated ? 0 : 2))
        #expect(try await store.rows("Customers").count == 40)
    }

    @Test("Batches without change sets: changes that belong together are sent one after the other")
    func changeSets() async throws {
        let shop = try await Shop()
        let batches = LockedNames()
        let service = Gateway(
            base: try shop.client(),
            before: { request in
                guard case .batch(let items) = request.body else { return nil }
                batches.append(items.contains { $0.atomicityGroup != nil } ? "change set" : "reads")
                return nil
            })
        _ = try await synchronised(shop, stated { $0.supportsChangeSets = false }, through: service)
        #expect(batches.names == ["reads"])
    }
}
