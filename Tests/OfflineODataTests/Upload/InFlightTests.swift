import ODataModel
import ODataQuery
import ODataService
import OfflineOData
import Synchronization
import Testing

@Suite("An edit while a request is on its way")
struct InFlightTests {
    /// What the app does once, between the service's acting and the arrival of its answer.
    private final class App: Sendable {
        private let edits = Mutex<(@Sendable () async throws -> Void)?>(nil)

        func plan(_ body: @escaping @Sendable () async throws -> Void) { edits.withLock { $0 = body } }

        func act() async throws {
            let body = edits.withLock { edits in
                defer { edits = nil }
                return edits
            }
            try await body?()
        }
    }

    private func store(_ shop: Shop, _ app: App, _ method: ODataRequest.Method) async throws -> OfflineODataProvider {
        let service = Gateway(
            base: try shop.client(),
            after: { request, response in
                if request.method == method { try await app.act() }
                return response
            })
        return try await shop.clone(through: service)
    }

    @Test("of the entity, of what refers to it, and of its ETag chain, is sent after it")
    func edits() async throws {
        let shop = try await Shop()
        let app = App()
        let store = try await store(shop, app, .create)
        try await store.create(
            "Orders", ["CustomerID": "C0001", "OrderedAt": .dateTimeOffset(.init(seconds: 1_790_000_000))])
        app.plan {
            try await store.update("Orders(-1)", ["Freight": .decimal(ODataDecimal(9))])
            try await store.create(
                "Order_Lines",
                ["OrderID": -1, "LineNumber": 1, "ProductID": 3, "Quantity": 2, "Price": .decimal(ODataDecimal(5))])
            try await store.update("Orders(-1)", ["Freight": .decimal(ODataDecimal(10))])
        }
        let report = try await store.upload()
        #expect(report.accepted.count == 4)
        #expect(report.failed.map(\.entityText) == [])
        try await store.download()
        #expect(try await store.rows("Orders(1201)").first?["Freight"] == .decimal(ODataDecimal(10)))
        try await shop.expectEqual(store)
    }

    @Test("that deletes the entity is sent after it", arguments: [ODataRequest.Method.create, .update])
    func deletes(method: ODataRequest.Method) async throws {
        let shop = try await Shop()
        let app = App()
        let store = try await store(shop, app, method)
        if method == .create {
            try await store.create("Categories", ["Name": "Anchors"])
            app.plan { try await store.delete("Categories(-1)") }
        } else {
            try await store.update("Order_Lines(OrderID=1003,LineNumber=1)", ["Quantity": 8])
            app.plan { try await store.delete("Order_Lines(OrderID=1003,LineNumber=1)") }
        }
        let report = try await store.upload()
        #expect(report.accepted.map(\.kind).last == .delete)
        #expect(report.failed.map(\.entityText) == [])
        try await store.download()
        try await shop.expectEqual(store)
    }

    @Test("survives that the answer is lost: both arrive once")
    func lostAnswer() async throws {
        let shop = try await Shop()
        let app = App()
        let store = try await store(shop, app, .update)
        try await store.update("Products(5)", ["Stock": 77])
        app.plan {
            try await store.update("Products(5)", ["Stock": 78])
            throw CancellationError()
        }
        await #expect(throws: CancellationError.self) { try await store.upload() }
        #expect(try await store.upload().failed.map(\.entityText) == [])
        try await store.download()
        #expect(try await shop.count("SELECT Stock FROM Products WHERE ProductID = 5") == 78)
        try await shop.expectEqual(store)
    }
}
