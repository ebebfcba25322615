import ODataModel
import ODataQuery
import ODataService
import OfflineOData
import Testing

@Suite("Conflict policies")
struct ConflictPolicyTests {
    private func conflict(
        _ shop: Shop, _ policy: ConflictPolicy, through remote: (any ODataProvider)? = nil
    ) async throws -> (OfflineStore, UploadReport) {
        let store = try await shop.clone(through: remote)
        try await store.update("Customers('C0002')", ["City": "Mine"])
        try await shop.sql("UPDATE Customers SET City = 'Theirs', CompanyName = 'Theirs' WHERE CustomerID = 'C0002'")
        return (store, try await store.upload(options: UploadOptions(conflictPolicy: policy)))
    }

    private func there(_ shop: Shop) async throws -> String? {
        try await shop.text("SELECT CompanyName || ', ' || City FROM Customers WHERE CustomerID = 'C0002'")
    }

    @Test("fail: the change is archived with both versions")
    func fail() async throws {
        let shop = try await Shop()
        let (_, report) = try await conflict(shop, .fail)
        #expect(report.failed.first?.failure?.theirs?["City"] == "Theirs")
        #expect(try await there(shop) == "Theirs, Theirs")
    }

    @Test("client wins: only locally changed properties replace the server version")
    func clientWins() async throws {
        let shop = try await Shop()
        _ = try await conflict(shop, .clientWins)
        #expect(try await there(shop) == "Theirs, Mine")
    }

    @Test("server wins: the change is withdrawn")
    func serverWins() async throws {
        let shop = try await Shop()
        let (store, _) = try await conflict(shop, .serverWins)
        #expect(try await there(shop) == "Theirs, Theirs")
        #expect(try await store.rows("Customers('C0002')").first?["City"] == "Theirs")
    }

    @Test("a closure merges property by property from base, local and server version")
    func merged() async throws {
        let shop = try await Shop()
        let (store, report) = try await conflict(
            shop,
            .custom { versions in
                guard case .string(let mine)? = versions.mine["City"],
                    case .string(let theirs)? = versions.theirs?["City"],
                    versions.base?["City"] != nil, versions.key.parts.first?.value == "C0002"
                else { return .fail }
                var merged = ODataEntity(shape: versions.mine.shape)
                merged["City"] = .string("\(mine) and \(theirs)")
                return .merged(merged)
            })
        #expect(report.accepted.count == 1)
        #expect(try await there(shop) == "Theirs, Mine and Theirs")
        try await store.download()
        try await shop.expectEqual(store)
    }

    @Test("Rule 8: without ETags, values are compared before a change is sent unless that is disabled")
    func withoutETags() async throws {
        let shop = try await Shop()
        let plain = PlainService(base: try shop.client(), hasETags: false)
        let (store, report) = try await conflict(shop, .fail, through: plain)
        #expect(report.failed.count == 1)
        #expect(try await there(shop) == "Theirs, Theirs")
        try await store.changes.discard()
        try await store.update("Customers('C0003')", ["City": "Mine"])
        try await shop.sql("UPDATE Customers SET City = 'Theirs' WHERE CustomerID = 'C0003'")
        let unchecked = try await store.upload(options: UploadOptions(comparesWithoutETags: false))
        #expect(unchecked.failed.map(\.description) == [])
        #expect(try await shop.text("SELECT City FROM Customers WHERE CustomerID = 'C0003'") == "Mine")
    }

    @Test(
        "a deletion by others is a conflict with any status",
        arguments: [404, 410, 412, 428], [false, true])
    func deleted(status: Int, isInChangeSet: Bool) async throws {
        let shop = try await Shop()
        let isInvalid = LockedFlag()
        let service = Gateway(
            base: try shop.client(),
            before: { request in
                let error = ODataError(status: isInvalid.isSet ? 400 : status, code: "No", message: "No.")
                if case .batch(let items) = request.body {
                    return ODataResponse(body: .batch(items.map { BatchResult(id: $0.id, result: .failure(error)) }))
                }
                guard request.method == .update else { return nil }
                throw error
            })
        let store = try await shop.clone(through: service)
        try await store.changes.transaction { changes in
            try changes.update("Order_Lines(OrderID=1003,LineNumber=1)", ["Quantity": 77])
            if isInChangeSet { try changes.update("Products(1)", ["Stock": 4711]) }
        }
        try await shop.sql("DELETE FROM \"Order Lines\" WHERE OrderID = 1003 AND LineNumber = 1")
        try await store.upload()
        let conflict = try #require(try await store.observe.status().failed.first?.failure)
        #expect(conflict.isConflict && conflict.conflict == .deleted && conflict.status == status)
        try await store.changes.retry()
        isInvalid.set()
        try await store.upload()
        let refusal = try #require(try await store.observe.status().failed.first?.failure)
        #expect(!refusal.isConflict && refusal.conflict == nil && refusal.status == 400)
    }
}
