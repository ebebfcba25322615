import ODataModel
import ODataQuery
import ODataService
import OfflineOData
import Synchronization
import Testing

@Suite("An edit during a request")
struct InFlightTests {
    /// Edits of the app between the execution of a request and its response.
    private final class App: Sendable {
        private let edits = Mutex<(@Sendable () async throws -> Void)?>(nil)

        func plan(_ body: @escaping @Sendable () async throws -> Void) { edits.withLock { $0 = body } }

        func act() async throws {
            let body = edits.withLock { edits in
                defer { edits = nil }
                return edits
            }
            try await body?()
        }
    }

    private func store(
        _ shop: Shop, _ app: App, _ method: ODataRequest.Method, isRepeatable: Bool = true
    ) async throws -> OfflineStore {
        let client = try shop.client()
        let service = Gateway(
            base: isRepeatable ? client : PlainService(base: client),
            after: { request, response in
                if request.method == method { try await app.act() }
                return response
            })
        return try await shop.clone(through: service)
    }

    @Test("to the entity, its referring entities and its ETag chain is sent afterwards")
    func edits() async throws {
        let shop = try await Shop()
        let app = App()
        let store = try await store(shop, app, .create)
        try await store.create(
            "Orders", ["CustomerID": "C0001", "OrderedAt": .dateTimeOffset(.init(seconds: 1_790_000_000))])
        app.plan {
            try await store.update("Orders(-1)", ["Freight": .decimal(ODataDecimal(9))])
            try await store.create(
                "Order_Lines",
                ["OrderID": -1, "LineNumber": 1, "ProductID": 3, "Quantity": 2, "Price": .decimal(ODataDecimal(5))])
            try await store.update("Orders(-1)", ["Freight": .decimal(ODataDecimal(10))])
        }
        let report = try await store.upload()
        #expect(report.accepted.count == 4)
        #expect(report.failed.map(\.entityText) == [])
        try await store.download()
        #expect(try await store.rows("Orders(1201)").first?["Freight"] == .decimal(ODataDecimal(10)))
        try await shop.expectEqual(store)
    }

    @Test("that deletes the entity is sent afterwards", arguments: [ODataRequest.Method.create, .update])
    func deletes(method: ODataRequest.Method) async throws {
        let shop = try await Shop()
        let app = App()
        let store = try await store(shop, app, method)
        if method == .create {
            try await store.create("Categories", ["Name": "Anchors"])
            app.plan { try await store.delete("Categories(-1)") }
        } else {
            try await store.update("Order_Lines(OrderID=1003,LineNumber=1)", ["Quantity": 8])
            app.plan { try await store.delete("Order_Lines(OrderID=1003,LineNumber=1)") }
        }
        let report = try await store.upload()
        #expect(report.accepted.map(\.kind).last == .delete)
        #expect(report.failed.map(\.entityText) == [])
        try await store.download()
        try await shop.expectEqual(store)
    }

    enum Meanwhile: CaseIterable { case nothing, changed, changedAndMine, changedAndTheirs, deleted }

    @Test("that undoes a change during the comparison removes it completely", arguments: Meanwhile.allCases)
    func undone(meanwhile: Meanwhile) async throws {
        let shop = try await Shop()
        let app = App()
        let service = Gateway(
            base: PlainService(base: try shop.client(), hasETags: false),
            after: { request, response in
                if request.method == .read, request.url.description == "Customers('C0002')" { try await app.act() }
                return response
            })
        let store = try await shop.clone(through: service)
        try await store.update("Customers('C0002')", ["City": "Mine"])
        try await store.update("Products(1)", ["Stock": 5])
        if meanwhile != .nothing {
            try await shop.sql("UPDATE Customers SET City = 'Theirs' WHERE CustomerID = 'C0002'")
        }
        if meanwhile == .deleted { try await store.delete("Customers('C0002')") }
        app.plan {
            let undone = try? await store.changes.undo([try ODataURL(parsing: "Customers('C0002')")])
            #expect(undone ?? 0 >= 1)
        }
        var options = UploadOptions()
        if meanwhile == .changedAndMine { options.conflictPolicy = .clientWins }
        if meanwhile == .changedAndTheirs { options.conflictPolicy = .serverWins }
        let report = try await store.upload(options: options)
        #expect(report.accepted.map(\.entityText) == ["Products(1)"])
        #expect(report.failed.map(\.entityText) == [])
        #expect(try await store.observe.status().pending.isEmpty)
        try await shop.sql("UPDATE Customers SET City = 'Later' WHERE CustomerID = 'C0002'")
        try await store.download()
        let customer = try await store.rows("Customers('C0002')").first
        #expect(customer?["City"] == "Later")
        #expect(customer?.isLocal == false, "nothing waits for it")
    }

    @Test("that undoes a change set during the comparison removes it completely")
    func undoneTogether() async throws {
        let shop = try await Shop()
        let app = App()
        let service = Gateway(
            base: PlainService(base: try shop.client(), hasETags: false),
            after: { request, response in
                if request.method == .read, request.url.description == "Products(2)" { try await app.act() }
                return response
            })
        let store = try await shop.clone(through: service)
        try await store.changes.transaction { changes in
            try changes.update("Products(1)", ["Stock": 5])
            try changes.update("Products(2)", ["Stock": 5])
        }
        app.plan { try await store.changes.undoAll() }
        await shop.wire.mend()
        let report = try await store.upload()
        #expect(report.accepted.isEmpty && report.failed.isEmpty)
        #expect(await shop.wire.requests.allSatisfy { $0.method == .get })
        #expect(try await store.observe.status().pending.isEmpty)
    }

    @Test("survives a lost response, and both changes arrive once")
    func lostAnswer() async throws {
        let shop = try await Shop()
        let app = App()
        let store = try await store(shop, app, .update)
        try await store.update("Products(5)", ["Stock": 77])
        app.plan {
            try await store.update("Products(5)", ["Stock": 78])
            throw CancellationError()
        }
        await #expect(throws: CancellationError.self) { try await store.upload() }
        #expect(try await store.upload().failed.map(\.entityText) == [])
        try await store.download()
        #expect(try await shop.count("SELECT Stock FROM Products WHERE ProductID = 5") == 78)
        try await shop.expectEqual(store)
    }

    @Test("does not overwrite changes by others after a lost response")
    func overtaken() async throws {
        let shop = try await Shop()
        let app = App()
        let store = try await store(shop, app, .update)
        try await store.update("Products(5)", ["Stock": 77])
        app.plan { throw CancellationError() }
        await #expect(throws: CancellationError.self) { try await store.upload() }
        try await store.update("Products(5)", ["Stock": 78])
        try await shop.sql("UPDATE Products SET Stock = 99 WHERE ProductID = 5")
        // The response to the repeated first change has the current state of the service.
        let report = try await store.upload()
        #expect(report.accepted.count == 1)
        #expect(report.failed.map { $0.failure?.isConflict } == [true])
        #expect(try await shop.count("SELECT Stock FROM Products WHERE ProductID = 5") == 99)
    }

    /// Loses the response to a change of the price while another user changes the stock.
    private func losePrice(_ shop: Shop, _ app: App, _ store: OfflineStore) async throws {
        try await store.update("Products(5)", ["Price": 9])
        app.plan { throw CancellationError() }
        await #expect(throws: CancellationError.self) { try await store.upload() }
        try await shop.sql("UPDATE Products SET Stock = 99 WHERE ProductID = 5")
    }

    @Test(
        "does not overwrite further changes by others after a lost response",
        arguments: [true, false], [true, false])
    func overtakenBesides(isRepeatable: Bool, isNext: Bool) async throws {
        let shop = try await Shop()
        let app = App()
        let store = try await store(shop, app, .update, isRepeatable: isRepeatable)
        try await losePrice(shop, app, store)
        if !isNext { try await store.update("Products(5)", ["Name": "Mine"]) }
        try await store.update("Products(5)", ["Stock": 78])
        // The option for services without ETags does not affect a service with ETags.
        let options = UploadOptions(comparesWithoutETags: false)
        let report = try await store.upload(options: options)
        #expect(report.accepted.count == (isNext ? 1 : 2))
        #expect(report.failed.map { $0.failure?.conflict } == [.changed])
        #expect(try await shop.count("SELECT Stock FROM Products WHERE ProductID = 5") == 99)
        #expect(try await shop.count("SELECT Price FROM Products WHERE ProductID = 5") == 9)
    }

    @Test(
        "does not delete changes by others after a lost response",
        arguments: [true, false], [true, false])
    func overtakenDeletion(isRepeatable: Bool, isChanged: Bool) async throws {
        let shop = try await Shop()
        let app = App()
        let store = try await store(shop, app, .update, isRepeatable: isRepeatable)
        let line = "Order_Lines(OrderID=1003,LineNumber=1)"
        try await store.update(line, ["Price": 9])
        app.plan { throw CancellationError() }
        await #expect(throws: CancellationError.self) { try await store.upload() }
        try await store.delete(line)
        let row = "OrderID = 1003 AND LineNumber = 1"
        if isChanged { try await shop.sql("UPDATE \"Order Lines\" SET Quantity = 99 WHERE \(row)") }
        let report = try await store.upload()
        #expect(report.accepted.count == (isChanged ? 1 : 2))
        #expect(report.failed.map { $0.failure?.conflict } == (isChanged ? [.changed] : []))
        #expect(try await shop.count("SELECT COUNT(*) FROM \"Order Lines\" WHERE \(row)") == (isChanged ? 1 : 0))
    }
}
