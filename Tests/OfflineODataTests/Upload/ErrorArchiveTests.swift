import ODataModel
import ODataService
import OfflineOData
import Testing

@Suite("The error archive")
struct ErrorArchiveTests {
    private func refused(_ shop: Shop) async throws -> OfflineODataProvider {
        let store = try await shop.clone()
        try await store.update("Products(6)", ["Stock": -4])
        let report = try await store.upload()
        #expect(report.failed.count == 1)
        return store
    }

    @Test("keeps the refused change, its reason and the entity as the user left it")
    func kept() async throws {
        let shop = try await Shop()
        let store = try await refused(shop)
        let failed = try #require(try await store.status().failed.first)
        #expect(failed.failure?.status ?? 0 >= 400)
        #expect(failed.failure?.message.isEmpty == false)
        #expect(try await store.rows("Products(6)").first?["Stock"] == -4)
    }

    @Test("is emptied by editing the entity again")
    func mended() async throws {
        let shop = try await Shop()
        let store = try await refused(shop)
        try await store.update("Products(6)", ["Stock": 4])
        let report = try await store.upload()
        #expect(report.accepted.count == 1)
        #expect(report.failed.map(\.entityText) == [])
        try await store.download()
        try await shop.expectEqual(store)
    }

    @Test("gives a change up: the entity is what the service has")
    func discarded() async throws {
        let shop = try await Shop()
        let store = try await refused(shop)
        #expect(try await store.discard() == 1)
        try await shop.expectEqual(store)
    }

    @Test("retries a change as it is")
    func retried() async throws {
        let shop = try await Shop()
        let store = try await refused(shop)
        #expect(try await store.retry() == 1)
        #expect(try await store.upload().failed.count == 1, "the service has not changed its mind")
    }

    @Test("retries after a conflict on top of the other's version")
    func retriedConflict() async throws {
        let shop = try await Shop()
        let store = try await shop.clone()
        try await store.update("Customers('C0002')", ["City": "Mine"])
        try await shop.sql("UPDATE Customers SET City = 'Theirs' WHERE CustomerID = 'C0002'")
        #expect(try await store.upload().failed.count == 1)
        try await store.retry()
        #expect(try await store.upload().failed.map(\.entityText) == [])
        #expect(try await shop.text("SELECT City FROM Customers WHERE CustomerID = 'C0002'") == "Mine")
    }

    @Test("forgets a refused create that is deleted here")
    func createDeleted() async throws {
        let shop = try await Shop()
        let store = try await shop.clone()
        try await store.create("Customers", ["CustomerID": "C0001X", "CompanyName": "X", "Country": "Y"])
        try await store.create("Products", ["Name": "X", "CategoryID": 99, "Price": .decimal(ODataDecimal(1))])
        #expect(try await store.upload().failed.count == 1)
        try await store.delete("Products(-1)")
        #expect(try await store.status().failed.map(\.entityText) == [])
        try await store.download()
        try await shop.expectEqual(store)
    }

    @Test("names what it does not have")
    func unknown() async throws {
        let shop = try await Shop()
        let store = try await shop.clone([])
        await #expect(throws: OfflineError.self) { try await store.retry([4711]) }
        await #expect(throws: OfflineError.self) { try await store.discard([4711]) }
    }

    @Test("restores a deleted entity whose delete was refused")
    func deleteDiscarded() async throws {
        let shop = try await Shop()
        let store = try await shop.clone()
        // Orders refer to it, so the service refuses.
        try await store.delete("Customers('C0001')")
        #expect(try await store.rows("Customers").count == 39)
        #expect(try await store.upload().failed.count == 1)
        try await store.discard()
        #expect(try await store.rows("Customers").count == 40)
        try await shop.expectEqual(store)
    }
}
