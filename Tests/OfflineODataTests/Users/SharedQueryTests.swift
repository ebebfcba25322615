import Foundation
import ODataHTTP
import ODataModel
import ODataQuery
import ODataService
import OfflineOData
import Testing

@Suite("Shared queries on a device of several users")
struct SharedQueryTests {
    private func queries() throws -> [DefiningQuery] {
        [
            DefiningQuery(entitySet: "Products", isShared: true),
            try DefiningQuery("names", "Customers?$select=CustomerID,CompanyName", isShared: true),
            try DefiningQuery("norway", "Customers?$filter=Country eq 'Norway'"),
            DefiningQuery(entitySet: "Orders"),
            DefiningQuery(entitySet: "Employees"),
        ]
    }

    /// Returns a store of the user ada.
    private func store(_ shop: Shop, _ queries: [DefiningQuery]? = nil) async throws -> OfflineStore {
        let store = try await shop.clone(queries ?? self.queries())
        try await store.users.switch(to: "ada")
        return store
    }

    @Test("Shared rows stay for the next user, and the next download brings only their changes")
    func kept() async throws {
        let shop = try await Shop()
        let store = try await store(shop)
        let products = try await store.rows("Products?$orderby=ProductID")
        #expect(try await store.users.switch(to: "ben"))
        #expect(try await store.rows("Products?$orderby=ProductID") == products)
        #expect(try await store.rows("Orders").isEmpty)
        #expect(try await store.rows("Employees").isEmpty)
        let status = try await store.observe.status()
        #expect(status.queries.filter(\.isLoaded).map(\.name) == ["Products", "names"])
        #expect(status.queries.filter(\.isShared).map(\.name) == ["Products", "names"])
        try await shop.sql("UPDATE Products SET Stock = 4711 WHERE ProductID = 1")
        let report = try await store.download()
        #expect(report.queries.first { $0.name == "Products" }?.received == 1)
        #expect(try await store.rows("Products(1)").first?["Stock"] == 4711)
        #expect(try await store.rows("Orders").count == shop.count("SELECT COUNT(*) FROM Orders"))
    }

    @Test("Properties from a private query are removed from a shared row")
    func columns() async throws {
        let shop = try await Shop()
        let store = try await store(shop)
        let norwegian = try #require(
            try await store.rows("Customers?$filter=Country eq 'Norway'&$top=1").first?["CustomerID"]?.lexicalText)
        #expect(try await store.rows("Customers('\(norwegian)')").first?["City"] != nil)
        try await store.users.switch(to: "ben")
        let row = try #require(try await store.rows("Customers('\(norwegian)')?$select=CustomerID,CompanyName").first)
        #expect(row["CompanyName"] != nil)
        await #expect(throws: (any Error).self) { try await store.rows("Customers('\(norwegian)')/City") }
        let count = try await shop.count("SELECT COUNT(*) FROM Customers")
        #expect(try await store.rows("Customers?$select=CompanyName").count == count)
        try await store.download()
        #expect(try await store.rows("Customers('\(norwegian)')").first?["City"] != nil)
    }

    @Test("Properties from the response to a change of the previous user are removed too")
    func answers() async throws {
        let shop = try await Shop()
        let store = try await store(
            shop, [try DefiningQuery("names", "Customers?$select=CustomerID,CompanyName", isShared: true)])
        try await store.update("Customers('C0002')", ["CompanyName": "Renamed"])
        try await store.users.switch(to: "ben", pending: .upload(through: try shop.client()))
        #expect(try await shop.text("SELECT CompanyName FROM Customers WHERE CustomerID = 'C0002'") == "Renamed")
        #expect(try await store.rows("Customers('C0002')?$select=CompanyName").first?["CompanyName"] == "Renamed")
        await #expect(throws: (any Error).self) { try await store.rows("Customers('C0002')/City") }
    }

    @Test("Private data of the previous user are in no file of the store")
    func overwritten() async throws {
        let shop = try await Shop()
        try await shop.sql("UPDATE Customers SET City = 'MARKER-OF-ADA' WHERE Country = 'Norway'")
        try await shop.sql("UPDATE Employees SET Name = 'MARKER-OF-ADA' WHERE EmployeeID = 1")
        let store = try await store(shop)
        for set in ["Customers", "Products", "Employees"] { try await store.indexes.createSearch(on: set) }
        func leaks() throws -> [String] {
            try FileManager.default.contentsOfDirectory(atPath: store.directory).filter { name in
                let data = try Data(contentsOf: URL(fileURLWithPath: store.directory + "/" + name))
                return ["MARKER-OF-ADA", "marker"].contains { data.range(of: Data($0.utf8)) != nil }
            }
        }
        #expect(try !leaks().isEmpty)
        try await store.users.switch(to: "ben")
        #expect(try leaks() == [])
        #expect(try await store.observe.events().count == 1)
        let name = try #require(try await store.rows("Products(1)").first?["Name"]?.lexicalText)
        let word = try #require(name.split(separator: " ").first)
        #expect(try await !store.rows("Products?$search=\(word)").isEmpty, "the search index is there")
    }

    @Test("Withdrawn changes of shared rows are undone", arguments: [true, false])
    func discarded(isSent: Bool) async throws {
        let shop = try await Shop()
        let isCut = LockedFlag()
        let service = Gateway(
            base: try shop.client(),
            after: { request, response in
                if isCut.isSet, request.method != .read {
                    throw TransportError.connectionLost(host: "shop.test", reason: "the wire is cut")
                }
                return response
            })
        let store = try await shop.clone(queries(), through: service)
        try await store.users.switch(to: "ada")
        try await store.update("Products(1)", ["Stock": 4711])
        try await store.delete("Products(2)")
        try await store.create("Employees", ["Name": "New", "HiredOn": .date(ODataDate(daysSinceEpoch: 18_262))])
        if isSent {
            isCut.set()
            _ = try? await store.upload()
        }
        try await store.users.switch(to: "ben", pending: .discard)
        #expect(try await store.observe.status().pending.isEmpty)
        #expect(try await store.rows("Employees").isEmpty)
        if !isSent { #expect(try await store.rows("Products(1)").first?["Stock"] != 4711) }
        #expect(try await store.rows("Products").count == shop.count("SELECT COUNT(*) FROM Products"))
    }

    @Test("A query with parameters cannot be shared")
    func parameters() async throws {
        let shop = try await Shop()
        let query = try DefiningQuery("mine", "Orders?$filter=EmployeeID eq @me", isShared: true)
        let error = await #expect(throws: OfflineError.self) { try await shop.store([query]) }
        #expect(error?.description.contains("@me") == true)
        let store = try await shop.store([DefiningQuery(entitySet: "Products")])
        await #expect(throws: OfflineError.self) { try await store.queries.add(query) }
    }

    @Test("A shared query that is not loaded starts again for the next user")
    func notLoaded() async throws {
        let shop = try await Shop()
        let store = try await shop.store(queries())
        try await store.users.switch(to: "ada")
        try await store.download(["Orders"])
        try await store.users.switch(to: "ben")
        #expect(try await store.observe.status().queries.allSatisfy { !$0.isLoaded && $0.rows == 0 })
        try await store.download()
        #expect(try await store.rows("Products").count == shop.count("SELECT COUNT(*) FROM Products"))
    }

    @Test("The mark as shared is stored and removed with the query")
    func mark() async throws {
        let shop = try await Shop()
        let store = try await store(shop)
        try store.close()
        let again = try await shop.reopen()
        #expect(try await again.queries.all().filter(\.isShared).map(\.name) == ["Products", "names"])
        try await again.queries.remove("Products")
        try await again.queries.add(DefiningQuery(entitySet: "Products"))
        #expect(try await again.queries.all().filter(\.isShared).map(\.name) == ["names"])
    }

    // MARK: Opening

    private func open(
        _ shop: Shop, as user: String?, pending: PendingChanges = .refuse
    ) async throws -> OfflineStore {
        let client = try shop.client()
        return try await OfflineStore.open(
            at: shop.directory.appendingPathComponent("clone").path, protection: .unencrypted, user: user,
            pending: pending, connect: { _, _ in client })
    }

    @Test("Opening a store as another user hands it over, with a choice for the previous changes")
    func opening() async throws {
        let shop = try await Shop()
        let store = try await store(shop)
        try await store.update("Products(1)", ["Stock": 501])
        try store.close()
        let error = await #expect(throws: UserSwitchError.self) { try await open(shop, as: "ben") }
        #expect(error?.previousUser == "ada")
        let same = try await open(shop, as: "ada")
        #expect(try await same.observe.status().pending.count == 1)
        try same.close()
        let next = try await open(shop, as: "ben", pending: .upload(through: try shop.client()))
        #expect(try await next.users.current() == "ben")
        #expect(try await next.observe.status().pending.isEmpty)
        #expect(try await shop.count("SELECT Stock FROM Products WHERE ProductID = 1") == 501)
        #expect(try await next.rows("Products(1)").first?["Stock"] == 501)
        #expect(try await next.rows("Orders").isEmpty)
        try next.close()
        #expect(try await open(shop, as: nil).users.current() == "ben")
    }

    @Test("A store can be created for a user")
    func creating() async throws {
        let shop = try await Shop()
        let store = try await OfflineStore.create(
            at: shop.directory.appendingPathComponent("own").path, protection: .unencrypted,
            serviceRoot: Shop.serviceRoot, remote: try shop.client(), queries: queries(), user: "ada")
        #expect(try await store.users.current() == "ada")
        #expect(try await store.users.switch(to: "ben"))
    }
}
