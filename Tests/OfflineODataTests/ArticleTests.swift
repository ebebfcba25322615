import Foundation
import ODataClient
import ODataModel
import ODataQuery
import ODataService
import OfflineOData
import Testing

@Suite("The examples of articles")
struct ArticleTests {
    @Test(
        "are compiled by this test",
        arguments: [
            "Protocol/ODataClient/Documentation.docc/CommonTasks.md",
            "Sync/OfflineOData/Documentation.docc/ChangingOffline.md",
            "Sync/OfflineOData/Documentation.docc/OfflineOData.md",
        ])
    func same(article: String) throws {
        func lines(_ text: some StringProtocol) -> String {
            text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
                .joined(separator: "\n")
        }
        let file = Shop.root.appendingPathComponent("Tests/OfflineODataTests/ArticleExamples.swift")
        let source = lines(try String(contentsOf: file, encoding: .utf8))
        let text = try String(contentsOf: Shop.root.appendingPathComponent("Sources/\(article)"), encoding: .utf8)
        let examples = text.components(separatedBy: "```swift\n").dropFirst().compactMap {
            $0.components(separatedBy: "\n```").first
        }
        #expect(examples.count >= 3)
        // The URLSession transport is not compiled on this platform.
        for example in examples where !example.contains("URLSessionTransport") {
            #expect(source.contains(lines(example)), "\(example)")
        }
    }

    @Test("of common tasks work as described, on a client and on an offline store", arguments: [true, false])
    func commonTasks(isOnline: Bool) async throws {
        let shop = try await Shop()
        let client = try shop.client()
        let service = isOnline ? DataService(client) : DataService(try await shop.clone())
        let model = try await client.model
        let made = try await CommonTasks.deepInsert(
            service, orderShape: #require(model.shape(ofSet: "Orders")),
            lineShape: #require(model.shape(ofSet: "Order_Lines")), now: .init(seconds: 1_790_000_000))
        let id = try #require(made["OrderID"])
        let lines = ResourceQuery("Order_Lines").filter(.property("OrderID") == .value(id))
        #expect(try await service.entities(lines).count == 1)
        if isOnline {
            let changes = try await CommonTasks.changes(service) {
                let customer = try #require(try await service.entity("Customers", key: "C0001"))
                var changed = customer
                changed["City"] = "Oslo"
                try await service.update(changed)
            }
            #expect(changes == 1)
        }
        #expect(try await CommonTasks.pages(service) == service.count(ResourceQuery("Orders")))
        let groups = try await CommonTasks.groups(service)
        let countries = try await shop.count("SELECT COUNT(DISTINCT Country) FROM Customers")
        #expect(groups.count == countries && groups.allSatisfy { $0.country != nil && $0.count != nil })
        let large = try await CommonTasks.members(service)
        #expect(!large.isEmpty && large.allSatisfy { $0.related["Order_Lines"] != nil })
        #expect(try await CommonTasks.batch(service) == (5, ["order"]))
        let hidden = DataService(try await CommonTasks.longURLs(Shop.serviceRoot, over: shop.wire))
        #expect(try await hidden.count(ResourceQuery("Customers")) == service.count(ResourceQuery("Customers")))
    }

    @Test("of an offline store work as described")
    func offlineTasks() async throws {
        let shop = try await Shop()
        let store = try await shop.clone()
        try await OfflineTasks.together(store, now: .init(seconds: 1_790_000_000))
        #expect(try await store.upload().accepted.count == 2)
        try await store.update("Customers('C0001')", ["CompanyName": "Ours", "City": "Ours"])
        try await shop.sql("UPDATE Customers SET City = 'Theirs' WHERE CustomerID = 'C0001'")
        let report = try await OfflineTasks.conflicts(store)
        #expect(report.failed.map(\.description) == [])
        let names = try await shop.count(
            "SELECT COUNT(*) FROM Customers WHERE CompanyName = 'Ours' AND City = 'Theirs'")
        #expect(names == 1)
        #expect(try await OfflineTasks.archive(store).status == 200)
        try await OfflineTasks.parameter(store)
        #expect(try await store.observe.status().queries.contains { $0.name == "mine" })
        var shown = 0
        try await OfflineTasks.observe(store) { orders in
            shown = orders.count
            return false
        }
        #expect(shown > 0)
    }
}
