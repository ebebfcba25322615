import ODataModel
import ODataQuery
import ODataService
import OfflineOData
import Testing

@Suite("The error archive")
struct ErrorArchiveTests {
    private func refused(_ shop: Shop) async throws -> OfflineStore {
        let store = try await shop.clone()
        try await store.update("Products(6)", ["Stock": -4])
        let report = try await store.upload()
        #expect(report.failed.count == 1)
        return store
    }

    @Test("contains the refused change, its reason and the local version")
    func kept() async throws {
        let shop = try await Shop()
        let store = try await refused(shop)
        let failed = try #require(try await store.observe.status().failed.first)
        #expect(failed.failure?.status ?? 0 >= 400)
        #expect(failed.failure?.message.isEmpty == false)
        #expect(try await store.rows("Products(6)").first?["Stock"] == -4)
    }

    @Test("becomes empty when the entity is edited again")
    func mended() async throws {
        let shop = try await Shop()
        let store = try await refused(shop)
        try await store.update("Products(6)", ["Stock": 4])
        let report = try await store.upload()
        #expect(report.accepted.count == 1)
        #expect(report.failed.map(\.entityText) == [])
        try await store.download()
        try await shop.expectEqual(store)
    }

    @Test("discards a change, and the entity gets the server version")
    func discarded() async throws {
        let shop = try await Shop()
        let store = try await refused(shop)
        #expect(try await store.changes.discard() == 1)
        try await shop.expectEqual(store)
    }

    @Test("retries a change unchanged")
    func retried() async throws {
        let shop = try await Shop()
        let store = try await refused(shop)
        #expect(try await store.changes.retry() == 1)
        #expect(try await store.upload().failed.count == 1, "the service has not changed its mind")
    }

    @Test("retries a conflict on top of the server version")
    func retriedConflict() async throws {
        let shop = try await Shop()
        let store = try await shop.clone()
        try await store.update("Customers('C0002')", ["City": "Mine"])
        try await shop.sql("UPDATE Customers SET City = 'Theirs' WHERE CustomerID = 'C0002'")
        #expect(try await store.upload().failed.count == 1)
        try await store.changes.retry()
        #expect(try await store.upload().failed.map(\.entityText) == [])
        #expect(try await shop.text("SELECT City FROM Customers WHERE CustomerID = 'C0002'") == "Mine")
    }

    @Test("removes a refused creation that is deleted locally")
    func createDeleted() async throws {
        let shop = try await Shop()
        let store = try await shop.clone()
        try await store.create("Customers", ["CustomerID": "C0001X", "CompanyName": "X", "Country": "Y"])
        try await store.create("Products", ["Name": "X", "CategoryID": 99, "Price": .decimal(ODataDecimal(1))])
        #expect(try await store.upload().failed.count == 1)
        try await store.delete("Products(-1)")
        #expect(try await store.observe.status().failed.map(\.entityText) == [])
        try await store.download()
        try await shop.expectEqual(store)
    }

    @Test("reports an unknown request")
    func unknown() async throws {
        let shop = try await Shop()
        let store = try await shop.clone([])
        await #expect(throws: OfflineError.self) { try await store.changes.retry([4711]) }
        await #expect(throws: OfflineError.self) { try await store.changes.discard([4711]) }
    }

    @Test("restores a deleted entity after a refused deletion")
    func deleteDiscarded() async throws {
        let shop = try await Shop()
        let store = try await shop.clone()
        // Orders refer to the customer, so the service refuses the deletion.
        try await store.delete("Customers('C0001')")
        #expect(try await store.rows("Customers").count == 39)
        #expect(try await store.upload().failed.count == 1)
        try await store.changes.discard()
        #expect(try await store.rows("Customers").count == 40)
        try await shop.expectEqual(store)
    }
}

@Suite("Dependents of an archived change")
struct ArchiveDependencyTests {
    private static let order: [String: ODataValue] = [
        "CustomerID": "NOBODY", "OrderedAt": .dateTimeOffset(.init(seconds: 1_790_000_000)),
    ]
    private static let line: [String: ODataValue] = [
        "OrderID": -1, "LineNumber": 1, "ProductID": 3, "Quantity": 2, "Price": .decimal(ODataDecimal(5)),
    ]

    private func refusedOrder(_ shop: Shop) async throws -> OfflineStore {
        let store = try await shop.clone()
        try await store.create("Orders", Self.order)
        try await store.create("Order_Lines", Self.line)
        #expect(try await store.upload().failed.map(\.entitySet) == ["Orders"])
        return store
    }

    @Test("is discarded with a refused creation, to which it would refer")
    func discarded() async throws {
        let shop = try await Shop()
        let store = try await refusedOrder(shop)
        try await store.changes.discard()
        try await shop.expectEqual(store)
    }

    @Test("is removed with a refused creation that is deleted locally")
    func deleted() async throws {
        let shop = try await Shop()
        let store = try await refusedOrder(shop)
        try await store.delete("Orders(-1)")
        try await shop.expectEqual(store)
    }

    @Test("may be its repair, and the entities that it refers to are sent first")
    func mendedByLater() async throws {
        let shop = try await Shop()
        let store = try await refusedOrder(shop)
        try await store.create("Customers", ["CustomerID": "NEWCO", "CompanyName": "New", "Country": "Norway"])
        try await store.update("Orders(-1)", ["CustomerID": "NEWCO"])
        let report = try await store.upload()
        #expect(report.accepted.map(\.entitySet) == ["Customers", "Orders", "Order_Lines"])
        try await store.download()
        try await shop.expectEqual(store)
    }

    @Test("with a new entity under the key of a refused deletion can be discarded, and so can the deletion")
    func recreated() async throws {
        let shop = try await Shop()
        let store = try await shop.clone()
        try await store.delete("Customers('C0001')")
        try await store.create("Customers", ["CustomerID": "C0001", "CompanyName": "New", "Country": "Norway"])
        let report = try await store.upload()
        #expect(report.failed.map(\.kind) == [.delete])
        #expect(report.waiting.map(\.kind) == [.create])
        try await store.changes.discard()
        try await shop.expectEqual(store)
    }
}

@Suite("A refused creation of an entity that another client created")
struct TakenKeyTests {
    @Test("is deleted locally, and the other client's entity stays")
    func deleted() async throws {
        let shop = try await Shop()
        let store = try await shop.clone()
        try await store.create("Customers", ["CustomerID": "NEWCO", "CompanyName": "Mine", "Country": "Norway"])
        try await shop.sql("INSERT INTO Customers VALUES ('NEWCO', 'Theirs', NULL, 'Norway')")
        #expect(try await store.upload().failed.map(\.failure?.status) == [409])
        try await store.download()
        try await store.delete("Customers('NEWCO')")
        try await shop.expectEqual(store)
    }

    @Test("is deleted locally before it was sent, and the other client's entity stays")
    func deletedBefore() async throws {
        let shop = try await Shop()
        let store = try await shop.clone()
        try await store.create("Customers", ["CustomerID": "NEWCO", "CompanyName": "Mine", "Country": "Norway"])
        try await shop.sql("INSERT INTO Customers VALUES ('NEWCO', 'Theirs', NULL, 'Norway')")
        try await store.download()
        try await store.delete("Customers('NEWCO')")
        try await store.upload()
        #expect(try await shop.count("SELECT COUNT(*) FROM Customers WHERE CustomerID = 'NEWCO'") == 1)
        try await shop.expectEqual(store)
    }
}

@Suite("A request with unknown outcome")
struct AcceptTests {
    private func inDoubt(_ shop: Shop, withLine: Bool = false) async throws -> OfflineStore {
        let store = try await shop.clone(through: PlainService(base: shop.client()))
        try await store.create(
            "Orders", ["CustomerID": "C0001", "OrderedAt": .dateTimeOffset(.init(seconds: 1_790_000_000))])
        if withLine {
            try await store.create(
                "Order_Lines",
                ["OrderID": -1, "LineNumber": 1, "ProductID": 3, "Quantity": 2, "Price": .decimal(ODataDecimal(5))])
        }
        await shop.wire.cut { _, request in request.method == .post ? .answerLost : nil }
        _ = try? await store.upload()
        await shop.wire.mend()
        #expect(try await store.upload().failed.map(\.state) == [.inDoubt])
        return store
    }

    @Test("is accepted as successful, and the next download brings its result")
    func accepted() async throws {
        let shop = try await Shop()
        let store = try await inDoubt(shop)
        #expect(try await store.changes.accept() == 1)
        #expect(try await store.rows("Orders").count == 201, "the entity is not lost in between")
        try await store.download()
        try await shop.expectEqual(store)
    }

    @Test("is accepted with its service key, so that dependents can follow")
    func acceptedWithKey() async throws {
        let shop = try await Shop()
        let store = try await inDoubt(shop, withLine: true)
        let id = try #require(try await store.observe.status().failed.first?.id)
        await #expect(throws: OfflineError.self) { try await store.changes.accept([id]) }
        try await store.changes.accept([id], keys: [id: EntityKey([.init(name: "OrderID", value: 1201)])])
        #expect(try await store.upload().accepted.map(\.entitySet) == ["Order_Lines"])
        try await store.download()
        try await shop.expectEqual(store)
    }

    @Test("is accepted with its service key without conflicts of pending changes")
    func acceptedBeneathDeletion() async throws {
        let shop = try await Shop()
        let store = try await inDoubt(shop)
        let id = try #require(try await store.observe.status().failed.first?.id)
        try await store.update("Orders(-1)", ["Freight": 3])
        _ = try await store.execute(ODataRequest(.delete, try ODataURL(parsing: "Orders(-1)")))
        try await store.changes.accept([id], keys: [id: EntityKey([.init(name: "OrderID", value: 1201)])])
        #expect(try await store.observe.status().pending.last?.base?["OrderID"] == 1201)
        let report = try await store.upload(options: UploadOptions(foldsRequests: true))
        #expect(report.failed.map(\.entityText) == [])
        #expect(try await shop.count("SELECT COUNT(*) FROM Orders") == 200)
        try await store.download()
        try await shop.expectEqual(store)
    }

    @Test("is accepted with its service key, which replaces the temporary key in all dependents")
    func acceptedBeneathReference() async throws {
        let shop = try await Shop()
        let store = try await inDoubt(shop, withLine: true)
        let id = try #require(try await store.observe.status().failed.first?.id)
        _ = try await store.execute(
            ODataRequest(.delete, try ODataURL(parsing: "Order_Lines(OrderID=-1,LineNumber=1)")))
        try await store.changes.accept([id], keys: [id: EntityKey([.init(name: "OrderID", value: 1201)])])
        let deletion = try await store.observe.status().pending.last
        #expect(deletion?.entityText == "Order_Lines(OrderID=1201,LineNumber=1)")
        #expect(deletion?.base?["OrderID"] == 1201)
        #expect(try await store.upload().failed.map(\.entityText) == [])
        try await store.download()
        try await shop.expectEqual(store)
    }

    @Test(
        "is accepted with the key of a downloaded, locally deleted entity: both are one, and it is deleted",
        arguments: [true, false], [true, false])
    func acceptedBesideDeletion(deletesBoth: Bool, takesBack: Bool) async throws {
        let shop = try await Shop()
        let store = try await inDoubt(shop)
        let id = try #require(try await store.observe.status().failed.first?.id)
        try await store.download()
        if deletesBoth { _ = try await store.execute(ODataRequest(.delete, try ODataURL(parsing: "Orders(-1)"))) }
        try await store.update("Orders(1201)", ["Freight": 3])
        _ = try await store.execute(ODataRequest(.delete, try ODataURL(parsing: "Orders(1201)")))
        try await store.changes.accept([id], keys: [id: EntityKey([.init(name: "OrderID", value: 1201)])])
        #expect(try await store.rows("Orders").count == 200)
        if takesBack {
            try await store.changes.undoAll()
            #expect(try await store.rows("Orders").count == 201)
        } else {
            #expect(try await store.upload().failed.isEmpty)
        }
        try await store.sync()
        try await shop.expectEqual(store)
        #expect(try await store.rows("Orders").count == (takesBack ? 201 : 200))
    }

    @Test("is accepted only if its outcome is unknown, not if it was refused")
    func refused() async throws {
        let shop = try await Shop()
        let store = try await shop.clone()
        try await store.update("Products(6)", ["Stock": -4])
        let id = try #require(try await store.upload().failed.first?.id)
        await #expect(throws: OfflineError.self) { try await store.changes.accept([id]) }
        #expect(try await store.changes.accept() == 0)
        #expect(try await store.observe.status().failed.count == 1)
    }
}
