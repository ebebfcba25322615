import ODataHTTP
import ODataModel
import ODataService
import OfflineOData
import Testing

@Suite("A change set that meets other changes of the same entities")
struct ChangeSetMeetingTests {
    private static let line = "Order_Lines(OrderID=1003,LineNumber=1)"
    private static let lineGone = "DELETE FROM \"Order Lines\" WHERE OrderID = 1003 AND LineNumber = 1"

    /// Returns a service that loses the first change, in a batch or alone, before or after its execution.
    private func losing(_ base: any ODataProvider, hasActed: Bool) -> Gateway {
        let isLost = LockedFlag()
        let lose: @Sendable (ODataRequest) throws -> Void = { request in
            guard !isLost.isSet, request.method != .read else { return }
            isLost.set()
            throw TransportError.connectionLost(host: "shop.test", reason: "the wire is cut")
        }
        return Gateway(
            base: base,
            before: { request in
                if !hasActed { try lose(request) }
                return nil
            },
            after: { request, response in
                if hasActed { try lose(request) }
                return response
            })
    }

    private func categoryAndProduct(_ store: OfflineStore, price: Int64) async throws {
        try await store.changes.transaction { changes in
            let category = try changes.create("Categories", ["Name": "New"])
            try changes.create(
                "Products",
                [
                    "Name": "New", "CategoryID": category["CategoryID"] ?? .null,
                    "Price": .decimal(ODataDecimal(price)), "Stock": 1,
                ])
        }
    }

    @Test("is refused as a whole if its created entity was deleted locally during the upload, and the queue continues")
    func deletedOnTheWay() async throws {
        let shop = try await Shop()
        let store = try await shop.clone(
            options: .ofConfirmedRepeats, through: losing(try shop.client(), hasActed: false))
        // The service refuses a negative price.
        try await categoryAndProduct(store, price: -1)
        await #expect(throws: TransportError.self) { try await store.upload() }
        try await store.delete("Categories(-1)")
        try await store.update("Products(1)", ["Stock": 5])
        #expect(try await store.upload().accepted.map(\.entityText) == ["Products(1)"])
        try await store.download()
        try await shop.expectEqual(store)
    }

    @Test(
        "Rule 8: succeeded if others changed one of its entities later, and pending changes meet that change",
        arguments: [true, false])
    func overtaken(isRepeatable: Bool) async throws {
        let shop = try await Shop()
        let client = try shop.client()
        let base: any ODataProvider = isRepeatable ? client : PlainService(base: client)
        let store = try await shop.clone(through: losing(base, hasActed: true))
        try await store.changes.transaction { changes in
            try changes.update("Products(1)", ["Stock": 5])
            try changes.update("Products(2)", ["Stock": 60])
        }
        await #expect(throws: TransportError.self) { try await store.upload() }
        try await store.update("Products(1)", ["Stock": 8])
        try await shop.sql("UPDATE Products SET Stock = 7 WHERE ProductID = 1")
        let report = try await store.upload()
        #expect(report.accepted.count == 2)
        #expect(report.failed.map(\.failure?.conflict) == [.changed])
        #expect(try await shop.count("SELECT Stock FROM Products WHERE ProductID = 1") == 7)
        #expect(try await shop.count("SELECT Stock FROM Products WHERE ProductID = 2") == 60)
    }

    @Test(
        "Rule 8: succeeded if others changed other properties later, and pending changes meet that change",
        arguments: [true, false])
    func overtakenBesides(isRepeatable: Bool) async throws {
        let shop = try await Shop()
        let client = try shop.client()
        let base: any ODataProvider = isRepeatable ? client : PlainService(base: client)
        let store = try await shop.clone(through: losing(base, hasActed: true))
        try await store.changes.transaction { changes in
            try changes.update("Products(1)", ["Price": 5])
            try changes.update("Products(1)", ["Name": "Mine"])
            try changes.update("Products(2)", ["Stock": 60])
        }
        await #expect(throws: TransportError.self) { try await store.upload() }
        try await store.update("Products(1)", ["Stock": 8])
        try await shop.sql("UPDATE Products SET Stock = 7 WHERE ProductID = 1")
        let report = try await store.upload()
        #expect(report.accepted.count == 3)
        #expect(report.failed.map(\.failure?.conflict) == [.changed])
        #expect(try await shop.count("SELECT Stock FROM Products WHERE ProductID = 1") == 7)
        #expect(try await shop.text("SELECT Name FROM Products WHERE ProductID = 1") == "Mine")
    }

    @Test("Rule 8: is the base of the next change if it changed an entity twice and its response was lost")
    func twice() async throws {
        let shop = try await Shop()
        let store = try await shop.clone(through: losing(try shop.client(), hasActed: true))
        try await store.changes.transaction { changes in
            try changes.update("Products(1)", ["Stock": 5])
            try changes.update("Products(1)", ["Stock": 6])
        }
        await #expect(throws: TransportError.self) { try await store.upload() }
        try await store.update("Products(1)", ["Stock": 8])
        #expect(try await store.upload().accepted.count == 3)
        try await store.download()
        try await shop.expectEqual(store)
        #expect(try await shop.count("SELECT Stock FROM Products WHERE ProductID = 1") == 8)
    }

    @Test(
        "Rule 1: is searched by unique values, so that it is neither repeated nor unknown",
        arguments: [true, false])
    func correlated(hasActed: Bool) async throws {
        let shop = try await Shop()
        let store = try await shop.clone(
            through: losing(PlainService(base: try shop.client()), hasActed: hasActed))
        try await categoryAndProduct(store, price: 1)
        await #expect(throws: TransportError.self) { try await store.upload() }
        var options = UploadOptions()
        options.correlationProperties = ["Categories": "Name", "Products": "Name"]
        let report = try await store.upload(options: options)
        #expect(report.failed.map(\.description) == [])
        #expect(report.accepted.map(\.entitySet) == ["Categories", "Products"])
        for table in ["Categories", "Products"] {
            #expect(try await shop.count("SELECT COUNT(*) FROM \(table) WHERE Name = 'New'") == 1)
        }
        try await store.download()
        try await shop.expectEqual(store)
    }

    /// Creates two change sets with a line and a product each.
    private func linesAndProducts(_ store: OfflineStore) async throws {
        for number in 1...2 as ClosedRange<Int64> {
            try await store.changes.transaction { changes in
                try changes.update(Self.line, ["Quantity": .integer(100 + number)])
                try changes.update("Products(\(number))", ["Stock": .integer(1000 + number)])
            }
        }
    }

    @Test("is withdrawn with another change set of the same entity if the service deleted it")
    func givenUp() async throws {
        let shop = try await Shop()
        let store = try await shop.clone()
        try await linesAndProducts(store)
        try await shop.sql(Self.lineGone)
        let report = try await store.upload(options: UploadOptions(conflictPolicy: .serverWins))
        #expect(report.accepted.isEmpty)
        #expect(report.givenUp.map(\.entitySet) == ["Order_Lines", "Products", "Order_Lines", "Products"])
        #expect(try await shop.count("SELECT COUNT(*) FROM Products WHERE Stock > 1000") == 0)
        try await store.download()
        try await shop.expectEqual(store)
    }

    @Test("is discarded with another change set of the same entity")
    func discarded() async throws {
        let shop = try await Shop()
        let store = try await shop.clone()
        try await linesAndProducts(store)
        try await shop.sql(Self.lineGone)
        #expect(try await store.upload().failed.map(\.entitySet) == ["Order_Lines", "Products"])
        try await store.changes.discard()
        #expect(try await store.observe.status().pending.map(\.entityText) == [])
        try await store.sync()
        #expect(try await shop.count("SELECT COUNT(*) FROM Products WHERE Stock > 1000") == 0)
        try await shop.expectEqual(store)
    }

    @Test("Rule 8: pending changes behind a creation with an unknown outcome meet downloaded changes by others")
    func downloadedDoubt() async throws {
        let shop = try await Shop()
        let store = try await shop.clone(through: losing(PlainService(base: try shop.client()), hasActed: true))
        try await store.create("Categories", ["Name": "New"])
        await #expect(throws: TransportError.self) { try await store.upload() }
        try await store.update("Categories(-1)", ["Name": "Mine"])
        try await shop.sql("UPDATE Categories SET Name = 'Theirs' WHERE Name = 'New'")
        let doubt = try #require(try await store.sync().upload.failed.first)
        #expect(doubt.state == .inDoubt)
        let id = try await shop.count("SELECT CategoryID FROM Categories WHERE Name = 'Theirs'")
        let key = try #require(ODataEntity(shape: doubt.changes.shape, ["CategoryID": .integer(Int64(id))]).key)
        try await store.changes.accept([doubt.id], keys: [doubt.id: key])
        #expect(try await store.upload().failed.map(\.failure?.conflict) == [.changed])
        #expect(try await shop.text("SELECT Name FROM Categories WHERE CategoryID = \(id)") == "Theirs")
    }
}
