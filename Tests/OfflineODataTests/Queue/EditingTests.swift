import Foundation
import ODataModel
import ODataQuery
import ODataService
import OfflineOData
import Testing

@Suite("Editing offline")
struct EditingTests {
    private static let order: [String: ODataValue] = [
        "CustomerID": "C0001", "OrderedAt": .dateTimeOffset(.init(seconds: 1_790_000_000)),
    ]
    private static let line: [String: ODataValue] = [
        "LineNumber": 77, "ProductID": 3, "Quantity": 2, "Price": .decimal(ODataDecimal(5)),
    ]

    /// Returns an entity as it is read from a body, without change marks.
    private func body(
        _ shop: Shop, _ set: String, _ properties: [String: ODataValue], related: [String: RelatedEntities] = [:]
    ) throws -> ODataEntity {
        var entity = ODataEntity(shape: try #require(shop.database.model.shape(ofSet: set)), properties)
        entity.related = related
        entity.markUnchanged()
        return entity
    }

    @Test("sends changed properties beside a reference to another entity")
    func bindAndProperty() async throws {
        let shop = try await Shop()
        let store = try await shop.clone()
        let patch = try body(
            shop, "Orders", ["Freight": .decimal(ODataDecimal(9))],
            related: ["Customer": .references(["Customers('C0007')"])])
        _ = try await store.execute(ODataRequest(.update, ODataURL(parsing: "Orders(1001)"), body: .entity(patch)))
        try await store.sync()
        #expect(try await shop.count("SELECT Freight FROM Orders WHERE OrderID = 1001 AND CustomerID = 'C0007'") == 9)
        try await shop.expectEqual(store)
    }

    @Test("sends the given key beside a reference to another entity")
    func bindAndKey() async throws {
        let shop = try await Shop()
        let store = try await shop.clone()
        var properties = Self.line
        properties["ProductID"] = nil
        properties["OrderID"] = 1001
        let line = try body(shop, "Order_Lines", properties, related: ["Product": .references(["Products(3)"])])
        _ = try await store.execute(ODataRequest(.create, ODataURL(parsing: "Order_Lines"), body: .entity(line)))
        #expect(try await store.observe.status().pending.first?.omitted == [])
        try await store.sync()
        try await shop.expectEqual(store)
    }

    @Test("queues a deep insert entity by entity with the given keys")
    func deepInsert() async throws {
        let shop = try await Shop()
        let store = try await shop.clone()
        let order = try body(
            shop, "Orders", Self.order, related: ["Order_Lines": .many([body(shop, "Order_Lines", Self.line)])])
        _ = try await store.execute(ODataRequest(.create, ODataURL(parsing: "Orders"), body: .entity(order)))
        let report = try await store.upload()
        #expect(report.accepted.map(\.entitySet) == ["Orders", "Order_Lines"])
        try await store.download()
        #expect(try await store.rows("Order_Lines(OrderID=1201,LineNumber=77)").count == 1)
        try await shop.expectEqual(store)
    }

    @Test("keeps the ETag when a reference is set to its current target")
    func sameReference() async throws {
        let shop = try await Shop()
        let store = try await shop.clone()
        let customer = try #require(try await shop.text("SELECT CustomerID FROM Orders WHERE OrderID = 1001"))
        let patch = try body(shop, "Orders", [:], related: ["Customer": .references(["Customers('\(customer)')"])])
        _ = try await store.execute(ODataRequest(.update, ODataURL(parsing: "Orders(1001)"), body: .entity(patch)))
        try await store.update("Orders(1001)", ["Freight": .decimal(ODataDecimal(9))])
        #expect(try await store.upload().failed.map(\.entityText) == [])
    }

    @Test("never gives a temporary key twice")
    func temporaryKeysAreUnique() async throws {
        let shop = try await Shop()
        let store = try await shop.clone()
        try await store.create("Orders", Self.order)
        try await store.delete("Orders(-1)")
        let second = try await store.create("Orders", Self.order)
        #expect(second?["OrderID"] == -2)
        var line = Self.line
        line["OrderID"] = -2
        try await store.create("Order_Lines", line)
        try await store.sync()
        try await shop.expectEqual(store)
        #expect(try await store.create("Orders", Self.order)?["OrderID"] == -3, "the old link is that of the other")
    }

    @Test("follows the temporary key of an entity that was uploaded meanwhile (rule 11)")
    func aliases() async throws {
        let shop = try await Shop()
        let store = try await shop.clone()
        try await store.create("Orders", Self.order)
        var line = Self.line
        line["OrderID"] = -1
        try await store.create("Order_Lines", line)
        try await store.upload()
        // The app still uses the temporary keys.
        try await store.update("Orders(-1)", ["Freight": .decimal(ODataDecimal(9))])
        try await store.update("Order_Lines(OrderID=-1,LineNumber=77)", ["Quantity": 8])
        line["LineNumber"] = 78
        try await store.create("Order_Lines", line)
        #expect(try await store.observe.status().pending.map(\.kind) == [.update, .update, .create])
        let report = try await store.upload()
        #expect(report.failed.map(\.entityText) == [])
        #expect(try await shop.count("SELECT COUNT(*) FROM \"Order Lines\" WHERE OrderID = 1201") == 2)
        try await store.download()
        try await shop.expectEqual(store)
    }
}
