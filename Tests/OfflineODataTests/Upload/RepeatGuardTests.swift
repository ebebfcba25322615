import ODataHTTP
import ODataModel
import ODataService
import OfflineOData
import Testing

@Suite("A change without a known version and with a lost first response")
struct RepeatGuardTests {
    enum Way: CaseIterable { case alone, together, whole }

    /// Returns a service that loses the response to the first change of the price, and the first request that
    /// changes the name.
    private func losing(_ base: any ODataProvider, takesWholeAlone: Bool) -> Gateway {
        let (isPriceLost, isNameLost) = (LockedFlag(), LockedFlag())
        @Sendable func changes(_ request: ODataRequest) -> [ODataRequest] {
            if case .batch(let items) = request.body { return items.map(\.request) }
            return request.method == .read ? [] : [request]
        }
        @Sendable func sets(_ name: String, _ value: ODataValue, _ request: ODataRequest) -> Bool {
            if case .entity(let entity) = request.body { entity[name] == value } else { false }
        }
        @Sendable func lose(_ flag: LockedFlag) throws {
            guard !flag.isSet else { return }
            flag.set()
            throw TransportError.connectionLost(host: "shop.test", reason: "the wire is cut")
        }
        return Gateway(
            base: base,
            before: { request in
                if takesWholeAlone, request.method == .update {
                    throw ODataError(status: 405, code: "No", message: "No.")
                }
                if changes(request).contains(where: { sets("Name", "Mine", $0) }) { try lose(isNameLost) }
                return nil
            },
            after: { request, response in
                if changes(request).contains(where: { sets("Price", .decimal(5), $0) }) { try lose(isPriceLost) }
                return response
            })
    }

    @Test(
        "Rule 8: is guarded again by the version found before, since others changed it",
        arguments: Way.allCases)
    func guarded(way: Way) async throws {
        let shop = try await Shop()
        let store = try await shop.clone(through: losing(try shop.client(), takesWholeAlone: way == .whole))
        try await store.update("Products(1)", ["Price": .decimal(5)])
        try await store.changes.transaction { changes in
            try changes.update("Products(1)", ["Name": "Mine"])
            if way == .together { try changes.update("Products(2)", ["Stock": 4711]) }
        }
        try await store.update("Products(1)", ["Stock": 3])
        await #expect(throws: TransportError.self) { try await store.upload() }
        // The repeated request is recognised. The last pending change meets a change of another user, so no ETag
        // guards the first pending change.
        try await shop.sql("UPDATE Products SET Stock = 7 WHERE ProductID = 1")
        await #expect(throws: TransportError.self) { try await store.upload() }
        try await shop.sql("UPDATE Products SET Name = 'Theirs' WHERE ProductID = 1")
        let report = try await store.upload()
        #expect(report.failed.first?.failure?.conflict == .changed)
        #expect(report.accepted.map(\.description) == [])
        #expect(try await shop.text("SELECT Name FROM Products WHERE ProductID = 1") == "Theirs")
        #expect(try await shop.count("SELECT Stock FROM Products WHERE ProductID = 2") != 4711)
    }
}
