import ODataModel
import ODataQuery
import ODataService
import OfflineOData
import Testing

@Suite("Repairing a refused request by an edit")
struct MendingTests {
    private static let order: [String: ODataValue] = [
        "CustomerID": "NOBODY", "OrderedAt": .dateTimeOffset(.init(seconds: 1_790_000_000)),
    ]
    private static let line: [String: ODataValue] = [
        "OrderID": -1, "LineNumber": 1, "ProductID": 3, "Quantity": 2, "Price": .decimal(ODataDecimal(5)),
    ]

    /// Returns a store with a refused change of a product's stock.
    private func refused(
        _ shop: Shop, _ options: ChangeOptions = ChangeOptions()
    ) async throws -> OfflineStore {
        let store = try await shop.clone()
        try await store.changes.provider(with: options).update("Products(6)", ["Stock": -4])
        #expect(try await store.upload().failed.count == 1)
        return store
    }

    /// Returns a store with a refused creation of an order.
    private func refusedOrder(
        _ shop: Shop, withLine: Bool = false, hasBatches: Bool
    ) async throws -> OfflineStore {
        var options = OfflineStore.Options()
        options.service.capabilities.supportsBatch = hasBatches
        let store = try await shop.store(options: options)
        try await store.download()
        try await store.create("Orders", Self.order)
        if withLine { try await store.create("Order_Lines", Self.line) }
        #expect(try await store.upload().failed.map(\.entitySet) == ["Orders"])
        return store
    }

    /// Uploads the remaining changes and expects that they are accepted.
    ///
    /// - Returns: the sent changes, in order.
    private func sent(
        _ store: OfflineStore, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> [QueuedRequest] {
        let report = try await store.upload()
        #expect(report.failed.map { $0.failure?.message } == [], sourceLocation: sourceLocation)
        return report.accepted
    }

    /// Returns whether a batch was sent since the wire was mended.
    private func usesBatches(_ shop: Shop) async -> Bool {
        await shop.wire.requests.contains { $0.path?.hasSuffix("$batch") == true }
    }

    /// Expects equal rows on both sides and an empty queue.
    private func expectSettled(
        _ store: OfflineStore, _ shop: Shop, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        try await store.download()
        try await shop.expectEqual(store, sourceLocation: sourceLocation)
    }

    private func stock(_ shop: Shop, _ product: Int) async throws -> Int {
        try await shop.count("SELECT Stock FROM Products WHERE ProductID = \(product)")
    }

    /// Cancels the request in the error archive.
    private func cancelRefused(_ store: OfflineStore) async throws {
        #expect(try await store.changes.cancel(try await store.observe.status().failed.map(\.id)) == 1)
    }

    // MARK: Options

    @Test(
        "combines header fields and tags, the new category and the higher priority (§3.6)",
        arguments: [(2, 0), (0, 2)])
    func options(first: Int, second: Int) async throws {
        let shop = try await Shop()
        let store = try await refused(
            shop, ChangeOptions(category: "first", tag: "a", headers: ["X": "1", "Y": "1"], priority: first))
        let edit = ChangeOptions(category: "visits", tag: "b", headers: ["X": "2"], priority: second)
        try await store.changes.provider(with: edit).update("Products(6)", ["Stock": 4])
        let report = try await store.upload(options: UploadOptions(categories: ["visits"]))
        let sent = try #require(report.accepted.first)
        #expect(sent.options.tag == "a#b")
        #expect(sent.options.headers == ["X": "2", "Y": "1"])
        #expect(sent.options.priority == 2)
        try await expectSettled(store, shop)
    }

    @Test("includes the updates behind it, and compares with the values before all of them")
    func waiting() async throws {
        let shop = try await Shop()
        let store = try await shop.clone(through: PlainService(base: shop.client(), hasETags: false))
        for (tag, number) in [("a", -4), ("b", -3)] as [(String, Int64)] {
            try await store.changes.provider(with: ChangeOptions(tag: tag)).update(
                "Products(6)", ["Stock": .integer(number)])
        }
        #expect(try await store.upload().failed.map(\.options.tag) == ["a"])
        try await store.changes.provider(with: ChangeOptions(tag: "c")).update("Products(6)", ["Stock": 4])
        #expect(try await sent(store).map(\.options.tag) == ["a#b#c"])
        #expect(try await stock(shop, 6) == 4)
    }

    // MARK: Edits that do not correct

    @Test("is not done by an unmodifiable edit, which waits behind it")
    func unmodifiable() async throws {
        let shop = try await Shop()
        let store = try await refused(shop)
        try await store.changes.provider(with: ChangeOptions(isUnmodifiable: true)).update("Products(6)", ["Stock": 4])
        let report = try await store.upload()
        #expect(report.accepted.isEmpty)
        #expect(report.waiting.map(\.options.isUnmodifiable) == [true])
        #expect(try await store.observe.status().failed.count == 1)
        try await cancelRefused(store)
        #expect(try await store.upload().accepted.map { $0.changes["Stock"] } == [4])
        try await expectSettled(store, shop)
    }

    @Test("is not done if an unmodifiable request behind it would undo it")
    func undone() async throws {
        let shop = try await Shop()
        let store = try await refused(shop)
        try await store.changes.provider(with: ChangeOptions(isUnmodifiable: true)).update("Products(6)", ["Stock": 4])
        try await store.update("Products(6)", ["Stock": 5])
        #expect(try await store.observe.status().failed.count == 1)
        try await cancelRefused(store)
        #expect(try await store.upload().accepted.map { $0.changes["Stock"] } == [4, 5])
        #expect(try await stock(shop, 6) == 5)
        try await expectSettled(store, shop)
    }

    @Test("is done past an unmodifiable request that changes something else")
    func besides() async throws {
        let shop = try await Shop()
        let store = try await refused(shop)
        try await store.changes.provider(with: ChangeOptions(isUnmodifiable: true)).update(
            "Products(6)", ["Name": "Mine"])
        try await store.update("Products(6)", ["Stock": 5])
        #expect(try await store.upload().accepted.map { $0.changes["Name"] } == [nil, "Mine"])
        try await expectSettled(store, shop)
    }

    // MARK: Transactions

    @Test("in a transaction adds the refused request to it: all or nothing")
    func transaction() async throws {
        let shop = try await Shop()
        let store = try await refused(shop)
        let before = try await stock(shop, 6)
        try await store.changes.transaction { changes in
            try changes.update("Products(6)", ["Stock": 4])
            try changes.update("Products(7)", ["Stock": -9])
        }
        #expect(try await store.upload().failed.count == 2)
        #expect(try await stock(shop, 6) == before, "nothing of it is made alone")
        try await store.update("Products(7)", ["Stock": 9])
        await shop.wire.mend()
        #expect(try await store.upload().accepted.count == 2)
        #expect(await shop.wire.requests.map { $0.path?.hasSuffix("$batch") } == [true])
        #expect(try await stock(shop, 6) == 4)
        try await expectSettled(store, shop)
    }

    @Test("in a transaction that creates its target is sent behind that creation", arguments: [true, false])
    func reference(hasBatches: Bool) async throws {
        let shop = try await Shop()
        let store = try await refusedOrder(shop, hasBatches: hasBatches)
        try await store.changes.transaction { changes in
            try changes.create("Customers", ["CustomerID": "NEWCO", "CompanyName": "New", "Country": "Norway"])
            try changes.update("Orders(-1)", ["CustomerID": "NEWCO"])
        }
        await shop.wire.mend()
        #expect(try await sent(store).map(\.entitySet) == ["Customers", "Orders"])
        #expect(await usesBatches(shop) == hasBatches)
        try await expectSettled(store, shop)
    }

    @Test("in a transaction includes its dependents in the same transaction", arguments: [true, false])
    func between(hasBatches: Bool) async throws {
        let shop = try await Shop()
        let store = try await refusedOrder(shop, withLine: true, hasBatches: hasBatches)
        try await store.changes.transaction { changes in
            try changes.update("Order_Lines(OrderID=-1,LineNumber=1)", ["Quantity": 3])
            try changes.update("Orders(-1)", ["CustomerID": "C0001"])
            try changes.update("Order_Lines(OrderID=-1,LineNumber=1)", ["ProductID": 4])
        }
        let pending = try await store.observe.status().pending
        #expect(pending.map(\.kind) == [.create, .create, .update, .update])
        let changeSets = try await store.rows("RequestQueue").compactMap { $0["ChangeSet"] }
        #expect(changeSets.count == 4 && Set(changeSets).count == 1 && changeSets.first != .null)
        await shop.wire.mend()
        #expect(try await sent(store).count == 4)
        #expect(await usesBatches(shop) == hasBatches)
        let quantity = "SELECT Quantity FROM \"Order Lines\" WHERE OrderID = 1201 AND ProductID = 4"
        #expect(try await shop.count(quantity) == 3)
        try await expectSettled(store, shop)
    }

    @Test("by a dependent change in a transaction adds it to the transaction", arguments: [true, false])
    func circle(hasBatches: Bool) async throws {
        let shop = try await Shop()
        let store = try await refusedOrder(shop, hasBatches: hasBatches)
        try await store.changes.transaction { changes in
            try changes.create("Customers", ["CustomerID": "NEWCO", "CompanyName": "New", "Country": "Norway"])
            try changes.create("Order_Lines", Self.line)
        }
        try await store.update("Orders(-1)", ["CustomerID": "NEWCO"])
        await shop.wire.mend()
        #expect(try await sent(store).map(\.entitySet) == ["Customers", "Orders", "Order_Lines"])
        #expect(await usesBatches(shop) == hasBatches)
        try await expectSettled(store, shop)
    }

    @Test(
        "by a dependent change in a transaction merges its change set with the transaction",
        arguments: [true, false])
    func circleOfTwo(hasBatches: Bool) async throws {
        let shop = try await Shop()
        var options = OfflineStore.Options()
        options.service.capabilities.supportsBatch = hasBatches
        let store = try await shop.store(options: options)
        try await store.download()
        try await store.changes.transaction { changes in
            try changes.create("Orders", Self.order)
            try changes.update("Products(7)", ["Stock": 9])
        }
        #expect(try await store.upload().failed.first?.entitySet == "Orders")
        try await store.changes.transaction { changes in
            try changes.create("Customers", ["CustomerID": "NEWCO", "CompanyName": "New", "Country": "Norway"])
            try changes.create("Order_Lines", Self.line)
        }
        try await store.update("Orders(-1)", ["CustomerID": "NEWCO"])
        #expect(try await sent(store).count == 4)
        #expect(try await store.observe.status().pending.isEmpty)
        try await expectSettled(store, shop)
    }
}
