import ODataHTTP
import ODataModel
import ODataService
import OfflineOData
import Synchronization
import Testing

/// A service answers 423 while somebody else edits an entity (RFC 4918, 11.3).
@Suite("Changes of locked entities")
struct LockedEntityTests {
    @Test("A change of a locked entity waits with its reason until the service accepts it, and the rest is sent")
    func waits() async throws {
        let shop = try await Shop()
        let editor = Editor(of: "Products(1)")
        let store = try await shop.clone(
            options: .ofConfirmedRepeats, through: Gateway(base: try shop.client(), before: editor.answer))
        try await store.update("Products(1)", ["Stock": 5])
        try await store.update("Products(1)", ["Stock": 6])
        try await store.update("Products(2)", ["Stock": 7])
        let first = try await store.upload()
        #expect(first.accepted.map(\.entityText) == ["Products(2)"])
        #expect(first.failed.isEmpty && first.givenUp.isEmpty)
        #expect(first.waiting.map(\.failure?.status) == [423, nil], "the second change waits for the first")
        let pending = try await store.observe.status().pending
        #expect(pending.map(\.state) == [.pending, .pending])
        #expect(pending.first?.failure?.message == Editor.message)
        #expect(try await store.changes.archived().isEmpty)
        #expect(try await store.rows("ErrorArchive").isEmpty)
        #expect(try await store.observe.events().contains { $0.kind == "waiting" && $0.text.contains("423") })

        #expect(try await store.upload().waiting.map(\.failure?.code) == [Editor.code, nil])
        #expect(try await shop.count("SELECT Stock FROM Products WHERE ProductID = 1") != 6)
        let third = try await store.upload()
        #expect(third.accepted.map(\.entityText) == ["Products(1)", "Products(1)"])
        #expect(third.waiting.isEmpty && third.failed.isEmpty)
        #expect(try await shop.count("SELECT Stock FROM Products WHERE ProductID = 1") == 6)
        // Each final answer belongs to one identification.
        #expect(editor.identifications.count == 4 && Set(editor.identifications).count == 4)
        try await store.download()
        try await shop.expectEqual(store)
    }

    @Test("The reason is stored, and removed when the change is undone and made again")
    func kept() async throws {
        let shop = try await Shop()
        let editor = Editor(of: "Products(1)")
        let store = try await shop.clone(through: Gateway(base: try shop.client(), before: editor.answer))
        try await store.update("Products(1)", ["Stock": 5])
        try await store.upload()
        try store.close()
        let again = try await shop.reopen()
        #expect(try await again.observe.status().pending.map(\.failure?.message) == [Editor.message])
        try await again.changes.undoAll()
        #expect(try await again.observe.status().pending.isEmpty)
        try await again.update("Products(1)", ["Stock": 6])
        #expect(try await again.observe.status().pending.map(\.failure) == [nil])
        #expect(try await again.upload().accepted.count == 1)
    }

    @Test("A locked creation holds its dependents, singly and in a change set", arguments: [true, false])
    func dependents(isByCategory: Bool) async throws {
        let shop = try await Shop()
        let editor = Editor(of: "Orders")
        let store = try await shop.clone(through: Gateway(base: try shop.client(), before: editor.answer))
        let options = ChangeOptions(category: "sales")
        try await store.changes.transaction(options: options, sendsTogether: false) { changes in
            let order = try changes.create(
                "Orders", ["CustomerID": "C0001", "OrderedAt": .dateTimeOffset(.init(seconds: 1_790_000_000))])
            try changes.create(
                "Order_Lines",
                [
                    "OrderID": try order.value(of: "OrderID"), "LineNumber": 1, "ProductID": 3, "Quantity": 2,
                    "Price": .decimal(ODataDecimal(5)),
                ])
            try changes.update("Products(1)", ["Stock": 5])
        }
        let upload = UploadOptions(categories: isByCategory ? ["sales"] : nil)
        let first = try await store.upload(options: upload)
        #expect(first.accepted.map(\.entityText) == ["Products(1)"])
        #expect(first.waiting.map(\.kind) == [.create, .create] && first.failed.isEmpty)
        #expect(try await store.upload(options: upload).waiting.count == 2)
        #expect(try await store.upload(options: upload).accepted.map(\.kind) == [.create, .create])
        #expect(try await shop.count("SELECT COUNT(*) FROM Orders WHERE OrderID > 1200") == 1)
        #expect(try await shop.count("SELECT COUNT(*) FROM \"Order Lines\" WHERE OrderID > 1200") == 1)
        try await store.download()
        try await shop.expectEqual(store)
    }

    @Test("A change set with a locked entity waits as a whole without any effect")
    func changeSet() async throws {
        let shop = try await Shop()
        let editor = Editor(of: "Products(1)")
        let store = try await shop.clone(
            options: .ofConfirmedRepeats, through: Gateway(base: try shop.client(), before: editor.answer))
        try await store.changes.transaction { changes in
            try changes.update("Products(1)", ["Stock": 4711])
            try changes.update("Products(2)", ["Stock": 4712])
        }
        try await store.update("Products(3)", ["Stock": 4713])
        for _ in 1...2 {
            let report = try await store.upload()
            #expect(report.waiting.map(\.failure?.message) == [Editor.message, Editor.message])
            #expect(report.failed.isEmpty)
            #expect(try await shop.count("SELECT COUNT(*) FROM Products WHERE Stock IN (4711, 4712)") == 0)
        }
        #expect(try await shop.count("SELECT Stock FROM Products WHERE ProductID = 3") == 4713)
        let last = try await store.upload()
        #expect(last.accepted.map(\.entityText) == ["Products(1)", "Products(2)"] && last.waiting.isEmpty)
        try await store.download()
        try await shop.expectEqual(store)
    }

    @Test("A creation with a lost response is not repeated if the entity is locked meanwhile")
    func lostBefore() async throws {
        let shop = try await Shop()
        let editor = Editor(of: "Categories", times: 1, after: 1)
        let service = Gateway(
            base: try shop.client(), before: editor.answer,
            after: { request, response in
                if request.method == .create, editor.answers == 1 {
                    throw TransportError.connectionLost(host: "shop.test", reason: "the wire is cut")
                }
                return response
            })
        let store = try await shop.clone(options: .ofConfirmedRepeats, through: service)
        try await store.create("Categories", ["Name": "Sluices"])
        await #expect(throws: TransportError.self) { try await store.upload() }
        try await store.update("Products(2)", ["Stock": 7])
        let second = try await store.upload()
        #expect(second.accepted.map(\.entityText) == ["Products(2)"], "the rest does not wait for the lost response")
        #expect(second.waiting.map(\.state) == [.sending])
        #expect(second.waiting.map(\.failure?.status) == [423])
        #expect(try await store.upload().accepted.map(\.kind) == [.create])
        #expect(Set(editor.identifications).count == 1, "the service recognises the creation")
        #expect(try await shop.count("SELECT COUNT(*) FROM Categories WHERE Name = 'Sluices'") == 1)
        try await store.download()
        try await shop.expectEqual(store)
    }
}

/// Somebody who edits an entity of the service, so that its next changes are refused with 423.
private final class Editor: Sendable {
    static let code = "SD/042"
    static let message = "Product 1 is locked by user ADA."

    private struct State {
        var answers = 0
        var identifications: [String] = []
    }

    private let entity: String
    private let locked: Range<Int>
    private let state = Mutex(State())

    /// - Parameters:
    ///   - entity: the URL of the changes.
    ///   - times: the number of refusals.
    ///   - after: the number of changes that reach the service before.
    init(of entity: String, times: Int = 2, after: Int = 0) {
        self.entity = entity
        locked = after..<after + times
    }

    /// The number of changes of the entity so far.
    var answers: Int { state.withLock { $0.answers } }

    /// The identifications of the changes of the entity.
    var identifications: [String] { state.withLock { $0.identifications } }

    /// Refuses a change of the entity while it is locked.
    @Sendable func answer(_ request: ODataRequest) throws -> ODataResponse? {
        let refusal = ODataError(status: 423, code: Self.code, message: Self.message)
        if case .batch(let items) = request.body {
            guard let item = items.first(where: { isOfEntity($0.request) }), isLocked(item.request) else { return nil }
            return ODataResponse(
                body: .batch(
                    items.map { other in
                        let error =
                            other.id == item.id
                            ? refusal : ODataError(status: 424, code: "Dependency", message: "Another one is locked.")
                        return BatchResult(id: other.id, result: .failure(error))
                    }))
        }
        guard isOfEntity(request), isLocked(request) else { return nil }
        throw refusal
    }

    private func isOfEntity(_ request: ODataRequest) -> Bool {
        request.method != .read && "\(request.url)" == entity
    }

    private func isLocked(_ request: ODataRequest) -> Bool {
        state.withLock { state in
            state.answers += 1
            if let id = request.repeatability?.requestID { state.identifications.append(id) }
            return locked.contains(state.answers - 1)
        }
    }
}
