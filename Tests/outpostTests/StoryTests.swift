import Foundation
import Testing

@Suite("A service is cloned, changed offline and synchronized from the terminal")
struct StoryTests {
    @Test("A served database is cloned, changed offline, pushed and pulled")
    func story() async throws {
        let site = try Site()
        let tool = site.tool
        try await site.serve()
        let clone = site.path("clone")
        let cloned = try await tool.run("clone", site.url, clone)
        #expect(cloned.code == 0, "\(cloned.errors)")
        #expect(cloned.output.contains("679 rows"))
        let port = site.port
        site.stop()

        let query = try await tool.run(
            "query", clone, "Orders?$filter=Freight gt 250&$orderby=Freight desc&$expand=Customer&$count=true", "--json"
        )
        #expect(query.code == 0, "\(query.errors)")
        let payload = try #require(try JSONSerialization.jsonObject(with: Data(query.output.utf8)) as? [String: Any])
        let rows = try #require(payload["value"] as? [[String: Any]])
        let context = try #require((payload["@context"] ?? payload["@odata.context"]) as? String)
        #expect(context.hasPrefix("http://127.0.0.1:\(port)/$metadata#Orders"), "\(context)")
        #expect(rows.count == (payload["@count"] ?? payload["@odata.count"]) as? Int)
        #expect(
            rows.count == (try SQLite.integer("SELECT COUNT(*) FROM Orders WHERE Freight > 250", in: site.database)))
        #expect(rows.allSatisfy { $0["Customer"] is [String: Any] })

        #expect(
            try await tool.run("create", clone, "Customers", "CustomerID=NEWCO", "CompanyName=New", "Country=Norway")
                .code == 0)
        #expect(try await tool.run("update", clone, "Orders(1001)", "Freight=99.95").code == 0)
        #expect(try await tool.run("delete", clone, "Order_Lines(OrderID=1003,LineNumber=1)").code == 0)
        #expect(try await tool.run("update", clone, "Products(6)", "Stock=-4").code == 0)
        let status = try await tool.run("status", clone)
        #expect(status.output.contains("To push:"))

        let offline = try await tool.run("push", clone)
        #expect(offline.code == 1)
        #expect(offline.errors.contains("Cannot connect"))

        try await site.serve(port: port)
        let push = try await tool.run("push", clone)
        #expect(push.code == 3, "\(push.errors)")
        #expect(push.output.contains("Pushed 3 changes, 1 refused"))
        #expect(
            try SQLite.text("SELECT CompanyName FROM Customers WHERE CustomerID = 'NEWCO'", in: site.database) == "New")
        #expect(try await tool.run("update", clone, "Products(6)", "Stock=4").code == 0)
        #expect(try await tool.run("push", clone).code == 0)
        #expect(try await tool.run("errors", clone).output.contains("No change was refused."))

        try SQLite.execute("UPDATE Customers SET City = 'Oslo' WHERE CustomerID = 'C0009'", in: site.database)
        let pull = try await tool.run("pull", clone, "--json")
        #expect(pull.code == 0, "\(pull.errors)")
        let report = try #require(try JSONSerialization.jsonObject(with: Data(pull.output.utf8)) as? [String: Any])
        #expect((report["rows"] as? Int ?? 99) <= 5, "only what changed travels")
        let city = try await tool.run("query", clone, "Customers('C0009')/City")
        #expect(city.output == "Oslo\n")
        #expect(try await tool.run("log", clone).output.contains("download"))
    }

    @Test(
        "Northwind is served with spaces in names, text dates, views and composite keys",
        .enabled(if: Site.northwind != nil))
    func northwind() async throws {
        let site = try Site()
        let tool = site.tool
        try await site.serve(Site.northwind)
        let clone = site.path("clone")
        let cloned = try await tool.run("clone", site.url, clone)
        #expect(cloned.code == 0, "\(cloned.errors)")
        #expect(try await tool.run("query", clone, "Orders/$count").output == "830\n")
        let details = try await tool.run(
            "query", clone, "Orders(10248)?$expand=Order_Details($expand=Product;$filter=Quantity gt 9)", "--json")
        #expect(details.code == 0, "\(details.errors)")
        #expect(details.output.contains("Queso Cabrales"))
        let groups = try await tool.run(
            "query", clone,
            "Orders?$apply=groupby((ShipCountry),aggregate($count as N,Freight with sum as Sum))&$orderby=N desc&$top=1",
            "--json")
        #expect(groups.output.contains("\"ShipCountry\":\"Germany\""), "\(groups.output) \(groups.errors)")
        #expect(try await tool.run("update", clone, "Orders(10248)", "Freight=40.5").code == 0)
        #expect(try await tool.run("create", clone, "Customers", "CustomerID=NEWCO", "CompanyName=New").code == 0)
        let push = try await tool.run("push", clone)
        #expect(push.code == 0, "\(push.output) \(push.errors)")
        #expect(try SQLite.text("SELECT Freight FROM Orders WHERE OrderID = 10248", in: site.database) == "40.5")
        try SQLite.execute("UPDATE Products SET UnitPrice = 20 WHERE ProductID = 1", in: site.database)
        let pull = try await tool.run("pull", clone)
        #expect(pull.code == 0, "\(pull.errors)")
        #expect(try await tool.run("query", clone, "Products(1)/UnitPrice").output == "20\n")
    }

    @Test("query --explain shows that a query uses a new index")
    func explain() async throws {
        let site = try Site()
        try await site.serve()
        let clone = site.path("clone")
        #expect(try await site.tool.run("clone", site.url, clone).code == 0)
        let query = "Orders?$filter=Freight gt 500&$orderby=Freight desc"
        let before = try await site.tool.run("query", clone, query, "--explain")
        #expect(before.code == 0, "\(before.errors)")
        #expect(before.output.contains("SELECT"))
        let made = try await site.tool.run("index", clone, "Orders", "Freight desc")
        #expect(made.code == 0, "\(made.errors)")
        let listed = try await site.tool.run("index", clone)
        #expect(listed.output.contains("Orders Freight desc"), "\(listed.output)")
        let after = try await site.tool.run("query", clone, query, "--explain", "--json")
        #expect(after.output.contains("USING INDEX"), "\(after.output)")
        #expect(try await site.tool.run("index", clone, "Orders", "Freight desc", "--drop").code == 0)
        #expect(try await site.tool.run("index", clone, "Orders").code == 2)
        #expect(try await site.tool.run("index", clone, "Orders", "Nothing").code == 1)
    }

    @Test("A clone can be served like a database")
    func serveClone() async throws {
        let site = try Site()
        try await site.serve()
        let clone = site.path("clone")
        #expect(try await site.tool.run("clone", site.url, clone).code == 0)
        site.stop()
        try await site.serve(path: clone, "--open")
        #expect(site.entitySets.contains("Orders"))
        let second = site.path("second")
        let cloned = try await site.tool.run("clone", site.url, second)
        #expect(cloned.code == 0, "\(cloned.errors)")
        #expect(try await site.tool.run("query", second, "Orders/$count").output == "200\n")
    }

    @Test("A clone of two queries opens with its key file")
    func queries() async throws {
        let site = try Site()
        try await site.serve()
        let key = site.path("key")
        try Data("correct horse battery staple".utf8).write(to: URL(fileURLWithPath: key))
        let clone = site.path("clone")
        let cloned = try await site.tool.run(
            "clone", site.url, clone, "--query", "costly=Orders?$filter=Freight gt 200", "--query", "people=Customers",
            "--key-file", key)
        #expect(cloned.code == 0, "\(cloned.errors)")
        let expected = try SQLite.integer("SELECT COUNT(*) FROM Orders WHERE Freight > 200", in: site.database)
        let count = try await site.tool.run("query", clone, "Orders/$count", "--key-file", key)
        #expect(count.output == "\(expected)\n")
        #expect(try await site.tool.run("query", clone, "Orders/$count").code == 2, "the key file must be named")
    }
}
