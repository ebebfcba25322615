import Foundation
import ODataModel
import ODataService
import OfflineOData
import Testing

extension NamedFailureTests {
    private static func order(of customer: String) -> [String: ODataValue] {
        ["CustomerID": .string(customer), "OrderedAt": .dateTimeOffset(.init(seconds: 1_790_000_000))]
    }

    @Test("Order of dependent operations: references are created after their targets and deleted before them")
    func dependentOperations() async throws {
        let shop = try await Shop()
        try await shop.sql(
            "INSERT INTO Categories VALUES (6, 'Old'); INSERT INTO Products VALUES (31, 'Old', 6, 1, 1, 0);")
        let store = try await shop.clone()
        let price = ODataValue.decimal(ODataDecimal(5))
        // Three levels of entities with keys that the service assigns.
        try await store.create("Categories", ["Name": "New"])
        try await store.create("Products", ["Name": "New", "CategoryID": -1, "Price": price, "Stock": 1])
        try await store.create("Customers", ["CustomerID": "NEWCO", "CompanyName": "New", "Country": "Norway"])
        try await store.create("Orders", Self.order(of: "NEWCO"))
        // The last change has the highest priority and must still follow the other ones.
        try await store.changes.provider(with: ChangeOptions(priority: 9)).create(
            "Order_Lines", ["OrderID": -1, "LineNumber": 1, "ProductID": -1, "Quantity": 2, "Price": price])
        // An existing order is moved to the new customer; old entities are deleted.
        try await store.update("Orders(1001)", ["CustomerID": "NEWCO"])
        try await store.delete("Products(31)")
        try await store.delete("Categories(6)")
        let report = try await store.upload()
        #expect(report.failed.map(\.entityText) == [] && report.waiting.map(\.entityText) == [])
        #expect(report.accepted.count == 8)
        let line = try #require(report.accepted.firstIndex { $0.entitySet == "Order_Lines" })
        #expect(report.accepted[..<line].count { $0.kind == .create } == 4)
        try await store.download()
        try await shop.expectEqual(store)
    }

    @Test("One bad request blocking the queue: it is refused once and archived, and the rest is sent")
    func badRequest() async throws {
        let shop = try await Shop()
        let store = try await shop.clone()
        // The constraint on the stock is not in the model, but in the database of the service.
        try await store.update("Products(1)", ["Stock": -4])
        for number in 2...12 { try await store.update("Products(\(number))", ["Stock": .integer(Int64(number))]) }
        let report = try await store.sync().upload
        #expect(report.failed.map(\.entityText) == ["Products(1)"])
        #expect(report.accepted.count == 11 && report.waiting.isEmpty)
        // The refused change does not block the queue and is not sent again.
        await shop.wire.mend()
        try await shop.sql("UPDATE Customers SET City = 'Theirs' WHERE CustomerID = 'C0009'")
        for _ in 1...3 { try await store.sync() }
        #expect(await shop.wire.requests.allSatisfy { $0.method == .get })
        #expect(try await store.rows("Customers('C0009')").first?["City"] == "Theirs")
        let archived = try #require(try await store.observe.status().failed.first)
        #expect(archived.entityText == "Products(1)" && archived.failure?.message.isEmpty == false)
    }

    @Test(
        "Stuck upload after a partition: the next synchronisation sends all pending changes once",
        arguments: [Wire.Fault.lostOnTheWay, .answerLost])
    func partition(first: Wire.Fault) async throws {
        let shop = try await Shop()
        let store = try await shop.clone()
        for round in 1...6 {
            try await store.create("Orders", Self.order(of: "C0001"))
            try await store.update("Customers('C0002')", ["City": .string("City \(round)")])
            try await store.update("Orders(1001)", ["Freight": .decimal(ODataDecimal(Int64(round)))])
            // From one request on, all messages are lost; in each round, from a later request.
            await shop.wire.cut { number, _ in number < round ? nil : number == round ? first : .lostOnTheWay }
            for _ in 1...3 { _ = try? await store.sync() }
            await shop.wire.mend()
            let report = try await store.sync()
            #expect(report.upload.failed.map(\.entityText) == [])
            #expect(try await store.observe.status().pending.map(\.entityText) == [], "round \(round)")
            #expect(try await shop.count("SELECT COUNT(*) FROM Orders") == 200 + round)
        }
        try await shop.expectEqual(store)
    }
}
