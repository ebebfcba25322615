import Foundation
import ODataModel
import ODataQuery
import ODataSQL
import ODataService
import OfflineOData
import Secrets
import Testing

@Suite("A killed command", .serialized)
struct KillTests {
    private func open(_ clone: String, _ key: String) async throws -> OfflineStore {
        try await OfflineStore.open(at: clone, protection: .encrypted(try KeySource(keyFile: key)))
    }

    private func site() async throws -> (Site, clone: String, key: String) {
        let site = try Site()
        try await site.serve(nil, port: 0, "--page-size", "20")
        let key = site.path("key")
        try Site.writeKey(to: key)
        let clone = site.path("clone")
        let cloned = try await site.tool.run("clone", site.url, clone, "--key-file", key)
        try #require(cloned.code == 0, "\(cloned.errors)")
        return (site, clone, key)
    }

    @Test("A push that is killed at any moment loses and duplicates nothing")
    func push() async throws {
        let (site, clone, key) = try await site()
        // Once a response has confirmed that the service recognises repeats, nothing is in doubt.
        for arguments in [["update", clone, "Products(6)", "Stock=1"], ["push", clone]] {
            let first = try await site.tool.run(arguments + ["--key-file", key])
            try #require(first.code == 0, "\(first.errors)")
        }
        var made = 0
        for moment in 0..<20 {
            let store = try await open(clone, key)
            let shape = try #require(store.model.shape(ofSet: "Orders"))
            for _ in 0..<6 {
                made += 1
                let order = ODataEntity(
                    shape: shape,
                    [
                        "CustomerID": "C0001", "Freight": .decimal(ODataDecimal(Int64(made))),
                        "OrderedAt": .dateTimeOffset(ODataDateTimeOffset(seconds: 4_000_000_000 + Int64(made))),
                    ])
                _ = try await store.execute(
                    ODataRequest(.create, try ODataURL(parsing: "Orders"), body: .entity(order)))
            }
            let product = ODataEntity(
                shape: try #require(store.model.shape(ofSet: "Products")), ["Stock": .integer(Int64(made))])
            _ = try await store.execute(
                ODataRequest(.update, try ODataURL(parsing: "Products(5)"), body: .entity(product)))
            try store.close()
            try await site.tool.kill("push", clone, "--key-file", key, after: .milliseconds(60 + moment * 17))
        }
        let push = try await site.tool.run("push", clone, "--key-file", key)
        #expect(push.code == 0, "\(push.output) \(push.errors)")
        let condition = "FROM Orders WHERE OrderedAt > '2090-01-01'"
        let acted = try SQLite.integer("SELECT COUNT(*) \(condition)", in: site.database)
        #expect(acted == made, "every one once")
        let distinct = try SQLite.integer("SELECT COUNT(DISTINCT Freight) \(condition)", in: site.database)
        #expect(distinct == made)
        #expect(try SQLite.integer("SELECT Stock FROM Products WHERE ProductID = 5", in: site.database) == made)
        try await expectEqual(site, clone, key)
    }

    @Test("A pull that is killed at any moment is completed by the next one")
    func pull() async throws {
        let (site, clone, key) = try await site()
        for moment in 0..<20 {
            try SQLite.execute(
                """
                UPDATE Orders SET Freight = Freight + 1 WHERE OrderID % 3 = \(moment % 3);
                UPDATE Customers SET City = 'City \(moment)' WHERE rowid % 4 = \(moment % 4);
                DELETE FROM "Order Lines" WHERE OrderID = \(1001 + moment);
                INSERT INTO Categories(Name) VALUES ('Category \(moment)');
                """, in: site.database)
            try await site.tool.kill("pull", clone, "--key-file", key, after: .milliseconds(60 + moment * 17))
            #expect(try await site.tool.run("status", clone, "--key-file", key).code == 0)
        }
        try await expectEqual(site, clone, key)
    }

    /// Pulls, then compares every row with a new clone of the same service.
    private func expectEqual(_ site: Site, _ clone: String, _ key: String) async throws {
        let pull = try await site.tool.run("pull", clone, "--key-file", key)
        #expect(pull.code == 0, "\(pull.errors)")
        let fresh = site.path("fresh")
        #expect(try await site.tool.run("clone", site.url, fresh, "--key-file", key).code == 0)
        for (set, order) in [
            ("Orders", "OrderID"), ("Customers", "CustomerID"), ("Categories", "CategoryID"), ("Products", "ProductID"),
            ("Order_Lines", "OrderID,LineNumber"),
        ] {
            let ours = try await site.tool.run("query", clone, "\(set)?$orderby=\(order)", "--json", "--key-file", key)
            let theirs = try await site.tool.run(
                "query", fresh, "\(set)?$orderby=\(order)", "--json", "--key-file", key)
            #expect(ours.code == 0)
            #expect(ours.output == theirs.output, "\(set)")
        }
    }
}
