import HTTPTypes
import ODataModel
import ODataQuery
import ODataService
import OfflineOData
import Testing

@Suite("Changes made together")
struct TransactionTests {
    private static let order: [String: ODataValue] = [
        "CustomerID": "C0001", "OrderedAt": .dateTimeOffset(.init(seconds: 1_790_000_000)),
    ]

    private static func line(of order: ODataValue, product: Int64 = 3) -> [String: ODataValue] {
        [
            "OrderID": order, "LineNumber": 1, "ProductID": .integer(product), "Quantity": 2,
            "Price": .decimal(ODataDecimal(5)),
        ]
    }

    private func orderWithLine(_ store: OfflineStore, product: Int64 = 3) async throws -> ODataValue {
        try await store.changes.transaction { changes in
            let order = try changes.create("Orders", Self.order)
            let id = try order.value(of: "OrderID")
            try changes.create("Order_Lines", Self.line(of: id, product: product))
            try changes.update("Products(1)", ["Stock": 5])
            return id
        }
    }

    @Test("are one change set that names created entities by content ids")
    func changeSet() async throws {
        let shop = try await Shop()
        let store = try await shop.clone()
        #expect(try await orderWithLine(store) == -1)
        #expect(try await store.rows("Order_Lines?$filter=OrderID eq -1").count == 1)
        await shop.wire.mend()
        let report = try await store.upload()
        #expect(report.accepted.map(\.kind) == [.create, .create, .update])
        #expect(await shop.wire.requests.map { $0.path?.hasSuffix("$batch") } == [true])
        #expect(try await store.rows("Order_Lines?$filter=OrderID eq 1201").count == 1)
        #expect(try await store.rows("Orders(-1)").first?["OrderID"] == 1201, "the first key still leads there")
        try await store.download()
        try await shop.expectEqual(store)
    }

    @Test("are visible within, and gone completely if the closure throws")
    func rolledBack() async throws {
        struct Enough: Error {}
        let shop = try await Shop()
        let store = try await shop.clone()
        await #expect(throws: Enough.self) {
            try await store.changes.transaction { changes in
                try changes.update("Products(1)", ["Stock": 5])
                #expect(try changes.entities("Products?$filter=ProductID eq 1").first?["Stock"] == 5)
                try changes.delete("Products(2)")
                throw Enough()
            }
        }
        try await shop.expectEqual(store)
    }

    @Test("store nothing of a refused change, and keep the others if the closure continues")
    func refusedHere() async throws {
        let shop = try await Shop()
        let store = try await shop.clone()
        try await store.changes.transaction { changes in
            #expect(throws: ODataError.self) { try changes.update("Products(1)", ["Name": .null]) }
            try changes.update("Products(2)", ["Stock": 5])
        }
        #expect(try await store.observe.status().pending.map(\.entityText) == ["Products(2)"])
    }

    @Test("include changes of the engine's own sets")
    func engineSets() async throws {
        let shop = try await Shop()
        let store = try await shop.clone()
        try await store.update("Products(6)", ["Stock": -4])
        try await store.upload()
        let archived = try #require(try await store.observe.status().failed.first?.id)
        try await store.changes.transaction { changes in
            let entry = try #require(try changes.entities("ErrorArchive?$expand=AffectedEntity").first)
            guard case .one(let affected)? = entry.related["AffectedEntity"] else { throw ODataError.notFound("it") }
            #expect(affected["Stock"] == -4 && affected.inErrorState)
            #expect(try changes.entities("ErrorArchive(\(archived))/AffectedEntity").first?["Stock"] == -4)
            try changes.delete("ErrorArchive(\(archived))")
            try changes.update("Products(7)", ["Stock": 7])
            #expect(try changes.entities("RequestQueue").map { $0["Entity"] } == ["Products(7)"])
            let local = try changes.entities("Products?$filter=outpost.isLocal()")
            #expect(local.map { $0["ProductID"] } == [7] && local.first?.isUpdated == true)
        }
        #expect(try await store.upload().accepted.map(\.entityText) == ["Products(7)"])
        try await store.download()
        try await shop.expectEqual(store)
    }

    @Test("include queued action calls and no immediate ones")
    func calls() async throws {
        let studio = try await Studio()
        let store = try await studio.clone()
        let change: @Sendable (LocalTransaction) throws -> Void = { changes in
            try changes.update("Tags(1)", ["Name": "crimson"])
            let url = try ODataURL(parsing: "Albums(1)/Studio.Rename")
            let response = try changes.perform(ODataRequest(.create, url, body: .parameters(["Name": "Called"])))
            #expect(response.status == 202)
        }
        let error = await #expect(throws: ODataError.self) {
            try await store.changes.transaction(options: ChangeOptions(operationMode: .online), change)
        }
        #expect(error?.code == "OnlineCallInChangeSet")
        #expect(studio.calls.names.isEmpty)
        #expect(try await store.observe.status().pending.isEmpty)
        try await store.changes.transaction(change)
        #expect(try await store.upload().accepted.map(\.kind) == [.update, .call])
        #expect(studio.calls.names == ["Called"])
    }

    @Test("are refused, archived and repaired together")
    func refused() async throws {
        let shop = try await Shop()
        let store = try await shop.clone()
        let stock = try await shop.count("SELECT Stock FROM Products WHERE ProductID = 1")
        _ = try await orderWithLine(store, product: 999)
        let report = try await store.upload()
        #expect(report.failed.map(\.kind) == [.create, .create, .update])
        #expect(try await shop.count("SELECT COUNT(*) FROM Orders") == 200)
        #expect(try await shop.count("SELECT Stock FROM Products WHERE ProductID = 1") == stock)
        try await store.update("Order_Lines(OrderID=-1,LineNumber=1)", ["ProductID": 4])
        #expect(try await store.upload().accepted.count == 3)
        try await store.download()
        try await shop.expectEqual(store)
    }

    @Test("are withdrawn together")
    func discarded() async throws {
        let shop = try await Shop()
        let store = try await shop.clone()
        _ = try await orderWithLine(store, product: 999)
        let failed = try await store.upload().failed
        try await store.changes.discard([try #require(failed.last?.id)])
        try await shop.expectEqual(store)
    }

    @Test("are sent one after the other if the service has no change sets")
    func withoutBatches() async throws {
        let shop = try await Shop()
        let service = Gateway(
            base: try shop.client(),
            before: { request in
                guard case .batch = request.body else { return nil }
                throw ODataError(status: 501, code: "NotImplemented", message: "There are no batches here.")
            })
        let store = try await shop.clone(through: service)
        _ = try await orderWithLine(store, product: 999)
        let report = try await store.upload()
        #expect(report.accepted.map(\.entitySet) == ["Orders"])
        #expect(report.failed.map(\.entitySet) == ["Order_Lines"])
        #expect(report.waiting.map(\.entityText) == ["Products(1)"])
        try await store.update("Order_Lines(OrderID=1201,LineNumber=1)", ["ProductID": 4])
        #expect(try await store.upload().accepted.count == 2)
        try await store.download()
        try await shop.expectEqual(store)
    }

    @Test("share one request id and act once after a lost response (rules 1 and 2)")
    func answerLost() async throws {
        let shop = try await Shop()
        let store = try await shop.clone()
        _ = try await orderWithLine(store)
        await shop.wire.cut { _, request in request.method == .post ? .answerLost : nil }
        _ = try? await store.upload()
        await shop.wire.mend()
        #expect(try await store.observe.status().pending.allSatisfy { $0.state == .sending && $0.firstSent != nil })
        #expect(try await store.upload().accepted.count == 3)
        #expect(try await shop.count("SELECT COUNT(*) FROM Orders") == 201)
        try await store.download()
        try await shop.expectEqual(store)
    }

    @Test("are searched by their evidence if the service remembers no requests")
    func answerLostPlain() async throws {
        let shop = try await Shop()
        let store = try await shop.clone(through: PlainService(base: shop.client()))
        try await store.changes.transaction { changes in
            try changes.create("Customers", ["CustomerID": "NEWCO", "CompanyName": "New", "Country": "Norway"])
            try changes.update("Products(1)", ["Stock": 5])
        }
        await shop.wire.cut { _, request in request.method == .post ? .answerLost : nil }
        _ = try? await store.upload()
        await shop.wire.mend()
        #expect(try await store.upload().accepted.count == 2)
        #expect(await shop.wire.requests.allSatisfy { $0.method == .get }, "nothing is sent twice")
        try await store.download()
        try await shop.expectEqual(store)
    }

    @Test("wait together for one conflict, which the policy resolves")
    func conflict() async throws {
        let shop = try await Shop()
        let store = try await shop.clone()
        try await store.changes.transaction { changes in
            try changes.update("Customers('C0002')", ["City": "Mine"])
            try changes.update("Products(1)", ["Stock": 5])
        }
        try await shop.sql("UPDATE Customers SET CompanyName = 'Theirs' WHERE CustomerID = 'C0002'")
        let failed = try await store.upload().failed
        #expect(failed.map { $0.failure?.theirs != nil } == [true, false])
        try await store.changes.retry()
        #expect(try await store.upload(options: UploadOptions(conflictPolicy: .clientWins)).accepted.count == 2)
        try await store.download()
        try await shop.expectEqual(store)
        #expect(try await shop.text("SELECT City FROM Customers WHERE CustomerID = 'C0002'") == "Mine")
    }

    @Test("are sent as whole entities if the service requires it")
    func withoutPatch() async throws {
        let shop = try await Shop()
        let refused = LockedFlag()
        let service = Gateway(
            base: try shop.client(),
            before: { request in
                guard case .batch(let items) = request.body, items.contains(where: { $0.request.method == .update })
                else { return nil }
                refused.set()
                let error = ODataError(status: 405, code: "MethodNotAllowed", message: "There is no PATCH here.")
                return ODataResponse(body: .batch(items.map { BatchResult(id: $0.id, result: .failure(error)) }))
            })
        let store = try await shop.clone(through: service)
        let id = try await orderWithLine(store)
        try await store.changes.transaction { changes in
            try changes.update("Products(2)", ["Stock": 9])
            try changes.update("Customers('C0002')", ["City": "Mine"])
        }
        let report = try await store.upload()
        #expect(report.failed.map(\.description) == [])
        #expect(report.accepted.count == 5 && id == -1)
        #expect(refused.isSet)
        #expect(try await shop.count("SELECT Stock FROM Products WHERE ProductID = 2") == 9)
        #expect(try await shop.text("SELECT CompanyName FROM Customers WHERE CustomerID = 'C0002'") != nil)
        try await store.download()
        try await shop.expectEqual(store)
    }

    @Test("are a change set of a batch that the app sends to its store")
    func batch() async throws {
        let shop = try await Shop()
        let store = try await shop.clone()
        let shape = try #require(store.model.shape(ofSet: "Products"))
        _ = try await DataService(store).batch {
            try ChangeSet {
                BatchOperation.update(
                    ODataEntity(shape: shape, ["Stock": 1]), at: .url(try ODataURL(parsing: "Products(1)")))
                BatchOperation.update(
                    ODataEntity(shape: shape, ["Stock": 2]), at: .url(try ODataURL(parsing: "Products(2)")))
            }
        }
        #expect(try await store.observe.status().pending.count == 2)
        await shop.wire.mend()
        try await store.upload()
        #expect(await shop.wire.requests.count == 1)
    }
}
