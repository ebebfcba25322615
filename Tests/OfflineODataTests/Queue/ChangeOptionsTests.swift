import Foundation
import HTTPTypes
import ODataHTTP
import ODataModel
import ODataQuery
import ODataService
import OfflineOData
import Testing

@Suite("Options of a change")
struct ChangeOptionsTests {
    @Test("a category is uploaded with the changes that it depends on")
    func categories() async throws {
        let shop = try await Shop()
        let store = try await shop.clone()
        let visits = store.changes.provider(with: ChangeOptions(category: "visits"))
        #expect(visits.traits.capabilities == store.traits.capabilities && store.traits.capabilities != nil)
        try await store.create("Categories", ["Name": "First"])
        try await visits.create(
            "Products", ["Name": "X", "CategoryID": -1, "Price": .decimal(ODataDecimal(1)), "Stock": 1])
        try await visits.update("Products(2)", ["Stock": -1])
        try await visits.update("Products(2)", ["Name": "Y"])
        try await store.update("Products(1)", ["Stock": 77])
        let listener = SyncListener()
        store.observe.setDelegate(listener)
        let report = try await store.upload(options: UploadOptions(categories: ["visits"]))
        #expect(report.accepted.map(\.kind) == [.create, .create])
        #expect(report.failed.map(\.entityText) == ["Products(2)"])
        #expect(report.waiting.map(\.entityText) == ["Products(2)"], "and not what was not to be sent")
        #expect(listener.progress.filter { $0.phase == .uploading }.map(\.total) == [4, 4, 4, 4])
        #expect(try await store.changes.undo([ODataURL(parsing: "Products(2)")]) == 1)
        #expect(try await store.observe.status().pending.map(\.entityText) == ["Products(1)"])
        try await store.sync()
        try await shop.expectEqual(store)
    }

    @Test("header fields are sent with the request and name entities by their current keys")
    func headers() async throws {
        let shop = try await Shop()
        let store = try await shop.clone()
        try await store.create("Categories", ["Name": "First"])
        try await store.changes.provider(with: ChangeOptions(headers: ["X-About": "{Categories(-1)}, {not an entity}"]))
            .update("Products(1)", ["Stock": 77])
        await shop.wire.mend()
        try await store.upload()
        let about = await shop.wire.requests.compactMap { $0.headerFields[HTTPField.Name("X-About")!] }
        #expect(about == ["Categories(6), {not an entity}"])
        let sent = await shop.wire.requests.flatMap(\.headerFields).map(\.name.rawName)
        #expect(!sent.contains { $0.hasPrefix("Outpost") }, "the engine's own stay here")
    }

    @Test("a tag stays with the request and is not sent")
    func tags() async throws {
        let shop = try await Shop()
        let store = try await shop.clone()
        try await store.changes.provider(with: ChangeOptions(tag: "visit 12")).update("Products(1)", ["Stock": -1])
        #expect(try await store.upload().failed.map(\.options.tag) == ["visit 12"])
    }

    @Test("a retriable request is sent again within the upload if the service is busy")
    func retries() async throws {
        let shop = try await Shop()
        let attempts = LockedList()
        let service = Gateway(
            base: try shop.client(),
            before: { request in
                guard request.method == .update else { return nil }
                attempts.append(request)
                guard attempts.requests.count % 3 != 0 else { return nil }
                throw ODataError(status: 503, code: "Busy", message: "Come again.", retryAfter: 0)
            })
        let store = try await shop.clone(through: service)
        try await store.changes.provider(with: ChangeOptions(retries: 2)).update("Products(1)", ["Stock": 1])
        #expect(try await store.upload().accepted.count == 1)
        #expect(attempts.requests.count == 3)
        try await store.changes.provider(with: ChangeOptions(retries: 1)).update("Products(1)", ["Stock": 2])
        await #expect(throws: ODataError.self) { try await store.upload() }
        #expect(try await store.observe.status().pending.count == 1)
    }

    @Test("a long delay demanded by the service ends the upload, and the request waits")
    func longRetryAfter() async throws {
        let shop = try await Shop()
        let attempts = LockedList()
        let service = Gateway(
            base: try shop.client(),
            before: { request in
                guard request.method == .update else { return nil }
                attempts.append(request)
                throw ODataError(status: 503, code: "Busy", message: "Come again.", retryAfter: .max)
            })
        let store = try await shop.clone(through: service)
        try await store.changes.provider(with: ChangeOptions(retries: 2)).update("Products(1)", ["Stock": 1])
        await #expect(throws: ODataError.self) { try await store.upload() }
        #expect(attempts.requests.count == 1)
        #expect(try await store.observe.status().pending.count == 1)
    }

    @Test("an update without changes is sent only on request")
    func empty() async throws {
        let shop = try await Shop()
        let store = try await shop.clone()
        let stock = try #require(try await store.rows("Products(1)").first?["Stock"])
        try await store.update("Products(1)", ["Stock": stock])
        #expect(try await store.observe.status().pending.isEmpty)
        try await store.changes.provider(with: ChangeOptions(sendsEmptyUpdate: true)).update(
            "Products(1)", ["Stock": stock])
        #expect(try await store.upload().accepted.map(\.entityText) == ["Products(1)"])
        try await store.download()
        try await shop.expectEqual(store)
    }

    @Test("a response without the entity may be requested, and the next change is still correct")
    func noContent() async throws {
        let shop = try await Shop()
        let store = try await shop.clone()
        let lean = store.changes.provider(with: ChangeOptions(prefersNoContent: true))
        try await lean.update("Products(1)", ["Stock": 5])
        try await lean.create("Categories", ["Name": "Lean"])
        await shop.wire.mend()
        #expect(try await store.upload().accepted.count == 2)
        let preferences = await shop.wire.requests.compactMap { $0.headerFields[.init("Prefer")!] }
        #expect(preferences.contains { $0.contains("return=minimal") })
        try await store.update("Products(1)", ["Stock": 6])
        #expect(try await store.sync().upload.failed.map(\.description) == [])
        try await shop.expectEqual(store)
    }

    @Test("a service without PATCH gets whole entities, stated or detected", arguments: [false, true])
    func withoutPatch(isStated: Bool) async throws {
        let shop = try await Shop()
        let refusals = LockedList()
        let service = Gateway(
            base: try shop.client(),
            before: { request in
                guard request.method == .update else { return nil }
                refusals.append(request)
                throw ODataError(status: 405, code: "MethodNotAllowed", message: "Whole entities only.")
            })
        var options = OfflineStore.Options()
        if isStated { options.service.capabilities.supportsPatch = false }
        let store = try await shop.store(
            [try DefiningQuery("p", "Products?$select=Stock")], options: options, through: service)
        try await store.download()
        let name = try await shop.text("SELECT Name FROM Products WHERE ProductID = 1")
        for product in [1, 2] { try await store.update("Products(\(product))", ["Stock": 5]) }
        #expect(try await store.upload().accepted.count == 2)
        #expect(refusals.requests.count == (isStated ? 0 : 1), "asked once")
        #expect(try await shop.count("SELECT SUM(Stock) FROM Products WHERE ProductID <= 2") == 10)
        #expect(try await shop.text("SELECT Name FROM Products WHERE ProductID = 1") == name, "nothing else is lost")
    }

    @Test("options of an earlier version are read with defaults for newer ones")
    func earlier() async throws {
        let shop = try await Shop()
        let store = try await shop.clone()
        var request = ODataRequest(
            .update, try ODataURL(parsing: "Products(1)"),
            body: .entity(ODataEntity(shape: try #require(store.model.shape(ofSet: "Products")), ["Stock": 1])))
        let earlier = #"{"headers":{},"isUnmodifiable":false,"priority":3,"removesCreatedEntity":false,"tag":"old"}"#
        request.context.changeOptions = try JSONDecoder().decode(ChangeOptions.self, from: Data(earlier.utf8))
        _ = try await store.execute(request)
        let options = try #require(try await store.observe.status().pending.first?.options)
        #expect(options == ChangeOptions(tag: "old", priority: 3))
    }

    @Test("A header field never controls the queue: options are in the request context")
    func noHeaderField() async throws {
        let shop = try await Shop()
        let store = try await shop.clone()
        var request = ODataRequest(
            .update, try ODataURL(parsing: "Products(1)"),
            body: .entity(ODataEntity(shape: try #require(store.model.shape(ofSet: "Products")), ["Stock": 1])),
            headers: ["Outpost-Change-Options": #"{"priority":9,"tag":"of a stranger"}"#])
        request.context.changeOptions = ChangeOptions(tag: "own", priority: 3)
        _ = try await store.execute(request)
        let options = try #require(try await store.observe.status().pending.first?.options)
        #expect(options.tag == "own" && options.priority == 3)
        #expect(options.headers == request.headers, "a field like any other, which is sent with the change")
    }

    @Test("a higher priority is sent first, after its dependencies")
    func priorities() async throws {
        let shop = try await Shop()
        let store = try await shop.clone()
        try await store.update("Products(1)", ["Stock": 1])
        try await store.create("Categories", ["Name": "First"])
        try await store.changes.provider(with: ChangeOptions(priority: 5)).create(
            "Products", ["Name": "X", "CategoryID": -1, "Price": .decimal(ODataDecimal(1)), "Stock": 1])
        try await store.changes.provider(with: ChangeOptions(priority: 9)).update("Products(2)", ["Stock": 2])
        let order = try await store.upload().accepted.map(\.entityText)
        #expect(order == ["Products(2)", "Products(1)", "Categories(-1)", "Products(-1)"])
    }

    @Test("an entity that is to be removed after its upload is removed, and a download brings it back")
    func removed() async throws {
        let shop = try await Shop()
        let store = try await shop.clone()
        try await store.changes.provider(with: ChangeOptions(removesCreatedEntity: true)).create(
            "Categories", ["Name": "First"])
        #expect(try await store.rows("Categories").count == 6)
        try await store.upload()
        #expect(try await store.rows("Categories").count == 5)
        try await store.download()
        try await shop.expectEqual(store)
    }

    @Test(
        "such an entity stays if a download brought it before the response to its creation", arguments: [true, false])
    func removedAfterDownload(isNamedHere: Bool) async throws {
        let shop = try await Shop()
        let store = try await shop.clone()
        let made: (String, [String: ODataValue]) =
            isNamedHere
            ? ("Customers", ["CustomerID": "NEWCO", "CompanyName": "New", "Country": "Norway"])
            : ("Categories", ["Name": "First"])
        try await store.changes.provider(with: ChangeOptions(removesCreatedEntity: true)).create(made.0, made.1)
        await shop.wire.cut { _, request in request.method == .post ? .answerLost : nil }
        await #expect(throws: (any Error).self) { try await store.upload() }
        await shop.wire.mend()
        try await store.download()
        #expect(try await store.upload().accepted.count == 1)
        try await store.download()
        try await shop.expectEqual(store)
    }

    @Test("deleting an unsent creation withdraws it, on request")
    func undoneCreation() async throws {
        let shop = try await Shop()
        var options = OfflineStore.Options()
        options.sync.undoesLocalCreation = true
        let store = try await shop.store(options: options)
        try await store.download()
        try await store.create("Categories", ["Name": "First"])
        try await store.delete("Categories(-1)")
        #expect(try await store.observe.status().pending.isEmpty)
        try await shop.expectEqual(store)
    }
}

@Suite("Folding of requests")
struct FoldingTests {
    private let folding = UploadOptions(foldsRequests: true)

    @Test("sends one request for a creation and its updates, and one for several updates")
    func updates() async throws {
        let shop = try await Shop()
        let store = try await shop.clone()
        try await store.create("Categories", ["Name": "First"])
        try await store.update("Categories(-1)", ["Name": "Second"])
        try await store.update("Products(1)", ["Stock": 5])
        try await store.update("Products(1)", ["Stock": 6])
        try await store.update("Products(1)", ["Name": "Other"])
        #expect(try await store.upload(options: folding).accepted.map(\.kind) == [.create, .update])
        #expect(try await shop.text("SELECT Name FROM Categories WHERE CategoryID = 6") == "Second")
        try await store.download()
        try await shop.expectEqual(store)
    }

    @Test("sends nothing for a created and deleted entity, and only the deletion for a changed and deleted one")
    func deletes() async throws {
        let shop = try await Shop()
        let store = try await shop.clone()
        try await store.create("Categories", ["Name": "First"])
        try await store.delete("Categories(-1)")
        try await store.update("Order_Lines(OrderID=1003,LineNumber=1)", ["Quantity": 9])
        try await store.delete("Order_Lines(OrderID=1003,LineNumber=1)")
        #expect(try await store.upload(options: folding).accepted.map(\.kind) == [.delete])
        try await store.download()
        try await shop.expectEqual(store)
    }

    @Test("guards a folded deletion by the version of the update")
    func conflict() async throws {
        let shop = try await Shop()
        let store = try await shop.clone()
        try await store.update("Order_Lines(OrderID=1003,LineNumber=1)", ["Quantity": 9])
        try await store.delete("Order_Lines(OrderID=1003,LineNumber=1)")
        try await shop.sql("UPDATE \"Order Lines\" SET Quantity = 3 WHERE OrderID = 1003 AND LineNumber = 1")
        #expect(try await store.upload(options: folding).failed.map(\.failure?.status) == [412])
    }

    @Test("excludes unmodifiable requests, other categories and dependent requests")
    func untouched() async throws {
        let shop = try await Shop()
        let store = try await shop.clone()
        try await store.changes.provider(with: ChangeOptions(isUnmodifiable: true)).update("Products(1)", ["Stock": 5])
        try await store.update("Products(1)", ["Stock": 6])
        try await store.changes.provider(with: ChangeOptions(category: "a")).update("Products(2)", ["Stock": 5])
        try await store.update("Products(2)", ["Stock": 6])
        // The update of the first product refers to a category that is created later.
        try await store.create("Categories", ["Name": "First"])
        try await store.create(
            "Products", ["Name": "X", "CategoryID": 1, "Price": .decimal(ODataDecimal(1)), "Stock": 1])
        try await store.create("Categories", ["Name": "Second"])
        try await store.update("Products(-1)", ["CategoryID": -2])
        #expect(try await store.upload(options: folding).accepted.count == 7)
        try await store.download()
        try await shop.expectEqual(store)
    }

    @Test("combines header fields and tags")
    func options() async throws {
        let shop = try await Shop()
        let store = try await shop.clone()
        try await store.changes.provider(with: ChangeOptions(tag: "a", headers: ["X": "1", "Y": "1"])).update(
            "Products(1)", ["Stock": 5])
        try await store.changes.provider(with: ChangeOptions(tag: "b", headers: ["X": "2"])).update(
            "Products(1)", ["Stock": 6])
        let sent = try #require(try await store.upload(options: folding).accepted.first)
        #expect(sent.options.tag == "a#b")
        #expect(sent.options.headers == ["X": "2", "Y": "1"])
    }
}

@Suite("Cancelling single requests")
struct CancellingTests {
    @Test("an update in the middle: the others keep their effect")
    func middle() async throws {
        let shop = try await Shop()
        let store = try await shop.clone()
        try await store.update("Products(1)", ["Stock": 5])
        try await store.update("Products(1)", ["Stock": 6, "Name": "Other"])
        try await store.update("Products(1)", ["Price": .decimal(ODataDecimal(9))])
        let name = try await shop.text("SELECT Name FROM Products WHERE ProductID = 1")
        let ids = try await store.observe.status().pending.map(\.id)
        #expect(try await store.changes.cancel([ids[1]]) == 1)
        let row = try #require(try await store.rows("Products(1)").first)
        #expect(row["Stock"] == 5)
        #expect(row["Name"] == .string(name ?? ""))
        #expect(row["Price"] == .decimal(ODataDecimal(9)))
        try await store.sync()
        #expect(try await shop.count("SELECT Stock FROM Products WHERE ProductID = 1") == 5)
        try await shop.expectEqual(store)
    }

    @Test("the first update: the next one is guarded by the service's version")
    func first() async throws {
        let shop = try await Shop()
        let store = try await shop.clone()
        try await store.update("Products(1)", ["Stock": 5])
        try await store.update("Products(1)", ["Name": "Other"])
        let ids = try await store.observe.status().pending.map(\.id)
        try await store.changes.cancel([ids[0]])
        try await shop.sql("UPDATE Products SET Stock = 3 WHERE ProductID = 1")
        #expect(try await store.upload().failed.map(\.failure?.status) == [412])
    }

    @Test("the deletion after an update: the entity returns as changed")
    func delete() async throws {
        let shop = try await Shop()
        let store = try await shop.clone()
        try await store.update("Order_Lines(OrderID=1003,LineNumber=1)", ["Quantity": 9])
        try await store.delete("Order_Lines(OrderID=1003,LineNumber=1)")
        let ids = try await store.observe.status().pending.map(\.id)
        try await store.changes.cancel([ids[1]])
        #expect(try await store.rows("Order_Lines(OrderID=1003,LineNumber=1)").first?["Quantity"] == 9)
        try await store.sync()
        try await shop.expectEqual(store)
    }

    @Test("a creation: its dependent changes are cancelled too")
    func create() async throws {
        let shop = try await Shop()
        let store = try await shop.clone()
        try await store.create("Categories", ["Name": "First"])
        try await store.create(
            "Products", ["Name": "X", "CategoryID": -1, "Price": .decimal(ODataDecimal(1)), "Stock": 1])
        let ids = try await store.observe.status().pending.map(\.id)
        #expect(try await store.changes.cancel([ids[0], ids[1]]) == 2)
        try await shop.expectEqual(store)
        await #expect(throws: OfflineError.self) { try await store.changes.cancel([ids[0]]) }
    }
}
