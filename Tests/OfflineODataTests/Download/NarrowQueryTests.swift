import ODataModel
import ODataQuery
import ODataService
import OfflineOData
import Testing

@Suite("A query with fewer properties of a row than another one (rule 12)")
struct NarrowQueryTests {
    private static let order = "Orders(1001)"
    private static let othersChange = """
        UPDATE Orders SET Freight = 99, OrderedAt = '2026-01-01 09:00:00' WHERE OrderID = 1001
        """

    private func freight(_ store: OfflineStore) async throws -> ODataValue? {
        try await store.rows(Self.order).first?["Freight"]
    }

    /// Returns a store with all orders, and a second query for their dates.
    private func clone(
        _ shop: Shop, wide: String = "Orders", through remote: (any ODataProvider)? = nil
    ) async throws -> OfflineStore {
        try await shop.sql("UPDATE Orders SET Freight = 10 WHERE OrderID = 1001")
        return try await shop.clone(
            [DefiningQuery("all", wide), DefiningQuery("dates", "Orders?$select=OrderedAt")], through: remote)
    }

    @Test("prevents blind overwriting of other properties that others changed", arguments: [true, false])
    func narrowerQuery(isTracked: Bool) async throws {
        let shop = try await Shop()
        let client = try shop.client()
        let store = try await clone(shop, through: isTracked ? client : PlainService(base: client))
        try await shop.sql(Self.othersChange)
        try await store.download(["dates"])
        #expect(try await freight(store) == .decimal(10), "what was loaded stays so")
        #expect(try await store.download(["dates"]).updated == 0, "nothing is new")
        try await store.update(Self.order, ["Freight": 12])
        #expect(try await store.upload().failed.count == 1)
        #expect(try await shop.text("SELECT Freight FROM Orders WHERE OrderID = 1001") == "99")
        try await store.changes.discard()
        try await store.download()
        #expect(try await freight(store) == .decimal(99))
        try await store.update(Self.order, ["Freight": 12])
        #expect(try await store.upload().failed.map(\.entityText) == [])
        #expect(try await shop.text("SELECT Freight FROM Orders WHERE OrderID = 1001") == "12")
    }

    @Test("is completed by the wider query, which brings the rest with the ETag")
    func overtaken() async throws {
        let shop = try await Shop()
        let store = try await clone(shop)
        try await shop.sql(Self.othersChange)
        for queries in [["dates"], ["all"], ["dates"]] { try await store.download(queries) }
        #expect(try await freight(store) == .decimal(99))
        try await store.update(Self.order, ["Freight": 12])
        #expect(try await store.upload().failed.map(\.entityText) == [])
        try await store.download()
        try await shop.sql("DELETE FROM \"Order Lines\"")
        let theirs = try await shop.database.rows(Self.order).first
        #expect(try await store.rows(Self.order).first?.control.etag == theirs?.control.etag)
    }

    @Test("updates the server version behind a local change without hiding changes by others")
    func behindChange() async throws {
        let shop = try await Shop()
        let store = try await clone(shop)
        try await store.update(Self.order, ["ShippedOn": .date(ODataDate(daysSinceEpoch: 20_000))])
        try await shop.sql(Self.othersChange)
        try await store.download(["dates"])
        try await store.changes.undoAll()
        try await store.update(Self.order, ["Freight": 12])
        #expect(try await store.upload().failed.count == 1)
        #expect(try await shop.text("SELECT Freight FROM Orders WHERE OrderID = 1001") == "99")
    }

    @Test(
        "is all that remains when the row leaves the wider query: other properties are unloaded",
        arguments: [["dates", "all"], ["all", "dates"]])
    func left(order: [String]) async throws {
        let shop = try await Shop()
        let store = try await clone(shop, wide: "Orders?$filter=Freight lt 50")
        try await store.update("Orders(1002)", ["EmployeeID": 3])
        #expect(try await freight(store) == .decimal(10))
        try await shop.sql(Self.othersChange)
        for query in order { try await store.download([query]) }
        let row = try #require(try await store.rows(Self.order).first)
        #expect(row["Freight"] == nil && row["ShippedOn"] == nil)
        #expect(row["CustomerID"] != nil && row["OrderedAt"] != nil)
        #expect(try await store.rows("Orders?$filter=Freight eq 10 and OrderID eq 1001").isEmpty)
        try await store.update(Self.order, ["EmployeeID": 2])
        #expect(try await store.upload().failed.map(\.entityText) == [])
    }

    @Test("is all that remains when the wider query is removed, also behind a local change", arguments: [true, false])
    func removed(isOwner: Bool) async throws {
        let shop = try await Shop()
        try await shop.sql("UPDATE Orders SET Freight = 10 WHERE OrderID = 1001")
        let queries = [
            try DefiningQuery("all", "Orders"), try DefiningQuery("dates", "Orders?$select=OrderedAt"),
        ]
        let store = try await shop.store(isOwner ? queries : queries.reversed())
        for query in isOwner ? ["all", "dates"] : ["dates", "all"] { try await store.download([query]) }
        try await store.update("Orders(1002)", ["EmployeeID": 3])
        try await store.queries.remove("all")
        #expect(try await store.rows(Self.order).first?["Freight"] == nil)
        let changed = try #require(try await store.rows("Orders(1002)").first)
        #expect(changed["EmployeeID"] == 3 && changed["Freight"] == nil)
        try await store.changes.undoAll()
        #expect(try await store.rows("Orders(1002)").first?["Freight"] == nil)
        try await store.download()
        try await store.update(Self.order, ["EmployeeID": 2])
        #expect(try await store.upload().failed.map(\.entityText) == [])
    }

    @Test("unloads outdated properties of a changed row that no query brings")
    func editedAlone() async throws {
        let shop = try await Shop()
        let store = try await shop.clone([DefiningQuery("dates", "Orders?$select=OrderedAt")])
        try await store.update(Self.order, ["Freight": 12])
        #expect(try await store.upload().failed.map(\.entityText) == [])
        try await store.download()
        try await shop.sql(Self.othersChange)
        try await store.download()
        #expect(try await freight(store) == nil)
        try await store.update(Self.order, ["EmployeeID": 2])
        #expect(try await store.upload().failed.map(\.entityText) == [])
    }
}
