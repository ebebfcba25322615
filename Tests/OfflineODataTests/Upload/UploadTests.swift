import ODataHTTP
import ODataModel
import ODataQuery
import ODataService
import OfflineOData
import Testing

@Suite("An upload")
struct UploadTests {
    @Test("sends creations, updates and deletions in order, and both sides are equal")
    func everything() async throws {
        let shop = try await Shop()
        let store = try await shop.clone()
        try await store.create("Customers", ["CustomerID": "NEWCO", "CompanyName": "New", "Country": "Norway"])
        try await store.update("Orders(1001)", ["Freight": .decimal(ODataDecimal(99))])
        try await store.delete("Order_Lines(OrderID=1003,LineNumber=1)")
        let report = try await store.upload()
        #expect(report.accepted.map(\.kind) == [.create, .update, .delete])
        #expect(report.failed.map(\.entityText) == [])
        #expect(try await shop.count("SELECT Freight FROM Orders WHERE OrderID = 1001") == 99)
        try await store.download()
        try await shop.expectEqual(store)
    }

    @Test("sends only the properties that changed")
    func onlyChanged() async throws {
        let shop = try await Shop()
        let store = try await shop.clone()
        try await store.update("Customers('C0003')", ["City": "Mine"])
        try await shop.sql("UPDATE Orders SET Freight = 1 WHERE OrderID = 1001")
        let report = try await store.upload()
        #expect(report.accepted.first?.changes["City"] == "Mine")
        #expect(report.accepted.first?.changes["CompanyName"] == nil)
    }

    @Test("assigns service keys to local creations and to references to them (rule 11)")
    func serverKeys() async throws {
        let shop = try await Shop()
        let store = try await shop.clone()
        let order = try #require(
            try await store.create(
                "Orders", ["CustomerID": "C0001", "OrderedAt": .dateTimeOffset(.init(seconds: 1_790_000_000))]))
        #expect(order["OrderID"] == .integer(-1))
        try await store.create(
            "Order_Lines",
            ["OrderID": -1, "LineNumber": 1, "ProductID": 3, "Quantity": 2, "Price": .decimal(ODataDecimal(5))])
        #expect(try await store.rows("Orders(-1)/Order_Lines").count == 1)
        let report = try await store.upload()
        #expect(report.accepted.count == 2)
        #expect(try await shop.count("SELECT COUNT(*) FROM \"Order Lines\" WHERE OrderID = 1201") == 1)
        #expect(try await store.rows("Orders(1201)/Order_Lines").count == 1)
        #expect(try await store.rows("Orders(-1)").first?["OrderID"] == .integer(1201), "the old key is an alias")
        try await store.update("Orders(-1)", ["CustomerID": "C0002"])
        #expect(try await store.rows("Orders(1201)").first?["CustomerID"] == "C0002", "also when it is changed")
        #expect(
            try await store.observe.status().pending.map(\.kind) == [.update], "nothing is made under the first key")
        try await store.upload()
        try await store.download()
        try await shop.expectEqual(store)
    }

    @Test("continues after a refusal, and dependents of the refused request wait (rule 6)")
    func refusal() async throws {
        let shop = try await Shop()
        let store = try await shop.clone()
        try await store.create(
            "Orders",
            [
                "CustomerID": "NOBODY", "OrderedAt": .dateTimeOffset(.init(seconds: 1_790_000_000)),
            ])
        try await store.create(
            "Order_Lines",
            ["OrderID": -1, "LineNumber": 1, "ProductID": 3, "Quantity": 2, "Price": .decimal(ODataDecimal(5))])
        try await store.update("Products(5)", ["Stock": 77])
        let report = try await store.upload()
        #expect(report.failed.map(\.entitySet) == ["Orders"])
        #expect(report.waiting.map(\.entitySet) == ["Order_Lines"])
        #expect(report.accepted.map(\.entitySet) == ["Products"])
        // Another edit corrects the refused change, and the waiting change follows.
        try await store.update("Orders(-1)", ["CustomerID": "C0001"])
        let second = try await store.upload()
        #expect(second.accepted.map(\.entitySet) == ["Orders", "Order_Lines"])
        try await store.download()
        try await shop.expectEqual(store)
    }

    @Test("finds a conflict by the ETag that the user saw, also after a download (rule 5)")
    func conflict() async throws {
        let shop = try await Shop()
        let store = try await shop.clone()
        try await store.update("Customers('C0002')", ["City": "Mine"])
        try await shop.sql("UPDATE Customers SET City = 'Theirs' WHERE CustomerID = 'C0002'")
        try await store.download()
        let report = try await store.upload()
        let failed = try #require(report.failed.first)
        #expect(failed.failure?.isConflict == true)
        #expect(failed.failure?.theirs?["City"] == "Theirs")
        #expect(failed.base?["City"] == "Porto")
        #expect(try await shop.text("SELECT City FROM Customers WHERE CustomerID = 'C0002'") == "Theirs")
    }

    @Test("follows the conflict policy", arguments: ["mine", "theirs", "merged"])
    func policies(name: String) async throws {
        let shop = try await Shop()
        let store = try await shop.clone()
        try await store.update("Customers('C0002')", ["City": "Mine"])
        try await shop.sql("UPDATE Customers SET City = 'Theirs' WHERE CustomerID = 'C0002'")
        let policy: ConflictPolicy
        switch name {
        case "mine": policy = .clientWins
        case "theirs": policy = .serverWins
        default:
            policy = .custom { versions in
                var merged = versions.mine
                merged["City"] = "Merged"
                return .merged(merged)
            }
        }
        let report = try await store.upload(options: UploadOptions(conflictPolicy: policy))
        #expect(report.failed.map(\.entityText) == [])
        let expected = ["mine": "Mine", "theirs": "Theirs", "merged": "Merged"][name]
        #expect(try await shop.text("SELECT City FROM Customers WHERE CustomerID = 'C0002'") == expected)
        try await store.download()
        try await shop.expectEqual(store)
    }

    @Test("acts exactly once if every first response is lost (rule 1)")
    func exactlyOnce() async throws {
        let shop = try await Shop()
        let store = try await shop.clone()
        for number in 1...3 {
            try await store.create(
                "Orders",
                [
                    "CustomerID": "C0001", "OrderedAt": .dateTimeOffset(.init(seconds: Int64(1_790_000_000 + number))),
                ])
        }
        try await store.update("Orders(1001)", ["Freight": .decimal(ODataDecimal(7))])
        try await store.delete("Order_Lines(OrderID=1003,LineNumber=1)")
        for _ in 1...5 {
            // Each attempt loses the response to its first change; the next attempt repeats it.
            let lost = LockedFlag()
            await shop.wire.cut { _, request in
                guard request.method != .get, !lost.isSet else { return nil }
                lost.set()
                return .answerLost
            }
            _ = try? await store.upload()
        }
        await shop.wire.mend()
        _ = try await store.upload()
        #expect(try await shop.count("SELECT COUNT(*) FROM Orders") == 203)
        try await store.download()
        try await shop.expectEqual(store)
    }

    @Test("never silently repeats a creation that the service cannot recognise (rule 1)")
    func inDoubt() async throws {
        let shop = try await Shop()
        let store = try await shop.clone(through: PlainService(base: shop.client()))
        try await store.create(
            "Orders", ["CustomerID": "C0001", "OrderedAt": .dateTimeOffset(.init(seconds: 1_790_000_000))])
        await shop.wire.cut { _, request in request.method == .post ? .answerLost : nil }
        _ = try? await store.upload()
        await shop.wire.mend()
        let report = try await store.upload()
        #expect(report.failed.map(\.state) == [.inDoubt])
        #expect(try await shop.count("SELECT COUNT(*) FROM Orders") == 201, "at most once")
        try await store.changes.discard()
        try await store.download()
        try await shop.expectEqual(store)
    }

    @Test("compares values before each change if the service has no ETags (rule 8)")
    func withoutETags() async throws {
        let shop = try await Shop()
        let store = try await shop.clone(through: PlainService(base: shop.client(), hasETags: false))
        try await store.update("Customers('C0002')", ["City": "Mine"])
        try await store.update("Customers('C0003')", ["City": "Mine"])
        try await shop.sql("UPDATE Customers SET City = 'Theirs' WHERE CustomerID = 'C0002'")
        let report = try await store.upload()
        #expect(report.accepted.map(\.entityText) == ["Customers('C0003')"])
        #expect(report.failed.map(\.entityText) == ["Customers('C0002')"])
    }

    @Test(
        "Rule 8: compares the base version of each change of an entity, also behind another local change",
        arguments: [ODataRequest.Method.update, .delete])
    func withoutETagsChain(last: ODataRequest.Method) async throws {
        let shop = try await Shop()
        let store = try await shop.clone(through: PlainService(base: shop.client(), hasETags: false))
        let line = "Order_Lines(OrderID=1003,LineNumber=1)"
        let theirs = "SELECT Price FROM \"Order Lines\" WHERE OrderID = 1003 AND LineNumber = 1"
        try await store.update(line, ["Quantity": 77])
        if last == .update {
            try await store.update(line, ["Price": .decimal(ODataDecimal(3))])
        } else {
            try await store.delete(line)
        }
        try await shop.sql("UPDATE \"Order Lines\" SET Price = 99 WHERE OrderID = 1003 AND LineNumber = 1")
        let report = try await store.upload()
        #expect(report.accepted.map(\.kind) == [.update])
        #expect(report.failed.map(\.failure?.isConflict) == [true])
        #expect(report.failed.first?.failure?.theirs?["Price"] == .decimal(ODataDecimal(99)))
        #expect(try await shop.count(theirs) == 99)
    }

    @Test(
        "Rule 8: treats side effects of a change as its own, and bases the next change on them",
        arguments: [false, true])
    func withoutETagsOwnWork(isTold: Bool) async throws {
        let shop = try await Shop()
        let service = Gateway(
            base: PlainService(base: try shop.client(), hasETags: false),
            after: { request, response in
                guard request.method == .update else { return response }
                try await shop.sql(
                    "UPDATE \"Order Lines\" SET Price = Price + 1 WHERE OrderID = 1003 AND LineNumber = 1")
                guard isTold else { return ODataResponse(status: 204) }
                var answer = response
                answer.body = .entity(
                    try #require(try await shop.database.rows("Order_Lines(OrderID=1003,LineNumber=1)").first))
                if case .entity(var entity) = answer.body {
                    entity.control.etag = nil
                    answer.body = .entity(entity)
                }
                return answer
            })
        let store = try await shop.clone(through: service)
        let line = "Order_Lines(OrderID=1003,LineNumber=1)"
        try await store.update(line, ["Quantity": 77])
        try await store.update(line, ["Quantity": 78])
        try await store.update(line, ["Price": .decimal(ODataDecimal(3))])
        try await store.delete(line)
        let report = try await store.upload()
        #expect(report.failed.map(\.description) == [])
        #expect(report.accepted.count == 4)
        #expect(try await shop.database.rows("Order_Lines?$filter=OrderID eq 1003 and LineNumber eq 1").isEmpty)
    }

    @Test("Rule 8: bases later changes on all values that the service gave to a creation")
    func withoutETagsBehindCreation() async throws {
        let shop = try await Shop(
            with: """
                CREATE TRIGGER named AFTER INSERT ON Categories BEGIN
                    UPDATE Categories SET Name = NEW.Name || '!' WHERE CategoryID = NEW.CategoryID;
                END;
                """)
        let service = Gateway(
            base: PlainService(base: try shop.client(), hasETags: false),
            after: { request, response in
                // The response has no body, so the entity is read again.
                guard request.method == .create else { return response }
                var answer = ODataResponse(status: 204)
                answer.location = response.location
                return answer
            })
        let store = try await shop.clone(through: service)
        try await store.create("Categories", ["Name": "New"])
        try await store.update("Categories(-1)", ["Name": "Newer"])
        try await store.update("Categories(-1)", ["Name": "Newest"])
        #expect(try await store.upload().failed.map(\.description) == [])
        #expect(try await shop.count("SELECT COUNT(*) FROM Categories WHERE Name = 'Newest'") == 1)
    }

    @Test("keeps everything queued when the service cannot be reached")
    func unreachable() async throws {
        let shop = try await Shop()
        let store = try await shop.clone()
        try await store.update("Products(5)", ["Stock": 77])
        await shop.wire.cut { _, _ in .lostOnTheWay }
        await #expect(throws: (any Error).self) { try await store.upload() }
        #expect(try await store.observe.status().pending.count == 1)
        #expect(try await store.observe.status().failed.map(\.entityText) == [])
    }

    @Test("sends several changes of one entity, each with the previous ETag (rule 5)")
    func chain() async throws {
        let shop = try await Shop()
        let store = try await shop.clone()
        try await store.update("Products(5)", ["Stock": 1])
        try await store.update("Products(5)", ["Stock": 2])
        try await store.update("Products(5)", ["Price": .decimal(ODataDecimal(3))])
        let report = try await store.upload()
        #expect(report.accepted.count == 3)
        try await store.download()
        try await shop.expectEqual(store)
    }

    @Test("accepts the deletion of an entity that another client deleted")
    func deletedTwice() async throws {
        let shop = try await Shop()
        let store = try await shop.clone()
        try await store.delete("Order_Lines(OrderID=1003,LineNumber=1)")
        try await shop.sql("DELETE FROM \"Order Lines\" WHERE OrderID = 1003 AND LineNumber = 1")
        let report = try await store.upload()
        #expect(report.failed.map(\.entityText) == [])
        try await store.download()
        try await shop.expectEqual(store)
    }

    /// Cancels the current task, which continues until it checks for cancellation.
    private static func cancelCurrentTask() { withUnsafeCurrentTask { $0?.cancel() } }

    @Test("that ends early reports the accepted changes, also in the event log", arguments: [false, true])
    func endsEarly(isCancelled: Bool) async throws {
        let shop = try await Shop()
        let hasEnded = LockedFlag()
        let service = Gateway(
            base: try shop.client(),
            after: { request, response in
                guard !hasEnded.isSet, request.method == .update, "\(request.url)" == "Products(3)" else {
                    return response
                }
                hasEnded.set()
                guard isCancelled else {
                    throw TransportError.connectionLost(host: "shop.test", reason: "the wire is cut")
                }
                Self.cancelCurrentTask()
                return response
            })
        let store = try await shop.clone(through: service)
        let listener = SyncListener()
        store.observe.setDelegate(listener)
        for (product, stock) in [(1, 4711), (2, -1), (3, 4713), (4, 4714)] {
            try await store.update("Products(\(product))", ["Stock": .integer(Int64(stock))])
        }
        let upload = Task { try await store.upload() }
        await #expect(throws: (any Error).self) { try await upload.value }
        let accepted = isCancelled ? ["Products(1)", "Products(3)"] : ["Products(1)"]
        let report = try #require(listener.earlyEnds.first)
        #expect(report.accepted.map(\.entityText) == accepted)
        #expect(report.failed.map(\.entityText) == ["Products(2)"])
        let event = try #require(try await store.observe.events().first { $0.kind == "upload" })
        #expect(event.text == "ended early: \(accepted.count) changes accepted, 1 not")
        #expect(event.requests == accepted.count + 1 && event.failures == 2)
        #expect(try await store.upload().accepted.map(\.entityText).last == "Products(4)")
        #expect(listener.earlyEnds.count == 1, "the second one went through")
    }
}
