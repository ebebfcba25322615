import ODataModel
import ODataService
import OfflineOData
import Testing

@Suite("The status of a store")
struct StatusTests {
    private func rows(_ store: OfflineStore) async throws -> [String: Int] {
        Dictionary(uniqueKeysWithValues: try await store.observe.status().queries.map { ($0.name, $0.rows) })
    }

    @Test("counts the rows of each query, not of its entity set")
    func counts() async throws {
        let shop = try await Shop()
        let store = try await shop.store([
            DefiningQuery("norway", "Customers?$filter=Country eq 'Norway'"), DefiningQuery("all", "Customers"),
            DefiningQuery("few", "Orders?$filter=OrderID le 1010&$expand=Order_Lines"),
            DefiningQuery("never", "Orders?$filter=OrderID gt 1100"), DefiningQuery("one", "Products(1)"),
        ])
        #expect(try await rows(store).values.allSatisfy { $0 == 0 })
        try await store.download(["norway", "all", "few", "one"])
        let norway = try await shop.count("SELECT COUNT(*) FROM Customers WHERE Country = 'Norway'")
        let all = try await shop.count("SELECT COUNT(*) FROM Customers")
        let few = try await shop.count("SELECT COUNT(*) FROM Orders WHERE OrderID <= 1010")
        #expect(0 < norway && norway < all)
        #expect(try await rows(store) == ["norway": norway, "all": all, "few": few, "never": 0, "one": 1])
        try await store.create("Customers", ["CustomerID": "NEW", "CompanyName": "New", "Country": "Norway"])
        try await store.update("Customers('C0002')", ["City": "Mine"])
        #expect(try await rows(store)["norway"] == norway)
        try await shop.sql("UPDATE Customers SET Country = 'Chile' WHERE Country = 'Norway'")
        try await store.download()
        #expect(try await rows(store)["norway"] == 0)
        #expect(try await rows(store)["all"] == all)
    }

    @Test("counts contained entities if a query reads them")
    func contained() async throws {
        let depot = try await Depot()
        let store = try await depot.clone([
            DefiningQuery("slips", "Boxes(1)/Slips"), DefiningQuery("boxes", "Boxes?$expand=Slips"),
            DefiningQuery("box", "Boxes(1)"),
        ])
        let slips = try await store.rows("Boxes(1)/Slips").count
        let boxes = try await store.rows("Boxes").count
        let counted = try await rows(store)
        #expect(counted == ["slips": slips, "boxes": boxes, "box": 1])
    }
}
