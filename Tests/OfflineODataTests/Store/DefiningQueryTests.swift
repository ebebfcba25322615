import ODataModel
import ODataQuery
import OfflineOData
import Testing

@Suite("Defining queries")
struct DefiningQueryTests {
    @Test("are added at any time and fill with the next download")
    func added() async throws {
        let shop = try await Shop()
        let store = try await shop.clone([DefiningQuery("norway", "Customers?$filter=Country eq 'Norway'")])
        try await store.add(DefiningQuery("products", "Products", group: "stock"))
        #expect(try await store.rows("Products").isEmpty)
        try await store.download(["stock"])
        #expect(try await store.rows("Products") == (try await shop.database.rows("Products?$orderby=ProductID")))
        #expect(try await store.definingQueries().map(\.name) == ["norway", "products"])
    }

    @Test("have names of their own")
    func named() async throws {
        let shop = try await Shop()
        let store = try await shop.clone([DefiningQuery("norway", "Customers?$filter=Country eq 'Norway'")])
        await #expect(throws: OfflineError.self) { try await store.add(DefiningQuery("norway", "Products")) }
        await #expect(throws: OfflineError.self) { try await store.removeQuery("sweden") }
    }

    @Test("are removed with the rows that no other query holds")
    func removed() async throws {
        let shop = try await Shop()
        let store = try await shop.clone([
            DefiningQuery("norway", "Customers?$filter=Country eq 'Norway'"),
            DefiningQuery("bergen", "Customers?$filter=City eq 'Bergen'"),
            DefiningQuery("products", "Products"),
        ])
        let bergen = try await store.rows("Customers?$filter=City eq 'Bergen'&$orderby=CustomerID")
        let all = try await store.rows("Customers").count
        #expect(try await store.removeQuery("norway") == all - bergen.count)
        #expect(try await store.rows("Customers?$orderby=CustomerID") == bergen)
        #expect(try await store.rows("Products").count > 0)
        #expect(try await store.definingQueries().map(\.name) == ["bergen", "products"])
    }

    @Test("leave rows with changes of ours until these are through (rule 12)")
    func withChanges() async throws {
        let shop = try await Shop()
        try await shop.sql(
            "INSERT INTO Products(ProductID, Name, CategoryID, Price, Stock) VALUES(900, 'New', 1, 1, 1)")
        let store = try await shop.clone([DefiningQuery("products", "Products"), DefiningQuery("orders", "Orders")])
        try await store.update("Products(1)", ["Stock": 77])
        try await store.delete("Products(900)")
        try await store.removeQuery("products")
        #expect(try await store.rows("Products").map { $0["ProductID"] } == [1])
        try await store.sync()
        #expect(try await shop.count("SELECT Stock FROM Products WHERE ProductID = 1") == 77)
        #expect(try await shop.count("SELECT COUNT(*) FROM Products WHERE ProductID = 900") == 0)
        #expect(try await store.rows("Products").isEmpty)
        #expect(try await store.status().pending.isEmpty)
    }

    @Test("that are removed and added again bring their rows again")
    func again() async throws {
        let shop = try await Shop()
        let store = try await shop.clone([DefiningQuery("products", "Products")])
        try await store.removeQuery("products")
        try await store.add(DefiningQuery("products", "Products"))
        try await store.download()
        #expect(try await store.rows("Products") == (try await shop.database.rows("Products?$orderby=ProductID")))
    }
}
