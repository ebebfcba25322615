import ODataModel
import ODataQuery
import ODataService
import OfflineOData
import Synchronization
import Testing

@Suite("Undo")
struct UndoTests {
    private let order: [String: ODataValue] = [
        "CustomerID": "C0001", "OrderedAt": .dateTimeOffset(.init(seconds: 1_790_000_000)),
    ]

    private func undo(_ store: OfflineStore, _ entities: String...) async throws -> Int {
        try await store.changes.undo(entities.map { try ODataURL(parsing: $0) })
    }

    @Test("restores the last downloaded version of a changed entity")
    func changed() async throws {
        let shop = try await Shop()
        let store = try await shop.clone()
        let before = try await store.rows("Products(1)")
        try await store.update("Products(1)", ["Stock": 1])
        try await store.update("Products(1)", ["Name": "Other"])
        #expect(try await undo(store, "Products(1)") == 1)
        #expect(try await store.rows("Products(1)") == before)
        try await shop.expectEqual(store)
    }

    @Test("removes a created entity and the local entities that refer to it")
    func created() async throws {
        let shop = try await Shop()
        let store = try await shop.clone()
        let made = try #require(try await store.create("Orders", order))
        let key = try #require(made["OrderID"])
        try await store.create(
            "Order_Lines",
            [
                "OrderID": key, "LineNumber": 1, "ProductID": 1, "Quantity": 1, "Price": .decimal(ODataDecimal(1)),
            ])
        #expect(try await undo(store, "Orders(-1)") == 1)
        try await shop.expectEqual(store)
    }

    @Test("restores a deleted entity under its old key")
    func deleted() async throws {
        let shop = try await Shop()
        let store = try await shop.clone()
        try await store.delete("Products(1)")
        #expect(try await undo(store, "Products(1)") == 1)
        try await shop.expectEqual(store)
    }

    @Test("of several entities is all or nothing, and returns the number of undone changes")
    func several() async throws {
        let shop = try await Shop()
        let store = try await shop.clone()
        try await store.update("Products(1)", ["Stock": 1])
        try await store.update("Products(2)", ["Stock": 2])
        #expect(try await undo(store, "Products(1)", "Products(2)", "Products(3)") == 2)
        try await shop.expectEqual(store)
    }

    /// Changes one product, then two products together.
    private func changedTogether(_ store: OfflineStore) async throws {
        try await store.update("Products(1)", ["Name": "Before"])
        try await store.changes.transaction { changes in
            try changes.update("Products(1)", ["Stock": 1])
            try changes.update("Products(2)", ["Stock": 2])
        }
    }

    @Test(
        "of a part of a change set is refused unless the whole is undone",
        arguments: ["undo", "cancel"])
    func partOfChangeSet(way: String) async throws {
        let shop = try await Shop()
        let store = try await shop.clone()
        let second = try await store.rows("Products(2)")
        try await changedTogether(store)
        let ids = try await store.observe.status().pending.map(\.id)
        let changeSet = try #require(try await store.rows("RequestQueue").last?["ChangeSet"])
        func takeBack(withAllOthers: Bool) async throws -> Int {
            guard way == "undo" else { return try await store.changes.cancel([ids[1]], withAllOthers: withAllOthers) }
            return try await store.changes.undo([ODataURL(parsing: "Products(1)")], withAllOthers: withAllOthers)
        }
        await #expect {
            _ = try await takeBack(withAllOthers: false)
        } throws: { error in
            guard case OfflineError.inChangeSet(let name, let others)? = error as? OfflineError else { return false }
            return ODataValue.string(name) == changeSet && others == [ids[2]]
        }
        #expect(try await store.observe.status().pending.map(\.id) == ids, "nothing was taken back")
        #expect(try await store.rows("Products(1)").first?["Stock"] == 1)
        #expect(try await takeBack(withAllOthers: true) == (way == "undo" ? 1 : 2))
        #expect(try await store.rows("Products(2)") == second)
        #expect(try await store.observe.status().pending.map(\.id) == (way == "undo" ? [] : [ids[0]]))
        try await store.sync()
        try await shop.expectEqual(store)
    }

    @Test("of a deletion removes an entity that got the same key meanwhile")
    func deletedAndMadeAgain() async throws {
        let shop = try await Shop()
        let store = try await shop.clone()
        let line = "Order_Lines(OrderID=1003,LineNumber=1)"
        try await store.update(line, ["Quantity": 77])
        try await store.delete(line)
        try await store.create(
            "Order_Lines",
            [
                "OrderID": 1003, "LineNumber": 1, "ProductID": 1, "Quantity": 5, "Price": .decimal(ODataDecimal(1)),
            ])
        let ids = try await store.observe.status().pending.map(\.id)
        #expect(ids.count == 3)
        try await store.changes.cancel([ids[1]])
        #expect(try await store.rows(line).map { $0["Quantity"] } == [77])
        #expect(try await store.observe.status().pending.map(\.id) == [ids[0]])
        #expect(try await store.upload().accepted.count == 1)
        try await store.download()
        try await shop.expectEqual(store)
    }

    @Test(
        "of a deletion restores the downloaded version, even if the key went to another entity",
        arguments: ["undo", "discard", "server wins", "upload"])
    func deletedChangedAndMadeAgain(way: String) async throws {
        let shop = try await Shop()
        let store = try await shop.clone()
        let line = "Order_Lines(OrderID=1003,LineNumber=1)"
        try await store.delete(line)
        try await store.create(
            "Order_Lines",
            [
                "OrderID": 1003, "LineNumber": 1, "ProductID": 1, "Quantity": 5, "Price": .decimal(ODataDecimal(1)),
            ])
        try await store.update("Products(1)", ["Stock": 5])
        try await shop.sql("UPDATE \"Order Lines\" SET Quantity = 99 WHERE OrderID = 1003 AND LineNumber = 1")
        try await store.download()
        #expect(try await store.rows(line).map { $0["Quantity"] } == [5])
        switch way {
        case "undo":
            #expect(try await undo(store, line) == 1)
            let left = try await store.rows("Order_Lines?$filter=OrderID eq 1003 and LineNumber eq 1")
            #expect(left == [], "what was made behind the deletion")
            try await store.changes.undoAll()
        case "discard":
            let report = try await store.upload(options: UploadOptions(conflictPolicy: .fail))
            #expect(report.failed.map(\.kind) == [.delete])
            #expect(report.accepted.map(\.entityText) == ["Products(1)"])
            try await store.changes.discard()
        case "server wins":
            let report = try await store.upload(options: UploadOptions(conflictPolicy: .serverWins))
            #expect(report.accepted.map(\.entityText) == ["Products(1)"])
        default:
            let report = try await store.upload(options: UploadOptions(conflictPolicy: .clientWins))
            #expect(report.failed.map(\.description) == [])
            #expect(report.accepted.count == 3)
        }
        #expect(try await store.rows(line).map { $0["Quantity"] } == [way == "upload" ? 5 : 99])
        try await store.sync()
        #expect(try await store.observe.status().pending.isEmpty)
        try await shop.expectEqual(store)
    }

    @Test("includes chains of entities that refer to each other", .timeLimit(.minutes(10)))
    func longChain() async throws {
        let shop = try await Shop()
        let store = try await shop.clone([DefiningQuery(entitySet: "Employees")])
        let count = 1500
        try await store.changes.transaction { changes in
            for number in 1...count {
                var employee: [String: ODataValue] = [
                    "Name": .string("E\(number)"), "HiredOn": .date(ODataDate(daysSinceEpoch: 20_000)),
                ]
                if number > 1 { employee["ReportsTo"] = .integer(Int64(1 - number)) }
                try changes.create("Employees", employee)
            }
        }
        #expect(try await store.changes.undo([ODataURL(parsing: "Employees(-1)")], withAllOthers: true) == 1)
        #expect(try await store.observe.status().pending.isEmpty)
        #expect(try await store.rows("Employees").count == shop.database.rows("Employees").count)
    }

    @Test("of a whole change set succeeds", arguments: ["undo", "cancel"])
    func wholeChangeSet(way: String) async throws {
        let shop = try await Shop()
        let store = try await shop.clone()
        try await changedTogether(store)
        if way == "undo" {
            #expect(try await undo(store, "Products(1)", "Products(2)") == 2)
        } else {
            #expect(try await store.changes.cancel(store.observe.status().pending.dropFirst().map(\.id)) == 2)
            try await store.sync()
        }
        try await shop.expectEqual(store)
    }

    @Test("of a creation includes later changes in the same transaction")
    func createdTogether() async throws {
        let shop = try await Shop()
        let store = try await shop.clone()
        let order = order
        try await store.changes.transaction { changes in
            try changes.create("Orders", order)
            try changes.create(
                "Order_Lines",
                ["OrderID": -1, "LineNumber": 1, "ProductID": 1, "Quantity": 1, "Price": .decimal(ODataDecimal(1))])
        }
        #expect(try await undo(store, "Orders(-1)") == 1)
        try await shop.expectEqual(store)
    }

    @Test("Rule 8: of one of several changes does not make the others conflict, without ETags")
    func cancelledBefore() async throws {
        let shop = try await Shop()
        let store = try await shop.clone(through: PlainService(base: try shop.client(), hasETags: false))
        let line = "Order_Lines(OrderID=1003,LineNumber=1)"
        try await store.update("Products(1)", ["Stock": 5, "Name": "Other"])
        try await store.update(line, ["Quantity": 77])
        let first = try await store.observe.status().pending.map(\.id)
        try await store.update("Products(1)", ["Stock": 6])
        try await store.update("Products(1)", ["Name": "Mine"])
        try await store.delete(line)
        #expect(try await store.changes.cancel(first) == 2)
        let report = try await store.upload()
        #expect(report.failed.map { $0.failure?.message } == [])
        #expect(report.accepted.map(\.kind) == [.update, .update, .delete])
        #expect(try await shop.text("SELECT Name || Stock FROM Products WHERE ProductID = 1") == "Mine6")
        let lines = "SELECT COUNT(*) FROM \"Order Lines\" WHERE OrderID = 1003 AND LineNumber = 1"
        #expect(try await shop.count(lines) == 0)
    }

    @Test("of everything leaves no pending change, refused ones included")
    func everything() async throws {
        let shop = try await Shop()
        let store = try await shop.clone()
        try await store.update("Products(1)", ["Stock": -1])
        #expect(try await store.upload().failed.count == 1)
        try await store.update("Products(2)", ["Stock": 2])
        try await store.create("Orders", order)
        #expect(try await store.changes.undoAll() == 3)
        try await store.download()
        try await shop.expectEqual(store)
    }

    @Test("is refused for a sent change (rule 7)")
    func sent() async throws {
        let shop = try await Shop()
        let store = try await shop.clone(through: PlainService(base: try shop.client()))
        try await store.update("Products(2)", ["Stock": 3])
        try await store.create("Orders", order)
        await shop.wire.cut { _, request in request.method == .post ? .answerLost : nil }
        _ = try? await store.upload()
        await #expect(throws: OfflineError.self) { try await undo(store, "Orders(-1)") }
        await #expect(throws: OfflineError.self) { try await store.changes.undoAll() }
        // An undo of several entities is refused as a whole if one of them cannot be undone.
        try await store.update("Products(2)", ["Stock": 4])
        await #expect(throws: OfflineError.self) { try await undo(store, "Products(2)", "Orders(-1)") }
        #expect(try await store.rows("Products(2)").first?["Stock"] == 4)
        #expect(try await store.observe.status().pending.count == 2)
        #expect(try await undo(store, "Products(2)") == 1)
    }

    @Test("of a path without an entity names the path")
    func unknown() async throws {
        let shop = try await Shop()
        let store = try await shop.clone()
        await #expect(throws: OfflineError.self) { try await undo(store, "Products") }
        await #expect(throws: QueryError.self) { try await undo(store, "Produkts(1)") }
    }

    @Test("is refused if a dependent change is being sent, and its unknown outcome is visible")
    func dependentOnItsWay() async throws {
        let shop = try await Shop()
        let found = LockedList()
        let place = LockedStore()
        let service = Gateway(
            base: PlainService(base: try shop.client()),
            before: { request in
                if request.method == .create { throw ODataError(status: 400, code: "No", message: "No such customer.") }
                guard request.method == .update, let store = place.store else { return nil }
                found.append(request)
                let refused = try #require(try await store.observe.status().failed.first)
                await #expect(throws: OfflineError.self) { try await store.changes.discard([refused.id]) }
                throw ODataError(status: 504, code: "Gateway", message: "The service did not answer.")
            })
        let store = try await shop.clone(through: service)
        place.store = store
        try await store.create("Customers", ["CustomerID": "NEW", "CompanyName": "New", "Country": "Norway"])
        try await store.update("Orders(1001)", ["Freight": 1])
        try await store.update("Orders(1001)", ["CustomerID": "NEW"])
        _ = try? await store.upload()
        #expect(found.requests.count == 1)
        #expect(
            try await store.observe.status().pending.count + store.observe.status().failed.count == 3,
            "nothing is forgotten")
    }

    @Test("of a deletion by cancelling it shows no refused values")
    func refusedBeforeDeletion() async throws {
        let shop = try await Shop()
        let service = Gateway(
            base: PlainService(base: try shop.client()),
            before: { request in
                guard case .entity(let entity) = request.body, entity["Name"] == "Bad" else { return nil }
                throw ODataError(status: 400, code: "No", message: "No such name.")
            })
        let store = try await shop.clone(through: service)
        let name = try await store.rows("Products(1)").first?["Name"]
        try await store.update("Products(1)", ["Name": "Bad"])
        try await store.update("Products(1)", ["Stock": 77])
        try await store.upload()
        #expect(try await store.observe.status().failed.count == 1)
        #expect(try await store.observe.status().pending.count == 1)
        try await store.delete("Products(1)")
        let deletion = try #require(try await store.observe.status().pending.last)
        #expect(try await store.changes.cancel([deletion.id]) == 1)
        let product = try #require(try await store.rows("Products(1)").first)
        #expect(product["Stock"] == 77 && product["Name"] == name)
    }
}

/// A reference to a store that is set after its service was created.
private final class LockedStore: Sendable {
    private let kept = Mutex<OfflineStore?>(nil)
    var store: OfflineStore? {
        get { kept.withLock { $0 } }
        set { kept.withLock { $0 = newValue } }
    }
}
