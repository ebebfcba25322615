import ODataModel
import ODataQuery
import ODataService
import OfflineOData
import Testing

@Suite("Defining queries")
struct DefiningQueryTests {
    @Test("are added at any time and filled by the next download")
    func added() async throws {
        let shop = try await Shop()
        let store = try await shop.clone([DefiningQuery("norway", "Customers?$filter=Country eq 'Norway'")])
        try await store.queries.add(DefiningQuery("products", "Products", group: "stock"))
        #expect(try await store.rows("Products").isEmpty)
        try await store.download(["stock"])
        #expect(try await store.rows("Products") == (try await shop.database.rows("Products?$orderby=ProductID")))
        #expect(try await store.queries.all().map(\.name) == ["norway", "products"])
    }

    @Test("have unique names")
    func named() async throws {
        let shop = try await Shop()
        let store = try await shop.clone([DefiningQuery("norway", "Customers?$filter=Country eq 'Norway'")])
        await #expect(throws: OfflineError.self) { try await store.queries.add(DefiningQuery("norway", "Products")) }
        await #expect(throws: OfflineError.self) { try await store.queries.remove("sweden") }
    }

    @Test(
        "have parameters in conditions only, and errors suggest another form",
        arguments: [
            ("Products(@me)", "Products?$filter=ProductID eq @me"),
            ("Products(ProductID=@me)", "$filter=ProductID eq @me"), ("Products?$search=@me", "double quotes"),
            ("Categories?$expand=Products($search=a OR NOT @me)", "double quotes"),
        ])
    func parameters(_ text: String, _ advice: String) async throws {
        let shop = try await Shop()
        let store = try await shop.store([DefiningQuery(entitySet: "Customers")])
        do {
            try await store.queries.add(DefiningQuery("mine", text))
            Issue.record("\(text) was taken")
        } catch OfflineError.invalidDefiningQuery(let name, let reason) {
            #expect(name == "mine" && reason.contains("@me") && reason.contains(advice), "\(reason)")
        }
        try await store.queries.add(DefiningQuery("given", "Products(@key)?@key=1"))
        #expect(try await store.queries.all().map(\.name) == ["Customers", "given"])
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
        #expect(try await store.queries.remove("norway") == all - bergen.count)
        #expect(try await store.rows("Customers?$orderby=CustomerID") == bergen)
        #expect(try await store.rows("Products").count > 0)
        #expect(try await store.queries.all().map(\.name) == ["bergen", "products"])
    }

    @Test("keep rows with local changes until these are accepted (rule 12)")
    func withChanges() async throws {
        let shop = try await Shop()
        try await shop.sql(
            "INSERT INTO Products(ProductID, Name, CategoryID, Price, Stock) VALUES(900, 'New', 1, 1, 1)")
        let store = try await shop.clone([DefiningQuery("products", "Products"), DefiningQuery("orders", "Orders")])
        try await store.update("Products(1)", ["Stock": 77])
        try await store.delete("Products(900)")
        try await store.queries.remove("products")
        #expect(try await store.rows("Products").map { $0["ProductID"] } == [1])
        try await store.sync()
        #expect(try await shop.count("SELECT Stock FROM Products WHERE ProductID = 1") == 77)
        #expect(try await shop.count("SELECT COUNT(*) FROM Products WHERE ProductID = 900") == 0)
        #expect(try await store.lacks("Products"))
        #expect(try await store.observe.status().pending.isEmpty)
    }

    @Test("that are removed and added again are downloaded again")
    func again() async throws {
        let shop = try await Shop()
        let store = try await shop.clone([DefiningQuery("products", "Products")])
        try await store.queries.remove("products")
        try await store.queries.add(DefiningQuery("products", "Products"))
        try await store.download()
        #expect(try await store.rows("Products") == (try await shop.database.rows("Products?$orderby=ProductID")))
    }

    @Test("may name a single entity (section 4.1)")
    func oneEntity() async throws {
        let shop = try await Shop()
        let store = try await shop.clone([
            DefiningQuery("one", "Products(3)"), DefiningQuery("c", "Customers('C0001')"),
        ])
        #expect(try await store.rows("Products").map { $0["ProductID"] } == [3])
        #expect(try await store.rows("Customers").count == 1)
        try await shop.sql("UPDATE Products SET Stock = 4711 WHERE ProductID IN (3, 4)")
        #expect(try await store.download().updated == 1)
        #expect(try await store.rows("Products(3)").first?["Stock"] == 4711)
        try await store.queries.remove("one")
        #expect(try await store.lacks("Products"))
        await #expect(throws: (any Error).self) { try await store.queries.add(DefiningQuery("x", "Products(3)/Name")) }
        await #expect(throws: (any Error).self) {
            try await store.queries.add(DefiningQuery("x", "Products(3)/Category"))
        }
    }

    @Test("may name contained entities, which are changed by their path (rule 17)")
    func contained() async throws {
        let studio = try await Studio()
        let shape = try #require(studio.service.model.shape(QualifiedName("Studio", "Page")))
        _ = try await studio.service.execute(
            ODataRequest(
                .create, try ODataURL(parsing: "Albums(1)/Pages"),
                body: .entity(ODataEntity(shape: shape, ["Number": 2, "Title": "Two"]))))
        let store = try await studio.clone([try DefiningQuery("pages", "Albums(1)/Pages?$filter=Number gt 1")])
        #expect(try await store.rows("Albums(1)/Pages").map { $0["Title"] } == ["Two"])
        #expect(try await store.rows("Albums").count == 1)
        let one = try await studio.clone([try DefiningQuery("page", "Albums(1)/Pages(1)")], named: "one")
        #expect(try await one.rows("Albums(1)/Pages").map { $0["Title"] } == ["Cover"])
        _ = try await store.execute(
            ODataRequest(
                .update, try ODataURL(parsing: "Albums(1)/Pages(2)"),
                body: .entity(ODataEntity(shape: shape, ["Title": "Mine"]))))
        #expect(try await store.sync().upload.failed.map(\.description) == [])
        #expect(try await studio.service.rows("Albums(1)/Pages(2)").first?["Title"] == "Mine")
        #expect(try await store.rows("Albums(1)/Pages").map { $0["Title"] } == ["Mine"])
    }
}
