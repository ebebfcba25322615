import ODataModel
import ODataQuery
import ODataService
import OfflineOData
import Testing

@Suite("An update with a response without the entity")
struct LeanAnswerTests {
    /// Returns a service that answers the first update with 204; another user changes the product before it is
    /// read again.
    private func service(_ shop: Shop, tellsETag: Bool, others sql: String) throws -> Gateway {
        let isAnswered = LockedFlag()
        return Gateway(
            base: PlainService(base: try shop.client()),
            after: { request, response in
                guard request.method == .update, !isAnswered.isSet else { return response }
                isAnswered.set()
                try await shop.sql(sql)
                return ODataResponse(status: 204, etag: tellsETag ? response.etag : nil)
            })
    }

    private func store(_ shop: Shop, through service: Gateway) async throws -> OfflineStore {
        var options = OfflineStore.Options()
        options.sync.populatesGeneratedValuesEarly = true
        let store = try await shop.store(options: options, through: service)
        try await store.download()
        try await store.update("Products(5)", ["Price": 9])
        try await store.update("Products(5)", ["Stock": 77])
        return store
    }

    @Test(
        "does not let the next one overwrite later changes by others",
        arguments: [false, true])
    func overtaken(tellsETag: Bool) async throws {
        let shop = try await Shop()
        let store = try await store(
            shop,
            through: try service(
                shop, tellsETag: tellsETag, others: "UPDATE Products SET Stock = 3 WHERE ProductID = 5"))
        let report = try await store.upload()
        #expect(report.accepted.map(\.changes["Price"]) == [.decimal(9)])
        #expect(report.failed.map(\.changes["Stock"]) == [77])
        #expect(report.failed.first?.failure?.theirs?["Stock"] == 3)
        #expect(try await shop.count("SELECT Stock FROM Products WHERE ProductID = 5") == 3)
    }

    @Test("lets the next one continue if others changed something else", arguments: [false, true])
    func besides(tellsETag: Bool) async throws {
        let shop = try await Shop()
        let store = try await store(
            shop,
            through: try service(
                shop, tellsETag: tellsETag, others: "UPDATE Products SET Name = 'Theirs' WHERE ProductID = 5"))
        let report = try await store.upload()
        #expect(report.failed.map(\.entityText) == [])
        #expect(report.accepted.count == 2)
        try await store.download()
        try await shop.expectEqual(store)
    }
}
