import ODataModel
import ODataQuery
import ODataService
import OfflineOData
import Testing

@Suite("A row with local changes")
struct MembershipTests {
    @Test("leaves with the last query that held it, not with the first (rule 12)")
    func handedOver() async throws {
        let shop = try await Shop()
        let store = try await shop.clone([
            DefiningQuery("norway", "Customers?$filter=Country eq 'Norway'"),
            DefiningQuery("bergen", "Customers?$filter=City eq 'Bergen'"),
        ])
        try await store.update("Customers('C0001')", ["CompanyName": "Mine"])
        try await shop.sql("UPDATE Customers SET Country = 'Sweden' WHERE CustomerID = 'C0001'")
        try await store.download(["bergen"])
        try await store.download(["norway"])
        #expect(try await store.upload().failed.count == 1)
        try await store.discard()
        #expect(try await store.rows("Customers('C0001')").first?["Country"] == "Sweden", "it still is in Bergen")
        try await shop.sql("UPDATE Customers SET City = 'Malmö' WHERE CustomerID = 'C0001'")
        try await store.download(["bergen"])
        #expect(try await store.rows("Customers?$filter=CustomerID eq 'C0001'").isEmpty)
    }

    @Test("that no query holds any more goes once its changes are uploaded")
    func released() async throws {
        let shop = try await Shop()
        let isTold = LockedFlag()
        let service = Gateway(
            base: try shop.client(),
            after: { _, response in
                guard isTold.isSet, case .page(var page) = response.body else { return response }
                // Many services tell only once that an entity has left a result.
                page.removed = []
                var response = response
                response.body = .page(page)
                return response
            })
        let store = try await shop.clone(
            [DefiningQuery("norway", "Customers?$filter=Country eq 'Norway'")], through: service)
        try await store.update("Customers('C0001')", ["CompanyName": "Mine"])
        try await shop.sql("UPDATE Customers SET Country = 'Sweden' WHERE CustomerID = 'C0001'")
        try await store.download()
        isTold.set()
        #expect(try await store.rows("Customers('C0001')").count == 1)
        try await store.sync(options: UploadOptions(conflictPolicy: .clientWins))
        #expect(try await shop.text("SELECT CompanyName FROM Customers WHERE CustomerID = 'C0001'") == "Mine")
        #expect(try await store.rows("Customers?$filter=CustomerID eq 'C0001'").isEmpty)
    }

    @Test("that was made here and is in no query goes once all its changes are uploaded")
    func releasedAfterMending() async throws {
        let shop = try await Shop()
        let store = try await shop.clone([DefiningQuery("many", "Products?$filter=Stock gt 1000000")])
        let made = try await store.create(
            "Products", ["Name": "X", "CategoryID": 1, "Price": .decimal(ODataDecimal(1)), "Stock": 1])
        #expect(made?["ProductID"] == -1)
        try await store.update("Products(-1)", ["Stock": -4])
        try await store.sync()
        #expect(try await store.status().failed.count == 1)
        try await store.update("Products(-1)", ["Stock": 4])
        try await store.sync()
        #expect(try await store.status().failed.map(\.entityText) == [])
        #expect(try await store.rows("Products").isEmpty)
    }

    @Test("is one row when a download brought it before the answer to its create came, with edits on both")
    func twins() async throws {
        let shop = try await Shop()
        let store = try await shop.clone()
        try await store.create(
            "Orders", ["CustomerID": "C0001", "OrderedAt": .dateTimeOffset(.init(seconds: 1_790_000_000))])
        await shop.wire.cut { _, request in request.method == .post ? .answerLost : nil }
        _ = try? await store.upload()
        await shop.wire.mend()
        try await store.download()
        try await store.update("Orders(1201)", ["Freight": .decimal(ODataDecimal(9))])
        #expect(try await store.upload().failed.map(\.entityText) == [])
        #expect(try await store.rows("Orders(1201)").first?["Freight"] == .decimal(ODataDecimal(9)))
        try await store.download()
        try await shop.expectEqual(store)
    }

    @Test("is compared with what the service made of the change before, where there are no ETags (rule 8)")
    func normalised() async throws {
        let shop = try await Shop()
        let service = Gateway(
            base: PlainService(base: try shop.client(), hasETags: false),
            after: { request, response in
                guard request.method == .create, case .entity(var entity) = response.body else { return response }
                try await shop.sql("UPDATE Customers SET City = 'OSLO' WHERE CustomerID = 'NEWCO'")
                entity["City"] = "OSLO"
                entity.markUnchanged()
                var response = response
                response.body = .entity(entity)
                return response
            })
        let store = try await shop.clone(through: service)
        try await store.create(
            "Customers", ["CustomerID": "NEWCO", "CompanyName": "New", "City": "Oslo", "Country": "Norway"])
        try await store.update("Customers('NEWCO')", ["City": "Bergen"])
        #expect(try await store.upload().failed.map(\.entityText) == [])
    }

    @Test("is compared by values where the service gave no ETag with its pages (rule 8)")
    func withoutETagInPages() async throws {
        let shop = try await Shop()
        let service = Gateway(
            base: try shop.client(),
            after: { _, response in
                guard case .page(var page) = response.body else { return response }
                for index in page.entities.indices { page.entities[index].control.etag = nil }
                var response = response
                response.body = .page(page)
                return response
            })
        let store = try await shop.clone(through: service)
        try await store.update("Customers('C0002')", ["City": "Mine"])
        try await shop.sql("UPDATE Customers SET City = 'Theirs' WHERE CustomerID = 'C0002'")
        #expect(try await store.upload().failed.map(\.entityText) == ["Customers('C0002')"])
    }
}
