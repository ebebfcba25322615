import ODataModel
import ODataQuery
import ODataService
import OfflineOData
import Testing

@Suite("Whole entities instead of single properties")
struct WholeEntityTests {
    /// Returns a service that refuses changes of single properties in some sets, together or alone.
    private func refusing(
        _ methods: Set<ODataRequest.Method>, in sets: [String], _ base: any ODataProvider, _ refused: LockedList
    ) -> Gateway {
        let isRefused: @Sendable (ODataRequest) -> Bool = { request in
            methods.contains(request.method) && sets.contains { request.url.description.hasPrefix($0 + "(") }
        }
        let error = ODataError(status: 405, code: "MethodNotAllowed", message: "Not so.")
        return Gateway(
            base: base,
            before: { request in
                guard case .batch(let items) = request.body else {
                    guard isRefused(request) else { return nil }
                    refused.append(request)
                    throw error
                }
                guard let first = items.first(where: { isRefused($0.request) }) else { return nil }
                refused.append(first.request)
                return ODataResponse(body: .batch(items.map { BatchResult(id: $0.id, result: .failure(error)) }))
            })
    }

    @Test("contain the changes of all earlier updates in a change set, and its created entities")
    func together() async throws {
        let shop = try await Shop()
        let service = refusing([.update], in: ["Customers", "Products", "$1"], try shop.client(), LockedList())
        let store = try await shop.clone(through: service)
        try await store.changes.transaction { changes in
            try changes.update("Customers('C0002')", ["City": "Mine"])
            try changes.update("Products(2)", ["Stock": 9])
            try changes.update("Customers('C0002')", ["CompanyName": "Ours"])
        }
        try await store.changes.transaction { changes in
            try changes.create("Customers", ["CustomerID": "NEWCO", "CompanyName": "New", "Country": "Norway"])
            try changes.update("Customers('NEWCO')", ["City": "Oslo"])
            try changes.update("Customers('NEWCO')", ["CompanyName": "Newer"])
        }
        let report = try await store.upload()
        #expect(report.failed.map(\.description) == [])
        #expect(report.accepted.count == 6)
        #expect(try await shop.text("SELECT City FROM Customers WHERE CustomerID = 'C0002'") == "Mine")
        #expect(try await shop.text("SELECT CompanyName FROM Customers WHERE CustomerID = 'C0002'") == "Ours")
        #expect(try await shop.text("SELECT City FROM Customers WHERE CustomerID = 'NEWCO'") == "Oslo")
        #expect(try await shop.text("SELECT CompanyName FROM Customers WHERE CustomerID = 'NEWCO'") == "Newer")
        #expect(try await shop.text("SELECT Country FROM Customers WHERE CustomerID = 'NEWCO'") == "Norway")
        try await store.download()
        try await shop.expectEqual(store)
    }

    @Test("are used only for sets that require it")
    func ofOneSet() async throws {
        let shop = try await Shop()
        let refused = LockedList()
        let service = refusing([.update], in: ["Customers"], try shop.client(), refused)
        let sent = LockedList()
        let counting = Gateway(
            base: service,
            before: { request in
                if request.method == .replace || request.method == .update { sent.append(request) }
                return nil
            })
        let store = try await shop.clone(through: counting)
        for customer in ["C0002", "C0003"] { try await store.update("Customers('\(customer)')", ["City": "Mine"]) }
        try await store.update("Products(1)", ["Stock": 5])
        #expect(try await store.upload().failed.map(\.description) == [])
        #expect(sent.requests.map(\.method) == [.update, .replace, .replace, .update])
        #expect(refused.requests.count == 1, "asked once")
        try await store.download()
        try await shop.expectEqual(store)
    }

    @Test("are not used for other sets after a set that refuses all changes")
    func readOnly() async throws {
        let shop = try await Shop()
        let service = refusing([.update, .replace], in: ["Customers"], try shop.client(), LockedList())
        let replaced = LockedList()
        let counting = Gateway(
            base: service,
            before: { request in
                if request.method == .replace { replaced.append(request) }
                return nil
            })
        let store = try await shop.clone(through: counting)
        try await store.update("Customers('C0002')", ["City": "Mine"])
        try await store.update("Products(1)", ["Stock": 5])
        #expect(try await store.upload().failed.map(\.failure?.status) == [405])
        try await store.update("Customers('C0003')", ["City": "Mine"])
        try await store.update("Products(2)", ["Stock": 5])
        #expect(try await store.upload().accepted.map(\.entityText) == ["Products(2)"])
        #expect(replaced.requests.map(\.url.description) == ["Customers('C0002')", "Customers('C0003')"])
        #expect(try await shop.count("SELECT SUM(Stock) FROM Products WHERE ProductID <= 2") == 10)
    }

    @Test("are used for all sets if an earlier version detected that")
    func earlierVersion() async throws {
        let shop = try await Shop()
        var options = OfflineStore.Options()
        // The option has the same stored form as the finding of an earlier version.
        options.service.capabilities.supportsPatch = false
        let store = try await shop.store(options: options)
        try await store.download()
        await shop.wire.mend()
        try await store.update("Products(1)", ["Stock": 5])
        #expect(try await store.upload().accepted.count == 1)
        #expect(await shop.wire.requests.map(\.method) == [.get, .put])
    }
}
