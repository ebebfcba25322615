import ODataModel
import ODataQuery
import ODataService
import OfflineOData
import Testing

@Suite("Changes that are withdrawn in favour of the server version")
struct GivenUpTests {
    private static let theirs = "UPDATE Customers SET City = 'Theirs' WHERE CustomerID = 'C0002'"

    private func upload(_ store: OfflineStore) async throws -> UploadReport {
        try await store.upload(options: UploadOptions(conflictPolicy: .serverWins))
    }

    @Test("are reported separately from accepted changes, in the report and the event log")
    func report() async throws {
        let shop = try await Shop()
        let store = try await shop.clone()
        try await store.update("Customers('C0002')", ["City": "Mine"])
        try await store.update("Products(1)", ["Stock": 5])
        try await shop.sql(Self.theirs)
        let report = try await upload(store)
        #expect(report.givenUp.map(\.entityText) == ["Customers('C0002')"])
        #expect(report.accepted.map(\.entityText) == ["Products(1)"])
        #expect(report.failed.isEmpty && report.waiting.isEmpty)
        let event = try #require(try await store.observe.events().first { $0.kind == "upload" })
        #expect(event.text == "1 changes accepted, 0 not, 1 given up")
        #expect(event.requests == 2 && event.failures == 0)
    }

    @Test("include the whole change set and its dependents")
    func changeSet() async throws {
        let shop = try await Shop()
        let store = try await shop.clone()
        try await store.changes.transaction { changes in
            try changes.update("Products(1)", ["Stock": 5])
            try changes.update("Customers('C0002')", ["City": "Mine"])
            try changes.create("Categories", ["Name": "Mine"])
        }
        let category = try #require(try await store.rows("Categories?$filter=Name eq 'Mine'").first?["CategoryID"])
        try await store.create(
            "Products", ["Name": "X", "CategoryID": category, "Price": .decimal(ODataDecimal(1)), "Stock": 1])
        try await shop.sql(Self.theirs)
        let report = try await upload(store)
        #expect(report.givenUp.map(\.entitySet) == ["Products", "Customers", "Categories", "Products"])
        #expect(report.accepted.isEmpty && report.failed.isEmpty && report.waiting.isEmpty)
        try await store.download()
        try await shop.expectEqual(store)
    }

    @Test("include every change of an entity that the service deleted")
    func deleted() async throws {
        let shop = try await Shop()
        let store = try await shop.clone()
        for quantity in [5, 6] {
            try await store.update(
                "Order_Lines(OrderID=1003,LineNumber=1)", ["Quantity": .integer(Int64(quantity))])
        }
        try await shop.sql("DELETE FROM \"Order Lines\" WHERE OrderID = 1003 AND LineNumber = 1")
        let report = try await upload(store)
        #expect(report.givenUp.map(\.kind) == [.update, .update])
        #expect(report.accepted.isEmpty && report.failed.isEmpty && report.waiting.isEmpty)
    }
}
